import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Table from "cli-table3";
import { type Bundle, bundleAll, sizesTable } from "../../build.ts";

const ROUNDS = 15;

interface Start {
  readonly wallMs: number;
  /** What the process itself used: on a busy machine the steadier figure, and the one that a small share of a CPU makes longer. */
  readonly cpuMs: number;
}

/** One process that loads a file and ends. */
const startOf = (file: string): Start => {
  const started = performance.now();
  const script = `require(${JSON.stringify(file)}); const { user, system } = process.cpuUsage(); process.stdout.write(String(user + system)); process.exit(0)`;
  const { status, stdout, stderr } = spawnSync(process.execPath, ["-e", script], { encoding: "utf8" });
  if (status !== 0) throw new Error(`Cannot start "${file}": ${stderr}`);
  return { wallMs: performance.now() - started, cpuMs: Number(stdout) / 1000 };
};

const median = (numbers: readonly number[]): number => [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? Number.NaN;

/** Sizes of the bundles, and how long a process needs from its start until each is loaded; rounds are interleaved, so that a busy machine hits all alike. */
export const run = async (): Promise<void> => {
  const folder = mkdtempSync(join(tmpdir(), "tidemark-bench-"));
  try {
    const bundles = await bundleAll(folder);
    const empty = join(folder, "empty.cjs");
    writeFileSync(empty, "");
    const files = [empty, ...bundles.map((bundle: Bundle) => join(folder, bundle.function, bundle.file))];
    const starts = new Map<string, Start[]>(files.map((file) => [file, []]));
    for (let round = 0; round < ROUNDS; round++) for (const [file, taken] of starts) taken.push(startOf(file));
    const table = new Table({
      head: ["start of", "wall ms", "CPU ms", "CPU above empty"],
      style: { head: [], border: [] },
      colAligns: ["left", "right", "right", "right"],
    });
    const cpuOf = (file: string): number => median((starts.get(file) ?? []).map(({ cpuMs }) => cpuMs));
    for (const [file, taken] of starts) {
      const name = file === empty ? "an empty file" : file.slice(folder.length + 1);
      table.push([name, median(taken.map(({ wallMs }) => wallMs)).toFixed(1), cpuOf(file).toFixed(1), (cpuOf(file) - cpuOf(empty)).toFixed(1)]);
    }
    process.stdout.write(`${sizesTable(bundles)}\n${table.toString()}\nmedian of ${ROUNDS} processes on Node ${process.versions.node}\n`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
};
