import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import Table from "cli-table3";
import { clusterName, WHOLE_CLUSTER } from "../../lib/model/ids.ts";
import { DEFAULT_SETTINGS } from "../../lib/model/settings.ts";
import { putAutoscaler } from "../../lib/store/records/autoscalers.ts";
import { putCluster } from "../../lib/store/records/clusters.ts";
import { eachDone } from "../../lib/store/table/all-done.ts";
import { ENGINES } from "../contracts/engines.ts";
import { controlPlaneBinaries } from "../control-plane/binaries.ts";
import { appsOf, fillCluster } from "../control-plane/fill.ts";
import { startMetricsAdapter } from "../control-plane/metrics-adapter.ts";
import { startControlPlane } from "../control-plane/start.ts";
import { testTables } from "../sync/world.ts";
import { bareLists } from "./bare-lists.ts";
import { CPU, recordOf } from "./burst-subject.ts";
import type { Measured } from "./function-process.ts";
import { startFunction } from "./function-under-test.ts";
import { HPA_FLAGS, type HpaFigures, hpaControllerMissing, makeHpas, measureHpa, median, type Stage } from "./hpa-controller.ts";

/**
 * Whole syncs of the function against a real API server, each workload a deployment of one pod with one CPU metric; then the HPA controller of Kubernetes on the same server, for
 * the same workloads. `CLUSTER_SIZES=100,1000,10000` and `CLUSTER_HPA=1000,3000` choose other sizes. Fails where it cannot measure.
 */
const sizesIn = (variable: string, otherwise: readonly number[]): readonly number[] =>
  process.env[variable]
    ?.split(",")
    .filter((text) => text !== "")
    .map(Number) ?? otherwise;
const SIZES = sizesIn("CLUSTER_SIZES", [100, 300, 1_000, 3_000]);
const HPA_SIZES = new Set(sizesIn("CLUSTER_HPA", [1_000]));
const SYNCS = 12;
const WARM_UP = 4;
const PACE_MIN_MS = 1_500;
const PACE_PER_WORKLOAD_MS = 1;
const REST_MS = 10_000;
const BURST_SYNCS_MAX = 10;
const PERIOD_MS = 15_000;

interface Figures {
  readonly workloads: number;
  readonly sync: Measured;
  readonly serverMs: number;
  /** What it takes to scale all of them up. */
  readonly burst: Measured & { readonly syncs: number };
  readonly lists: string;
  readonly hpa: Readonly<Record<string, HpaFigures>>;
}

export const run = async (): Promise<void> => {
  const binaries = controlPlaneBinaries();
  const engine = ENGINES.find(({ name }) => name === "dynoxide");
  const missing = binaries.kind === "missing" ? binaries.message : engine?.missing;
  if (binaries.kind === "missing" || !engine || missing !== undefined) {
    process.stdout.write(`Not measured: ${missing}\n`);
    process.exitCode = 1;
    return;
  }
  const all: Figures[] = [];
  for (const size of SIZES) {
    all.push(await measureSize(size, binaries.folder, engine.start));
  }
  print(all);
  const thousand = all.find(({ workloads }) => workloads === 1_000);
  if (thousand) process.stdout.write(`${lastLine(thousand)}\n`);
};

const measureSize = async (size: number, binaries: string, startEngine: (typeof ENGINES)[number]["start"]): Promise<Figures> => {
  const dir = mkdtempSync(join(tmpdir(), "tidemark-cluster-"));
  const [plane, engine] = [await startControlPlane(binaries), await startEngine()];
  try {
    const apps = appsOf(size);
    await fillCluster(plane, apps);
    const adapter = await startMetricsAdapter(plane, apps, dir);
    const stage: Stage = { plane, adapter, apps, binaries, dir };
    try {
      const own = await measureOwn(stage, engine);
      print([{ workloads: size, ...own, hpa: {} }]);
      return { workloads: size, ...own, hpa: HPA_SIZES.has(size) ? await measureHpas(stage) : {} };
    } finally {
      await adapter.close();
    }
  } finally {
    await plane.close();
    await engine.close();
    rmSync(dir, { recursive: true, force: true });
  }
};

type RunningEngine = Awaited<ReturnType<(typeof ENGINES)[number]["start"]>>;

const measureOwn = async ({ plane, adapter, apps, dir }: Stage, engine: RunningEngine): Promise<Omit<Figures, "workloads" | "hpa">> => {
  const tables = testTables(engine.client, engine.tables, Date.now);
  const cluster = {
    name: clusterName("bench"),
    connection: { kind: "secret", secretId: "unused" },
    syncPeriodMs: PERIOD_MS,
    partitions: [{ name: WHOLE_CLUSTER }],
    settings: DEFAULT_SETTINGS,
    version: 1,
  } as const;
  await putCluster(tables, cluster, undefined);
  await eachDone(apps, 8, (app) => putAutoscaler(tables, recordOf(cluster, app), undefined));
  const subject = await startFunction(plane, engine, dir);
  const sync = (): Promise<Measured> => subject.sync({ cluster: cluster.name, partition: WHOLE_CLUSTER, dueMs: Date.now(), periodMs: PERIOD_MS });
  adapter.cpuMilli = CPU.calm;
  const { steady, serverMs } = await steadySyncs(plane, sync, Math.max(PACE_MIN_MS, apps.length * PACE_PER_WORKLOAD_MS));
  const lists = await bareLists(plane);
  adapter.cpuMilli = CPU.up;
  const burst = await untilAllScaled(sync, apps.length);
  await subject.stop();
  return { sync: medians(steady), serverMs, burst, lists };
};

/** Syncs in even steps, as in life: at uneven ones the windows must be written. What the API server takes at rest is subtracted. */
const steadySyncs = async (plane: Stage["plane"], sync: () => Promise<Measured>, paceMs: number) => {
  let nextMs = performance.now();
  const next = async (): Promise<Measured> => {
    await wait(Math.max(0, nextMs - performance.now()));
    nextMs += paceMs;
    return sync();
  };
  for (let count = 0; count < WARM_UP; count++) await next();
  const steady: Measured[] = [];
  const serverS = plane.apiServer.cpuSeconds();
  for (let count = 0; count < SYNCS; count++) steady.push(await next());
  await wait(Math.max(0, nextMs - performance.now()));
  const busyS = plane.apiServer.cpuSeconds() - serverS;
  await wait(REST_MS);
  const restS = plane.apiServer.cpuSeconds() - serverS - busyS;
  return { steady, serverMs: Math.max(0, (busyS * 1_000) / SYNCS - (restS * 1_000 * paceMs) / REST_MS) };
};

/** One sync scales all of them, unless the machine is so busy that its time ends before: then the next goes on, and their times are added. */
const untilAllScaled = async (sync: () => Promise<Measured>, workloads: number): Promise<Measured & { readonly syncs: number }> => {
  let all = { ...(await sync()), syncs: 1 };
  while (all.scales < workloads) {
    if (all.syncs >= BURST_SYNCS_MAX) throw new Error(`${all.syncs} syncs scaled ${all.scales} of ${workloads} workloads`);
    const next = await sync();
    const sums = { wallMs: all.wallMs + next.wallMs, ownMs: all.ownMs + next.ownMs, scales: all.scales + next.scales, syncs: all.syncs + 1 };
    all = { ...next, ...sums, blockedMs: Math.max(all.blockedMs, next.blockedMs) };
  }
  return all;
};

const medians = (measured: readonly Measured[]): Measured => {
  const of = (figure: (one: Measured) => number): number => median(measured.map(figure));
  const phases = Object.keys(measured[0]?.phasesMs ?? {});
  return {
    wallMs: of(({ wallMs }) => wallMs),
    ownMs: of(({ ownMs }) => ownMs),
    blockedMs: of(({ blockedMs }) => blockedMs),
    peakMiB: Math.max(...measured.map(({ peakMiB }) => peakMiB)),
    calls: of(({ calls }) => calls),
    bytes: of(({ bytes }) => bytes),
    scales: of(({ scales }) => scales),
    pages: of(({ pages }) => pages),
    phasesMs: Object.fromEntries(phases.map((phase) => [phase, of(({ phasesMs }) => phasesMs[phase] ?? 0)])),
  };
};

const measureHpas = async (stage: Stage): Promise<Readonly<Record<string, HpaFigures>>> => {
  if (hpaControllerMissing(stage.binaries)) throw new Error(`there is no kube-controller-manager in "${stage.binaries}" (KUBEBUILDER_ASSETS)`);
  await makeHpas(stage.plane, stage.apps);
  const figures: Record<string, HpaFigures> = {};
  for (const [name, flags] of Object.entries(HPA_FLAGS)) {
    await resetReplicas(stage);
    figures[name] = await measureHpa(stage, flags, CPU);
  }
  return figures;
};

/** Back to one replica each, by a write of ours: on its own the controller waits five minutes. */
const resetReplicas = ({ plane, apps }: Stage): Promise<unknown> =>
  eachDone(apps, 16, async ({ namespace, name }) => {
    const path = `/apis/apps/v1/namespaces/${namespace}/deployments/${name}/scale`;
    await plane.call("PATCH", path, { spec: { replicas: 1 } }, "application/merge-patch+json");
  });

const seconds = (ms: number): string => (ms / 1_000).toFixed(3);

const print = (all: readonly Figures[]): void => {
  const head = [
    "N",
    "sync s",
    "own CPU s",
    "API server CPU s",
    "calls",
    "KiB",
    "peak MiB",
    "blocked ms",
    "all scaled s",
    "syncs",
    "own CPU s",
    "blocked ms",
  ];
  const table = new Table({ head, style: { head: [], border: [] }, colAligns: head.map(() => "right") });
  for (const { workloads, sync, serverMs, burst } of all) {
    const steady = [seconds(sync.wallMs), seconds(sync.ownMs), seconds(serverMs), sync.calls, (sync.bytes / 1_024).toFixed(0)];
    const memory = [Math.max(sync.peakMiB, burst.peakMiB).toFixed(0), sync.blockedMs.toFixed(0)];
    table.push([workloads, ...steady, ...memory, seconds(burst.wallMs), burst.syncs, seconds(burst.ownMs), burst.blockedMs.toFixed(0)].map(String));
  }
  process.stdout.write(
    `${table.toString()}\nMedians of ${SYNCS} steady syncs, and those that scale every workload; the function's bundle in a process of its own\n`,
  );
  for (const { workloads, sync, lists, hpa } of all) {
    const phases = Object.entries(sync.phasesMs).map(([phase, ms]) => `${phase} ${ms.toFixed(0)}`);
    process.stdout.write(`N = ${workloads}: phases in ms: ${phases.join(", ")}; bare LISTs: ${lists}\n`);
    for (const [name, figures] of Object.entries(hpa)) process.stdout.write(`N = ${workloads}: the HPA, ${name}: ${hpaText(figures)}\n`);
  }
};

const hpaText = ({ roundS, ownS, serverS, medianS, lastS }: HpaFigures): string =>
  `round ${roundS.toFixed(1)} s, own CPU ${ownS.toFixed(2)} s and API server CPU ${serverS.toFixed(2)} s a round; load x3: median ${medianS.toFixed(1)} s, last ${lastS.toFixed(1)} s`;

const lastLine = ({ sync, serverMs, hpa }: Figures): string => {
  const ratios = Object.entries(hpa).map(([name, { serverS, ownS }]) => {
    const [server, own] = [(serverS * 1_000) / serverMs, (ownS * 1_000) / sync.ownMs];
    return `; the HPA (${name}) takes ${server.toFixed(0)} times the API server CPU and ${own.toFixed(0)} times the own CPU`;
  });
  return `N = 1,000: sync ${seconds(sync.wallMs)} s, API server CPU ${seconds(serverMs)} s, own CPU ${seconds(sync.ownMs)} s${ratios.join("")}`;
};
