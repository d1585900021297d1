import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
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
 * `npm run prove -- replay [--hours 6] [--seeds 1,2] [--trace FILE]… [--keep FOLDER]`: plays a
 * policy in an embedded run, replays its history, and compares with what happened. Then it plays
 * another policy in a run of its own, and compares with what the replay of the first history said
 * of it. `--keep`: the runs stay in the folder, and one that is there is not played again.
 */
const { values } = parseArgs({
  options: {
    hours: { type: "string", default: "6" },
    seeds: { type: "string", default: "1" },
    trace: { type: "string", multiple: true, default: [...SHIPPED_TRACES] },
    keep: { type: "string" },
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

/** What is played, by the names of the kept folders. */
const MANIFESTS = { played: PLAYED, other: OTHER } as const;

/** An embedded run of so many hours, and what history holds of it. */
const playedRun = async (
  folder: string,
  which: keyof typeof MANIFESTS,
  trace: string,
  seed: string,
) => {
  const data = join(folder, `${trace.replace(/.*\//, "")}-${seed}-${HOURS}h-${which}`);
  if (!existsSync(data)) play(data, MANIFESTS[which], trace, seed);
  const session = await openDataFolder(data, "prove");
  const span = { sinceMs: BEGIN_MS, untilMs: BEGIN_MS + HOURS * HOUR_MS };
  const read = await readReplayed(session.service, { name: "web", namespace: "shop" }, span);
  await session.close();
  return read;
};

/** The folder has its name when the run is over: one that ended early is played again. */
const play = (data: string, manifest: object, trace: string, seed: string): void => {
  const playing = `${data}.playing`;
  const file = `${data}.json`;
  rmSync(playing, { recursive: true, force: true });
  writeFileSync(file, JSON.stringify(manifest));
  const path = isShipped(trace) ? shippedTracePath(trace) : trace;
  const words = [
    ...["start", "--data", playing, "--trace", path, "--manifest", file, "--seed", seed],
    ...["--for", `${HOURS}h`, "--begin", new Date(BEGIN_MS).toISOString(), "--speed", "1000000"],
  ];
  const run = spawnSync(
    process.execPath,
    [join(import.meta.dirname, "../../bin/tidemark.js"), ...words],
    { encoding: "utf8" },
  );
  rmSync(file);
  if (run.status !== 0) throw new Error(`the run of "${trace}" failed: ${run.stderr}`);
  renameSync(playing, data);
};

const specOf = (document: object) => admitOrThrow({ where: "prove", document }).spec;
const inPercent = (share: number): string => `${(share * PERCENT).toFixed(2)} %`;

/** A load and a seed: how near the replay came to the two runs. Shares are from 0 to 1. */
interface Row {
  readonly load: string;
  readonly seed: string;
  readonly sameMinutes: number;
  readonly sameHours: number;
  /** Of the run of the other policy. */
  readonly hours: number;
  readonly aboveTarget: number;
  readonly hoursOff: number;
  readonly aboveOff: number;
  readonly cutOff: number;
}

const proveOne = async (trace: string, seed: string): Promise<Row> => {
  const folder = values.keep ?? mkdtempSync(join(tmpdir(), "tidemark-prove-"));
  mkdirSync(folder, { recursive: true });
  try {
    const sinceMs = BEGIN_MS + HOUR_MS;
    const read = await playedRun(folder, "played", trace, seed);
    const models = new Map();
    const settings = { sinceMs, models, podStart: undefined, idlePercent: 1 };
    const others = [{ label: "other", spec: specOf(OTHER) }];
    const replayed = await withReplays(1, async (replayAll) =>
      replayedHistory(read, settings, others, { replayAll }),
    );
    const { counted } = replayed;
    const own = fidelityOf(replayed.real, replayed.unchanged.minutes, counted);
    const said = figuresOf(replayed.others[0]?.minutes ?? replayed.unchanged.minutes, counted);
    const other = await playedRun(folder, "other", trace, seed);
    const loads = recordedLoads(other.recorded, "shop", models, 1);
    const made = recordedMetrics(specOf(PLAYED), loads, "shop");
    if ("refused" in made) throw new Error(made.refused.map(({ why }) => why).join());
    const target = made.metrics.flatMap((metric) => shareAtLevel(metric, RECORDED_REQUEST_MILLI));
    const was = figuresOf(happened(other.recorded, target, counted), counted);
    return {
      ...{ load: trace.replace(/.*\//, "").replace(/\.csv$/, ""), seed },
      ...{ sameMinutes: own.sameMinutes, sameHours: own.hoursOff },
      ...{ hours: was.replicaHours, aboveTarget: was.aboveTarget },
      hoursOff: said.replicaHours / was.replicaHours - 1,
      aboveOff: said.aboveTarget - was.aboveTarget,
      cutOff: said.cutOff,
    };
  } finally {
    if (values.keep === undefined) rmSync(folder, { recursive: true });
  }
};

/** What a replay is held to, and from which share of the time on demand counts as cut off. */
const SAME_LEAST = 0.99;
const HOURS_OFF_MOST = 0.03;
const ABOVE_OFF_MOST = 0.01;
const CUT_OFF_LEAST = 0.03;

/** How far apart the runs of the other policy are that differ by the seed only. */
const apartOf = (rows: readonly Row[]): number => {
  const all = rows.map(({ aboveTarget }) => aboveTarget);
  return Math.max(...all) - Math.min(...all);
};

/**
 * Nobody can know what noise the other run drew, so a replay comes no nearer to one run than a
 * second run of the same policy does: what two runs are apart is allowed on top.
 */
const verdictOf = ({ sameMinutes, hoursOff, aboveOff, cutOff }: Row, apart: number): string => {
  const isHeld =
    sameMinutes >= SAME_LEAST &&
    Math.abs(hoursOff) <= HOURS_OFF_MOST &&
    Math.abs(aboveOff) <= ABOVE_OFF_MOST + apart;
  if (isHeld) return "yes";
  return cutOff > CUT_OFF_LEAST ? "cut off" : "no";
};

const inPoints = (share: number): string => `${(share * PERCENT).toFixed(2)} points`;
const table = new Table({
  head: [
    ...["load", "seed", "same: minutes alike", "same: replica-hours", "other: replica-hours"],
    ...["off by", "above target, off by", "its runs are apart", "cut off", "within the limits"],
  ],
  style: { head: [] },
});
const verdicts: string[] = [];
for (const trace of values.trace) {
  const rows: Row[] = [];
  for (const seed of values.seeds.split(",")) rows.push(await proveOne(trace, seed));
  const apart = apartOf(rows);
  for (const row of rows) {
    verdicts.push(verdictOf(row, apart));
    const cells = [
      ...[row.load, row.seed, inPercent(row.sameMinutes), inPercent(row.sameHours)],
      ...[row.hours.toFixed(1), inPercent(row.hoursOff), inPoints(row.aboveOff)],
      ...[rows.length > 1 ? inPoints(apart) : "", inPercent(row.cutOff), verdicts.at(-1) ?? ""],
    ];
    process.stderr.write(`${cells.join("  ")}\n`);
    table.push(cells);
  }
}
process.stdout.write(`${table.toString()}\n`);
if (verdicts.includes("no")) process.exitCode = 1;
