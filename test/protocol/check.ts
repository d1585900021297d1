import { execFile } from "node:child_process";
import { copyFile, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);
/** Memory that one search may take; the largest of the default set needs about 1 GB. */
const MEMORY_MB = 8000;
const DEPTH = 300_000;

/** A question to the model: which macros are set, and whether the invariants must hold. */
export interface Question {
  readonly name: string;
  readonly model: "exactly-once" | "partition-move";
  readonly macros: readonly string[];
  readonly holds: boolean;
  /** So few states that making the search fast takes longer than the search. */
  readonly small?: true;
}

export interface Verdict {
  readonly asked: Question;
  readonly held: boolean;
  readonly complete: boolean;
  readonly states: number;
  readonly seconds: number;
  /** The assertion that failed. */
  readonly violated?: string;
}

/** One invocation each, until tick 7: every interleaving of a holder and the one that follows or overtakes it. */
const ONE_EACH = ["FIRST_ROUNDS=1", "SECOND_ROUNDS=1", "END=7"];

const rule = (name: string, macro: string): Question => ({ name, model: "exactly-once", macros: [...ONE_EACH, `LEFT_OUT_${macro}`], holds: false });

export const QUESTIONS: readonly Question[] = [
  { name: "the protocol", model: "exactly-once", macros: ONE_EACH, holds: true },
  { name: "the protocol, kinds without a generation", model: "exactly-once", macros: [...ONE_EACH, "NO_GENERATION"], holds: true },
  rule("without a token of its own per write", "OWN_TOKEN"),
  rule("with the event dated at the intent", "TIME_AFTER_ANSWER"),
  rule("with nowMs read after the observation", "NOW_BEFORE_OBSERVATION"),
  rule("with a transport that repeats a PUT", "NEVER_REPEATS"),
  rule("without the clock difference in the deadline", "CLOCK_DIFFERENCE"),
  rule("without the deadline", "DEADLINE"),
  rule("without an end to a stalled process", "END_OF_STALLED"),
  rule("with the settler's epoch in the event id", "INTENT_EPOCH"),
  rule("without the epoch and write number when an intent is stored", "EPOCH_OF_INTEND"),
];

/** How many move the namespace at once, syncs of the old partition at once, and syncs of the new one in a row. */
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
  { name: "a move between partitions", model: "partition-move", macros: bounds(1, 1, 2), holds: true, small: true },
  { name: "a move, two syncs of the old partition at once", model: "partition-move", macros: bounds(1, 2, 1), holds: true },
  { name: "a move, by two people at once", model: "partition-move", macros: bounds(2, 1, 1), holds: true },
  move("without a mark", "MARK"),
  move("with a mark on the partition that gives alone", "MARK_OF_TARGET"),
  move("of which the next sync does not look at the mark", "LOOK_AT_MARK"),
  move("that flips whatever the cluster's version", "VERSION_OF_FLIP"),
  move("that raises no epoch", "EPOCH_RAISE"),
  move("that does not wait for open intents", "SETTLED_FIRST"),
  move("that copies no windows", "COPY"),
  move("that does not look at the cluster again under its leases", "LOOK_UNDER_LEASE", bounds(2, 1, 2)),
];

/** The deeper searches: one worker invoked twice, about 100 million states, three minutes and 6 GB; moves among more syncs, 10 and 21 million. */
export const DEEPER: readonly Question[] = [
  { name: "the protocol, three invocations", model: "exactly-once", macros: ["FIRST_ROUNDS=2", "SECOND_ROUNDS=1", "END=7"], holds: true },
  { name: "a move, two syncs of each partition", model: "partition-move", macros: bounds(1, 2, 2), holds: true },
  { name: "a move, by two people, two syncs after", model: "partition-move", macros: bounds(2, 1, 2), holds: true },
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
      if ((cause as NodeJS.ErrnoException).code === "ENOENT") return `"${tool}" is not installed (Debian: apt-get install spin gcc)`;
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
    await run("spin", [...asked.macros.map((macro) => `-D${macro}`), "-a", "model.pml"], { cwd: folder });
    await run("gcc", [asked.small ? "-O0" : "-O2", "-w", "-DSAFETY", "-DCOLLAPSE", `-DMEMLIM=${MEMORY_MB}`, "-o", "pan", "pan.c"], { cwd: folder });
    const { stdout } = await run("./pan", [`-m${DEPTH}`], { cwd: folder, maxBuffer: 16 * 1024 * 1024 });
    return verdictOf(asked, stdout);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
};

const verdictOf = (asked: Question, output: string): Verdict => {
  const number = (pattern: RegExp): number => {
    const found = pattern.exec(output)?.[1];
    if (found === undefined)
      throw new Error(`Cannot read the answer of the search for "${asked.name}": it lacks ${pattern.source}\n${output.slice(-2000)}`);
    return Number(found);
  };
  const errors = number(/errors: (\d+)/);
  const violated = /assertion violated (.*) \(at depth/.exec(output)?.[1];
  return {
    asked,
    held: errors === 0,
    complete: errors > 0 || !/max search depth too small|Search not completed|out of memory/.test(output),
    states: number(/^\s*([\d.e+]+) states, stored/m),
    seconds: number(/elapsed time ([\d.]+) seconds/),
    ...(violated === undefined ? {} : { violated }),
  };
};

/** Right when the search ran to its end and found what the question says. */
export const isRight = (verdict: Verdict): boolean => verdict.complete && verdict.held === verdict.asked.holds;
