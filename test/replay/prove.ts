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
import { type Figures, figuresOf } from "../../lib/replay/figures.ts";
import { fidelityOf, happened } from "../../lib/replay/happened.ts";
import { shareAtLevel } from "../../lib/replay/load.ts";
import {
  type ChosenModels,
  RECORDED_REQUEST_MILLI,
  recordedLoads,
  recordedMetrics,
} from "../../lib/replay/recorded-metrics.ts";
import { admitOrThrow } from "../../lib/rules/manifest/admit.ts";
import { HOUR_MS } from "../../lib/rules/model/time-text.ts";
import { hpa, podAutoscaler } from "./world.ts";

/**
 * `npm run prove -- replay [--hours 6] [--seeds 1,2] [--runs 3] [--trace FILE]… [--keep FOLDER]`:
 * plays a policy in an embedded run, replays its history, and compares with what happened. Another
 * policy is played in several runs of its own, which differ by the seed, and their mean is compared
 * with what the replay of the first history said of that policy. `--keep`: the runs stay in the
 * folder, and one that is there is not played again.
 */
const { values } = parseArgs({
  options: {
    hours: { type: "string", default: "6" },
    seeds: { type: "string", default: "1" },
    runs: { type: "string", default: "3" },
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

/** What a run of the other policy did, or what a replay says of it. Shares are from 0 to 1. */
type OfOther = Pick<Figures, "replicaHours" | "aboveTarget">;

/** A load and a seed: how near the replay came to the run of the same policy. */
interface Row {
  readonly seed: string;
  readonly sameMinutes: number;
  readonly sameHours: number;
  readonly said: OfOther;
  readonly cutOff: number;
}

const MODELS: ChosenModels = new Map();
const IDLE_PERCENT = 1;
const COUNTED = { fromMs: BEGIN_MS + HOUR_MS, untilMs: BEGIN_MS + HOURS * HOUR_MS };

const replayedRow = async (folder: string, trace: string, seed: string): Promise<Row> => {
  const read = await playedRun(folder, "played", trace, seed);
  const settings = { sinceMs: COUNTED.fromMs, models: MODELS, podStart: undefined };
  const others = [{ label: "other", spec: specOf(OTHER) }];
  const { real, unchanged, ...replayed } = await withReplays(1, async (replayAll) =>
    replayedHistory(read, { ...settings, idlePercent: IDLE_PERCENT }, others, { replayAll }),
  );
  const { sameMinutes, hoursOff } = fidelityOf(real, unchanged.minutes, COUNTED);
  const said = figuresOf(replayed.others[0]?.minutes ?? unchanged.minutes, COUNTED);
  return { seed, sameMinutes, sameHours: hoursOff, said, cutOff: said.cutOff };
};

const otherRun = async (folder: string, trace: string, seed: string): Promise<OfOther> => {
  const { recorded } = await playedRun(folder, "other", trace, seed);
  const loads = recordedLoads(recorded, "shop", MODELS, IDLE_PERCENT);
  const made = recordedMetrics(specOf(PLAYED), loads, "shop");
  if ("refused" in made) throw new Error(made.refused.map(({ why }) => why).join());
  const target = made.metrics.flatMap((metric) => shareAtLevel(metric, RECORDED_REQUEST_MILLI));
  return figuresOf(happened(recorded, target, COUNTED), COUNTED);
};

/** What a replay is held to, and from which share of the time on demand counts as cut off. */
const SAME_LEAST = 0.99;
const HOURS_OFF_MOST = 0.03;
const ABOVE_OFF_MOST = 0.01;
const CUT_OFF_LEAST = 0.03;

/** Runs of the other policy beyond the seeds that are replayed have seeds from here on. */
const FURTHER_SEEDS = 101;

const apartOf = (runs: readonly OfOther[]): number => {
  const all = runs.map(({ aboveTarget }) => aboveTarget);
  return Math.max(...all) - Math.min(...all);
};

/** Nobody can know what noise a run of the other policy draws, so there are several of them. */
const otherRuns = async (
  folder: string,
  trace: string,
  seeds: readonly string[],
): Promise<readonly OfOther[]> => {
  const count = Number(values.runs);
  const further = Array.from({ length: count }, (_, at) => `${FURTHER_SEEDS + at}`);
  const runs: OfOther[] = [];
  for (const seed of [...seeds, ...further].slice(0, count))
    runs.push(await otherRun(folder, trace, seed));
  return runs;
};

const meanOf = (runs: readonly OfOther[], name: keyof OfOther): number =>
  runs.reduce((sum, run) => sum + run[name], 0) / runs.length;

/** How far what a replay says is off the mean of the runs, and what that is. */
interface Off {
  readonly hours: number;
  readonly above: number;
}

const verdictOf = ({ sameMinutes, cutOff }: Row, off: Off): string => {
  if (sameMinutes < SAME_LEAST) return "no";
  if (Math.abs(off.hours) <= HOURS_OFF_MOST && Math.abs(off.above) <= ABOVE_OFF_MOST) return "yes";
  return cutOff > CUT_OFF_LEAST ? "cut off" : "no";
};

const inPoints = (share: number): string => `${(share * PERCENT).toFixed(2)} points`;
const table = new Table({
  head: [
    ...["load", "seed", "same: minutes alike", "same: replica-hours", "other: runs"],
    ...["replica-hours", "off by", "above target", "apart", "off by", "cut off"],
    "within the limits",
  ],
  style: { head: [], border: [] },
});

const verdicts: string[] = [];
const proveLoad = async (folder: string, trace: string): Promise<void> => {
  const seeds = values.seeds.split(",");
  const rows: Row[] = [];
  for (const seed of seeds) rows.push(await replayedRow(folder, trace, seed));
  const runs = await otherRuns(folder, trace, seeds);
  const [hours, above] = [meanOf(runs, "replicaHours"), meanOf(runs, "aboveTarget")];
  for (const row of rows) {
    const off = { hours: row.said.replicaHours / hours - 1, above: row.said.aboveTarget - above };
    verdicts.push(verdictOf(row, off));
    const cells = [
      ...[trace.replace(/.*\//, "").replace(/\.csv$/, ""), row.seed],
      ...[inPercent(row.sameMinutes), inPercent(row.sameHours), `${runs.length}`],
      ...[hours.toFixed(1), inPercent(off.hours), inPercent(above), inPoints(apartOf(runs))],
      ...[inPoints(off.above), inPercent(row.cutOff), verdicts.at(-1) ?? ""],
    ];
    process.stderr.write(`${cells.join("  ")}\n`);
    table.push(cells);
  }
};

for (const trace of values.trace) {
  const folder = values.keep ?? mkdtempSync(join(tmpdir(), "tidemark-prove-"));
  mkdirSync(folder, { recursive: true });
  try {
    await proveLoad(folder, trace);
  } finally {
    if (values.keep === undefined) rmSync(folder, { recursive: true });
  }
}
process.stdout.write(`${table.toString()}\n`);
if (verdicts.includes("no")) process.exitCode = 1;
