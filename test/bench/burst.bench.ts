import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Table from "cli-table3";
import { asksOf } from "../../lib/rules/policy/dialects.ts";
import { mapWithLimit } from "../../lib/stack/store/table/wait-for-all.ts";
import { ENGINES, type Engine, startDynalite } from "../contracts/engines.ts";
import { controlPlaneBinaries } from "../control-plane/binaries.ts";
import { type App, appsOf, fillCluster } from "../control-plane/fill.ts";
import { type MetricsAdapter, startMetricsAdapter } from "../control-plane/metrics-adapter.ts";
import { type ControlPlane, startControlPlane } from "../control-plane/start.ts";
import {
  CPU,
  type Load,
  type Played,
  play,
  recordOf,
  type Subject,
  subjectOf,
} from "./burst-subject.ts";

/**
 * All workloads of a real API server want three times as many pods at once, and then a third: how
 * many syncs that takes, and how long. `BURST_AGAINST=FOLDER` measures another checkout of this
 * project in the same run, turn by turn, because times of two runs on a machine with other work
 * cannot be compared. `BURST_LOADS=calm BURST_ROUNDS=30` compares steady syncs only.
 */
const WORKLOADS = Number(process.env["BURST_WORKLOADS"] ?? 1_000);
const ROUNDS = Number(process.env["BURST_ROUNDS"] ?? 3);
const LOADS = (process.env["BURST_LOADS"] ?? "calm,up,down")
  .split(",")
  .filter((load): load is Load => load in CPU);
const WIDTHS = [1, 4, 8, 16, 32, 64] as const;

/** As many writes as there are workloads, with nothing else around them, at one width. */
const bare = async (
  { client, cluster, ports }: Subject,
  apps: readonly App[],
  width: number,
  replicas: number,
): Promise<number> => {
  const watched = apps.map((app) => {
    const { uid, namespace: ns, name, manifest: text } = recordOf(cluster, app);
    const reading = ports.rules.specOf(text);
    if (reading.kind !== "spec") throw new Error(reading.message);
    return { uid, namespace: ns, name, spec: reading.spec, ...asksOf(reading.spec, ns) };
  });
  const seen = await client.observe(watched, { budgetMs: 60_000, namespaces: "all" });
  const startedMs = performance.now();
  await mapWithLimit(watched, width, async ({ uid, namespace: ns, spec }) => {
    const scale = seen.observations.get(uid)?.observation.scale;
    if (scale?.kind !== "read") throw new Error("a workload cannot be read");
    const write = {
      namespace: ns,
      target: spec.target,
      targetUid: scale.uid,
      resourceVersion: scale.resourceVersion,
      replicas,
    };
    const answer = await client.putScale(write, 5_000);
    if (answer.kind !== "applied") throw new Error(`a write was ${answer.kind}`);
  });
  return performance.now() - startedMs;
};

const median = (numbers: readonly number[]): number =>
  numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? Number.NaN;

export const run = async (): Promise<void> => {
  const binaries = controlPlaneBinaries();
  if (binaries.kind === "missing") {
    process.stdout.write(`Not measured: ${binaries.message}\n`);
    process.exitCode = 1;
    return;
  }
  const dir = mkdtempSync(join(tmpdir(), "tidemark-burst-"));
  const [plane, engine] = [await startControlPlane(binaries.folder), await startEngine()];
  const apps = appsOf(WORKLOADS);
  await fillCluster(plane, apps);
  const adapter = await startMetricsAdapter(plane, apps, dir);
  try {
    await measure(plane, engine, apps, adapter);
  } finally {
    await adapter.close();
    await plane.close();
    await engine.close();
    rmSync(dir, { recursive: true, force: true });
  }
};

/** The fast engine is a program of its own, so that its work is not counted as ours. */
const startEngine = async (): Promise<Engine> => {
  const fast = ENGINES.find(({ name, missing }) => name === "dynoxide" && missing === undefined);
  if (!fast)
    process.stdout.write(
      "Without dynoxide the tables are in this process: settling takes longer, and counts as ours\n",
    );
  return fast ? fast.start() : startDynalite();
};

interface Stage {
  readonly plane: ControlPlane;
  readonly adapter: MetricsAdapter;
}

const under = (subject: Subject, { plane, adapter }: Stage, load: Load): Promise<Played> => {
  adapter.cpuMilli = CPU[load];
  return play(subject, plane, load, WORKLOADS);
};

/**
 * One at rest, one up, one down, as far as they are wanted; at the end of all three the cluster is
 * as it was.
 */
const oneRound = async (subject: Subject, stage: Stage): Promise<readonly Played[]> => {
  const played: Played[] = [];
  for (const load of LOADS) played.push(await under(subject, stage, load));
  return played;
};

const measure = async (
  plane: ControlPlane,
  engine: Engine,
  apps: readonly App[],
  adapter: MetricsAdapter,
): Promise<void> => {
  const stage = { plane, adapter };
  const here = await subjectOf("this", join(import.meta.dirname, "../.."), plane, engine, apps);
  const other = process.env["BURST_AGAINST"];
  const subjects =
    other === undefined ? [here] : [await subjectOf("other", other, plane, engine, apps), here];
  const played: Played[] = [];
  // The first sync reads everything and makes the pages.
  for (const subject of subjects) await under(subject, stage, "calm");
  for (let round = 0; round < ROUNDS; round++)
    for (const subject of subjects) played.push(...(await oneRound(subject, stage)));
  print(played);
  // One that comes sooner after the last than any before writes its windows: that is not how syncs
  // of one period are.
  printSteady(played.filter(({ what, pages }) => what === "calm" && pages === 0));
  if (!LOADS.includes("down")) {
    for (const { client } of subjects) client.close();
    return;
  }
  const widths: string[] = [];
  for (const [at, width] of WIDTHS.entries())
    widths.push(`${width}: ${((await bare(here, apps, width, 4 + at)) / 1_000).toFixed(2)} s`);
  process.stdout.write(
    `${WORKLOADS} writes of a scale and nothing else, by how many at once: ${widths.join(", ")}\n`,
  );
  for (const { client } of subjects) client.close();
};

const PHASES = [
  "load",
  "observe",
  "decide",
  "settle",
  "intend",
  "act",
  "pages",
  "journal",
  "release",
] as const;

const print = (played: readonly Played[]): void => {
  const table = new Table({
    head: ["checkout", "load", "syncs", "scales", "wall s", "own CPU s", "server CPU s", ...PHASES],
    style: { head: [], border: [] },
  });
  const seconds = (ms: number): string => (ms / 1_000).toFixed(2);
  const walls = new Map<string, number>();
  for (const [key, rows] of Map.groupBy(played, ({ subject, what }) => `${subject} ${what}`)) {
    const of = (figure: (row: Played) => number): number => median(rows.map(figure));
    walls.set(
      key,
      of(({ wallMs }) => wallMs),
    );
    table.push([
      ...key.split(" "),
      String(of(({ syncs }) => syncs)),
      String(of(({ scales }) => scales)),
      seconds(of(({ wallMs }) => wallMs)),
      seconds(of(({ ownMs }) => ownMs)),
      seconds(of(({ serverMs }) => serverMs)),
      ...PHASES.map((phase) => seconds(of(({ phasesMs }) => phasesMs[phase] ?? 0))),
    ]);
  }
  process.stdout.write(
    `${table.toString()}\nMedians of ${ROUNDS} rounds, ${WORKLOADS} workloads of one pod with one CPU metric\n`,
  );
  for (const what of ["up", "down"]) {
    const [before, after] = [walls.get(`other ${what}`), walls.get(`this ${what}`)];
    if (before !== undefined && after !== undefined)
      process.stdout.write(
        `${what}: ${(before / after).toFixed(1)} times as fast as the other checkout\n`,
      );
  }
};

/**
 * How much more CPU a steady sync takes than one of the other checkout, by the median and by the
 * least of all rounds: other work on the machine only adds.
 */
const printSteady = (calm: readonly Played[]): void => {
  const [other, here] = ["other", "this"].map((name) =>
    calm.filter(({ subject }) => subject === name).map(({ ownMs }) => ownMs),
  );
  if (!other?.length || !here?.length) return;
  const ratio = (of: (numbers: readonly number[]) => number): string =>
    (of(here) / of(other)).toFixed(3);
  process.stdout.write(
    `calm, without pages (${here.length} and ${other.length} of the other checkout): ${ratio(median)} times its CPU by the median, ${ratio((numbers) => Math.min(...numbers))} by the least\n`,
  );
};
