import { execFile } from "node:child_process";
import { copyFile, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { promiseIn } from "./promises.ts";

const run = promisify(execFile);
/** Memory that one search may take; the largest of the default set needs about 1 GB. */
const MEMORY_MB = 8000;
const DEPTH = 300_000;
/** No way through a model is longer. */
const HASHED_DEPTH = 20_000;
/** 64 MB. */
const HASH_BITS = 29;

const REVERSED = { processes: "-DREVERSE", choices: "-DT_REVERSE" } as const;

/** A question to the model: which macros are set, and whether the invariants must hold. */
export interface Question {
  readonly name: string;
  readonly model: "exactly-once" | "partition-move";
  readonly macros: readonly string[];
  readonly holds: boolean;
  /** So few states that making the search fast takes longer than the search. */
  readonly small?: true;
  /**
   * What the search takes in the reverse order, because it then finds the break sooner: the
   * processes, and what each of them may do next.
   */
  readonly reversed?: readonly (keyof typeof REVERSED)[];
  /**
   * States are told apart by hashes (`-DBITSTATE`): a search that finds nothing may have missed
   * some states.
   */
  readonly hashed?: true;
}

export interface Verdict {
  readonly asked: Question;
  readonly held: boolean;
  readonly complete: boolean;
  readonly states: number;
  readonly seconds: number;
  /** The promise that was broken, or the assertion of a model whose promises have no names. */
  readonly violated?: string;
}

/**
 * How many move the namespace at once, syncs of the old partition at once, and syncs of the new one
 * in a row.
 */
const bounds = (movers: number, syncsBefore: number, syncsAfter: number): readonly string[] => [
  `MOVERS=${movers}`,
  `A_SYNCS=${syncsBefore}`,
  `B_ROUNDS=${syncsAfter}`,
];

const move = (name: string, macro: string, macros = bounds(1, 1, 1)): Question => ({
  name: `a move ${name}`,
  model: "partition-move",
  macros: [...macros, `LEFT_OUT_${macro}`],
  holds: false,
  small: true,
});

/** Dividing a cluster anew. */
export const MOVES: readonly Question[] = [
  {
    name: "a move between partitions",
    model: "partition-move",
    macros: bounds(1, 1, 2),
    holds: true,
    small: true,
  },
  {
    name: "a move, two syncs of the old partition at once",
    model: "partition-move",
    macros: bounds(1, 2, 1),
    holds: true,
  },
  {
    name: "a move, by two people at once",
    model: "partition-move",
    macros: bounds(2, 1, 1),
    holds: true,
  },
  move("without a mark", "MARK"),
  move("with a mark on the partition that gives alone", "MARK_OF_TARGET"),
  move("of which the next sync does not look at the mark", "LOOK_AT_MARK"),
  move("that flips whatever the cluster's version", "VERSION_OF_FLIP"),
  move("that raises no epoch", "EPOCH_RAISE"),
  move("that does not wait for open intents", "SETTLED_FIRST"),
  move("that copies no windows", "COPY"),
  move(
    "that does not look at the cluster again under its leases",
    "LOOK_UNDER_LEASE",
    bounds(2, 1, 2),
  ),
];

/** The deeper searches: moves among more syncs, 10 and 21 million states. */
export const DEEPER_MOVES: readonly Question[] = [
  {
    name: "a move, two syncs of each partition",
    model: "partition-move",
    macros: bounds(1, 2, 2),
    holds: true,
  },
  {
    name: "a move, by two people, two syncs after",
    model: "partition-move",
    macros: bounds(2, 1, 2),
    holds: true,
  },
];

/** Tells what is missing on this machine, or undefined when the model can be checked. */
export const missingTool = async (): Promise<string | undefined> => {
  for (const [tool, args] of [
    ["spin", ["-V"]],
    ["gcc", ["--version"]],
  ] as const) {
    try {
      await run(tool, args);
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code === "ENOENT")
        return `"${tool}" is not installed (Debian: apt-get install spin gcc)`;
      throw cause;
    }
  }
  return undefined;
};

/** Generates, compiles and runs the exhaustive search for one question. */
export const check = async (asked: Question): Promise<Verdict> => {
  const folder = await mkdtemp(join(tmpdir(), "tidemark-model-"));
  try {
    await copyFile(join(import.meta.dirname, `${asked.model}.pml`), join(folder, "model.pml"));
    await run("spin", [...asked.macros.map((macro) => `-D${macro}`), "-a", "model.pml"], {
      cwd: folder,
    });
    const kept = asked.hashed ? ["-DBITSTATE"] : ["-DCOLLAPSE", `-DMEMLIM=${MEMORY_MB}`];
    const order = (asked.reversed ?? []).map((part) => REVERSED[part]);
    await run(
      "gcc",
      [asked.small ? "-O0" : "-Og", "-w", "-DSAFETY", ...kept, ...order, "-o", "pan", "pan.c"],
      { cwd: folder },
    );
    const { stdout } = await run(
      "./pan",
      asked.hashed ? [`-m${HASHED_DEPTH}`, `-w${HASH_BITS}`] : [`-m${DEPTH}`],
      {
        cwd: folder,
        maxBuffer: 16 * 1024 * 1024,
      },
    );
    return verdictOf(asked, stdout);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
};

const verdictOf = (asked: Question, output: string): Verdict => {
  const number = (pattern: RegExp): number => {
    const found = pattern.exec(output)?.[1];
    if (found === undefined)
      throw new Error(
        `Cannot read the answer of the search for "${asked.name}": it lacks ${pattern.source}\n${output.slice(-2000)}`,
      );
    return Number(found);
  };
  const errors = number(/errors: (\d+)/);
  const violated = /assertion violated (.*) \(at depth/.exec(output)?.[1];
  return {
    asked,
    held: errors === 0,
    complete:
      errors > 0 || !/max search depth too small|Search not completed|out of memory/.test(output),
    states: number(/^\s*([\d.e+]+) states, stored/m),
    seconds: number(/elapsed time ([\d.]+) seconds/),
    ...(violated === undefined ? {} : { violated: promiseIn(violated) }),
  };
};

/** Right when the search ran to its end and found what the question says. */
export const isRight = (verdict: Verdict): boolean =>
  verdict.complete && verdict.held === verdict.asked.holds;
