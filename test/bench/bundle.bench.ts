import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Table from "cli-table3";
import { type Bundle, bundleAll, FUNCTIONS, sizesTable } from "../../build/build.ts";
import { CODE_FILE } from "../../build/start/code-file.ts";

const ROUNDS = 15;

interface Start {
  readonly wallMs: number;
  /**
   * What the process itself used: on a busy machine the steadier figure, and the one that a small
   * share of a CPU makes longer.
   */
  readonly cpuMs: number;
}

/** One process that loads files and ends. */
const startOf = (files: readonly string[], options: readonly string[] = []): Start => {
  const started = performance.now();
  const loads = files.map((file) => `require(${JSON.stringify(file)});`).join(" ");
  const script = `${loads} const { user, system } = process.cpuUsage(); process.stderr.write(String(user + system)); process.exit(0)`;
  const { status, stderr } = spawnSync(process.execPath, [...options, "-e", script], {
    encoding: "utf8",
  });
  if (status !== 0) throw new Error(`Cannot start ${loads}: ${stderr}`);
  return { wallMs: performance.now() - started, cpuMs: Number(stderr) / 1000 };
};

const median = (numbers: readonly number[]): number =>
  [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? Number.NaN;

/** What is started: a file, or the same file with other files beside it, or by other options. */
interface Subject {
  readonly name: string;
  readonly files: readonly string[];
  readonly options?: readonly string[];
  readonly taken: Start[];
}

/** Makes V8 refuse the compiled code, as another version of Node does. */
const REFUSING = ["--hash-seed=2"];

/**
 * Each function with its compiled code and without it. A sync of an EKS cluster in its own account
 * loads one file more than its start.
 */
const subjectsIn = (
  folder: string,
  bare: string,
  bundles: readonly Bundle[],
): readonly Subject[] => {
  const empty = join(folder, "empty.cjs");
  writeFileSync(empty, "");
  const eks =
    bundles.find((bundle) => bundle.function === "sync" && bundle.file.startsWith("eks-"))?.file ??
    "index.js";
  const index = (of: string, name: string): string => join(of, name, "index.js");
  const subject = (name: string, ...files: readonly string[]): Subject => ({
    name,
    files,
    taken: [],
  });
  return [
    subject("an empty file", empty),
    ...FUNCTIONS.flatMap((name) => [
      subject(name, index(folder, name)),
      subject(`${name}, no compiled code`, index(bare, name)),
    ]),
    { ...subject("sync, its code refused", index(folder, "sync")), options: REFUSING },
    subject("sync, and its first EKS cluster", index(folder, "sync"), join(folder, "sync", eks)),
  ];
};

/**
 * Sizes of the bundles, and how long a process needs from its start until each is loaded; rounds
 * are interleaved, so that a busy machine hits all alike.
 */
export const run = async (): Promise<void> => {
  const own = mkdtempSync(join(tmpdir(), "tidemark-bench-"));
  const [folder, bare] = [join(own, "compiled"), join(own, "bare")];
  try {
    const bundles = await bundleAll(folder, [process.execPath]);
    cpSync(folder, bare, { recursive: true });
    for (const name of FUNCTIONS) rmSync(join(bare, name, CODE_FILE));
    const subjects = subjectsIn(folder, bare, bundles);
    for (let round = 0; round < ROUNDS; round++)
      for (const { files, options, taken } of subjects) taken.push(startOf(files, options));
    const table = new Table({
      head: ["start of", "wall ms", "CPU ms", "CPU above empty", "rounds below no code"],
      style: { head: [], border: [] },
      colAligns: ["left", "right", "right", "right", "right"],
    });
    const medianOf = (taken: readonly Start[], of: keyof Start): number =>
      median(taken.map((start) => start[of]));
    const emptyMs = medianOf(subjects[0]?.taken ?? [], "cpuMs");
    for (const { name, taken } of subjects) {
      const cpuMs = medianOf(taken, "cpuMs");
      const other = subjects.find((each) => each.name === `${name}, no compiled code`);
      const below = taken.filter((start, round) => start.cpuMs < (other?.taken[round]?.cpuMs ?? 0));
      table.push([
        name,
        medianOf(taken, "wallMs").toFixed(1),
        cpuMs.toFixed(1),
        (cpuMs - emptyMs).toFixed(1),
        other === undefined ? "" : `${below.length} of ${ROUNDS}`,
      ]);
    }
    process.stdout.write(
      `${sizesTable(bundles)}\n${table.toString()}\nmedian of ${ROUNDS} processes on Node ${process.versions.node} ${process.arch}\n`,
    );
  } finally {
    rmSync(own, { recursive: true, force: true });
  }
};
