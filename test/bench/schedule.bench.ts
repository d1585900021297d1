import { fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import Table from "cli-table3";
import { FULL_CPU_GB } from "../../lib/answers/cost/units.ts";
import { median } from "./hpa-controller.ts";

/**
 * The CPU of one call of `schedule`, which plans a minute of `SCHEDULE_CLUSTERS` clusters, in a heap
 * of the size that V8 gives itself on the function's 256 MB: with V8's young space, with that of
 * serverless.yml, and without the client's check of what SQS received.
 */
const CLUSTERS = Number(process.env["SCHEDULE_CLUSTERS"] ?? "2000");
const MINUTES = Number(process.env["SCHEDULE_MINUTES"] ?? "8");
const MEMORY_GB = 0.25;
const HEAP = "--max-heap-size=131";
const YOUNG = "--max-semi-space-size=8";
const SETTINGS = [
  ["the young space of V8", [HEAP], 1],
  ["8 MB", [HEAP, YOUNG], 1],
  ["8 MB, as deployed: SQS's MD5 is not computed again", [HEAP, YOUNG], 0],
] as const;

const played = async (options: readonly string[], md5: number): Promise<readonly number[]> => {
  const child = fork(
    join(import.meta.dirname, "schedule-process.ts"),
    [CLUSTERS, MINUTES, md5].map(String),
    { execArgv: [...options] },
  );
  const [cpuMs] = (await once(child, "message")) as [readonly number[]];
  return cpuMs;
};

export const run = async (): Promise<void> => {
  const head = ["young space", "own CPU ms of the first call", "of later calls, median", "s there"];
  const table = new Table({ head, style: { head: [], border: [] } });
  for (const [name, options, md5] of SETTINGS) {
    const [first = 0, ...later] = await played(options, md5);
    const steady = median(later.slice(1));
    const there = (steady * FULL_CPU_GB) / MEMORY_GB / 1_000;
    table.push([name, Math.round(first), Math.round(steady), there.toFixed(1)]);
  }
  process.stdout.write(`${CLUSTERS} clusters at a period of 15 s\n${table.toString()}\n`);
};
