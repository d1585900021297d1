import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Table from "cli-table3";
import { type Bundle, bundleAll, sizesTable } from "../../build.ts";

const ROUNDS = 15;

/** Wall time of one process that loads a file and ends, ms. */
const startMs = (file: string): number => {
  const started = performance.now();
  const { status, stderr } = spawnSync(process.execPath, ["-e", `require(${JSON.stringify(file)}); process.exit(0)`], { encoding: "utf8" });
  if (status !== 0) throw new Error(`Cannot start "${file}": ${stderr}`);
  return performance.now() - started;
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
    const times = new Map<string, number[]>(files.map((file) => [file, []]));
    for (let round = 0; round < ROUNDS; round++) for (const [file, taken] of times) taken.push(startMs(file));
    const table = new Table({
      head: ["start of", "median ms", "above empty"],
      style: { head: [], border: [] },
      colAligns: ["left", "right", "right"],
    });
    const floor = median(times.get(empty) ?? []);
    for (const [file, taken] of times) {
      const ms = median(taken);
      table.push([file === empty ? "an empty file" : file.slice(folder.length + 1), ms.toFixed(1), (ms - floor).toFixed(1)]);
    }
    process.stdout.write(`${sizesTable(bundles)}\n${table.toString()}\nmedian of ${ROUNDS} processes on Node ${process.versions.node}\n`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
};
