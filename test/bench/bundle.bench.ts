import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Table from "cli-table3";
import { type Bundle, bundleAll, FUNCTIONS, sizesTable } from "../../build/build.ts";

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
const startOf = (files: readonly string[]): Start => {
  const started = performance.now();
  const loads = files.map((file) => `require(${JSON.stringify(file)});`).join(" ");
  const script = `${loads} const { user, system } = process.cpuUsage(); process.stdout.write(String(user + system)); process.exit(0)`;
  const { status, stdout, stderr } = spawnSync(process.execPath, ["-e", script], {
    encoding: "utf8",
  });
  if (status !== 0) throw new Error(`Cannot start ${loads}: ${stderr}`);
  return { wallMs: performance.now() - started, cpuMs: Number(stdout) / 1000 };
};

const median = (numbers: readonly number[]): number =>
  [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? Number.NaN;

const EMPTY = "an empty file";

/**
 * What is started, and the files of it. A sync of an EKS cluster in its own account loads one file
 * more than its start.
 */
const startsIn = (
  folder: string,
  bundles: readonly Bundle[],
): ReadonlyMap<string, readonly string[]> => {
  const empty = join(folder, "empty.cjs");
  writeFileSync(empty, "");
  const eks =
    bundles.find((bundle) => bundle.function === "sync" && bundle.file.startsWith("eks-"))?.file ??
    "index.js";
  const index = (name: string): string => join(folder, name, "index.js");
  return new Map<string, readonly string[]>([
    [EMPTY, [empty]],
    ...FUNCTIONS.map((name) => [name, [index(name)]] as const),
    ["sync, and its first EKS cluster", [index("sync"), join(folder, "sync", eks)]],
  ]);
};

/**
 * Sizes of the bundles, and how long a process needs from its start until each is loaded; rounds
 * are interleaved, so that a busy machine hits all alike.
 */
export const run = async (): Promise<void> => {
  const folder = mkdtempSync(join(tmpdir(), "tidemark-bench-"));
  try {
    const bundles = await bundleAll(folder);
    const starts = [...startsIn(folder, bundles)].map(([name, files]) => ({
      name,
      files,
      taken: [] as Start[],
    }));
    for (let round = 0; round < ROUNDS; round++)
      for (const { files, taken } of starts) taken.push(startOf(files));
    const table = new Table({
      head: ["start of", "wall ms", "CPU ms", "CPU above empty"],
      style: { head: [], border: [] },
      colAligns: ["left", "right", "right", "right"],
    });
    const medianOf = (taken: readonly Start[], of: keyof Start): number =>
      median(taken.map((start) => start[of]));
    const emptyMs = medianOf(starts.find(({ name }) => name === EMPTY)?.taken ?? [], "cpuMs");
    for (const { name, taken } of starts) {
      const cpuMs = medianOf(taken, "cpuMs");
      table.push([
        name,
        medianOf(taken, "wallMs").toFixed(1),
        cpuMs.toFixed(1),
        (cpuMs - emptyMs).toFixed(1),
      ]);
    }
    process.stdout.write(
      `${sizesTable(bundles)}\n${table.toString()}\nmedian of ${ROUNDS} processes on Node ${process.versions.node}\n`,
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
};
