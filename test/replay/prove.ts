import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import Table from "cli-table3";
import { openDataFolder } from "../../lib/command/session.ts";
import { readReplayed } from "../../lib/command/replay/read-history.ts";
import { withReplays } from "../../lib/command/replay/replay-threads.ts";
import { replayedHistory } from "../../lib/command/replay/replayed-history.ts";
import { SHIPPED_TRACES } from "../../lib/embedded/traces/trace.ts";
import { shippedTracePath } from "../../lib/embedded/traces/read-trace.ts";
import { figuresOf } from "../../lib/replay/figures.ts";
import { fidelityOf, happened } from "../../lib/replay/happened.ts";
import { shareAtLevel } from "../../lib/replay/load.ts";
import {
  RECORDED_REQUEST_MILLI,
  recordedLoads,
  recordedMetrics,
} from "../../lib/replay/recorded-metrics.ts";
import { admitOrThrow } from "../../lib/rules/manifest/admit.ts";
import { HOUR_MS } from "../../lib/rules/model/time-text.ts";
import { hpa, podAutoscaler } from "./world.ts";

/**
 * `npm run prove -- replay [--hours 6] [--seeds 1,2] [--trace FILE]…`: plays a policy in an embedded
 * run, replays its history, and compares with what happened. Then it plays another policy in a run
 * of its own, and compares with what the replay of the first history said of it.
 */
const { values } = parseArgs({
  options: {
    hours: { type: "string", default: "6" },
    seeds: { type: "string", default: "1" },
    trace: { type: "string", multiple: true, default: [...SHIPPED_TRACES] },
  },
});
const HOURS = Number(values.hours);
const BEGIN_MS = Date.UTC(2026, 0, 5);
const PERCENT = 100;

const PLAYED = hpa({ minReplicas: 2, maxReplicas: 100 });
const OTHER = podAutoscaler({
  ...{ minReplicas: 2, maxReplicas: 100 },
  metrics: [{ resource: { name: "cpu" }, target: 70, tolerance: { up: "0.05", down: "0.2" } }],
  scaleDown: { stabilizationWindowSeconds: 600 },
});

const isShipped = (trace: string): trace is (typeof SHIPPED_TRACES)[number] =>
  SHIPPED_TRACES.some((name) => name === trace);

/** An embedded run of so many hours, and what history holds of it. */
const playedRun = async (folder: string, manifest: object, trace: string, seed: string) => {
  const file = join(folder, `${seed}.json`);
  const data = join(folder, "data");
  writeFileSync(file, JSON.stringify(manifest));
  const path = isShipped(trace) ? shippedTracePath(trace) : trace;
  const words = [
    ...["start", "--data", data, "--trace", path, "--manifest", file, "--seed", seed],
    ...["--for", `${HOURS}h`, "--begin", new Date(BEGIN_MS).toISOString(), "--speed", "1000000"],
  ];
  const run = spawnSync(
    process.execPath,
    [join(import.meta.dirname, "../../bin/tidemark.js"), ...words],
    { encoding: "utf8" },
  );
  if (run.status !== 0) throw new Error(`the run of "${trace}" failed: ${run.stderr}`);
  const session = await openDataFolder(data, "prove");
  const span = { sinceMs: BEGIN_MS, untilMs: BEGIN_MS + HOURS * HOUR_MS };
  const read = await readReplayed(session.service, { name: "web", namespace: "shop" }, span);
  await session.close();
  return read;
};

const specOf = (document: object) => admitOrThrow({ where: "prove", document }).spec;
const inPercent = (share: number): string => `${(share * PERCENT).toFixed(2)} %`;

const proveOne = async (trace: string, seed: string): Promise<readonly string[]> => {
  const folder = mkdtempSync(join(tmpdir(), "tidemark-prove-"));
  try {
    const sinceMs = BEGIN_MS + HOUR_MS;
    const read = await playedRun(join(folder), PLAYED, trace, seed);
    const models = new Map();
    const settings = { sinceMs, models, podStart: undefined, idlePercent: 1 };
    const others = [{ label: "other", spec: specOf(OTHER) }];
    const replayed = await withReplays(1, async (replayAll) =>
      replayedHistory(read, settings, others, { replayAll }),
    );
    const { counted } = replayed;
    const own = fidelityOf(replayed.real, replayed.unchanged.minutes, counted);
    const said = figuresOf(replayed.others[0]?.minutes ?? replayed.unchanged.minutes, counted);
    rmSync(join(folder, "data"), { recursive: true });
    const other = await playedRun(folder, OTHER, trace, seed);
    const loads = recordedLoads(other.recorded, "shop", models, 1);
    const made = recordedMetrics(specOf(PLAYED), loads, "shop");
    if ("refused" in made) throw new Error(made.refused.map(({ why }) => why).join());
    const target = made.metrics.flatMap((metric) => shareAtLevel(metric, RECORDED_REQUEST_MILLI));
    const was = figuresOf(happened(other.recorded, target, counted), counted);
    return [
      ...[trace.replace(/.*\//, ""), seed, inPercent(own.sameMinutes), inPercent(own.hoursOff)],
      ...[was.replicaHours.toFixed(1), inPercent(said.replicaHours / was.replicaHours - 1)],
      `${((said.aboveTarget - was.aboveTarget) * PERCENT).toFixed(2)} points`,
      `${replayed.podStartMs / 1_000} s`,
    ];
  } finally {
    rmSync(folder, { recursive: true });
  }
};

const table = new Table({
  head: [
    ...["load", "seed", "same: minutes alike", "same: replica-hours", "other: replica-hours"],
    ...["off by", "above target, off by", "pod start"],
  ],
  style: { head: [] },
});
for (const trace of values.trace)
  for (const seed of values.seeds.split(",")) {
    const row = await proveOne(trace, seed);
    process.stderr.write(`${row.join("  ")}\n`);
    table.push([...row]);
  }
process.stdout.write(`${table.toString()}\n`);
