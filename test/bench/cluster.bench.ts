import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { clusterName, WHOLE_CLUSTER } from "../../lib/rules/model/ids.ts";
import { DEFAULT_SETTINGS } from "../../lib/rules/model/spec-common.ts";
import { putAutoscaler } from "../../lib/stack/store/records/autoscalers.ts";
import { putCluster } from "../../lib/stack/store/records/clusters.ts";
import { mapWithLimit } from "../../lib/stack/store/table/wait-for-all.ts";
import { ENGINES } from "../contracts/engines.ts";
import { controlPlaneBinaries } from "../control-plane/binaries.ts";
import { appsOf, fillCluster } from "../control-plane/fill.ts";
import { startMetricsAdapter } from "../control-plane/metrics-adapter.ts";
import { startControlPlane } from "../control-plane/start.ts";
import { testTables } from "../sync/world.ts";
import { bareLists } from "./bare-lists.ts";
import { CPU, recordOf } from "./burst-subject.ts";
import { watchOthers } from "./busy.ts";
import { type Figures, keepFigures, lastLine, printFigures } from "./cluster-figures.ts";
import type { Measured } from "./function-process.ts";
import { startFunction } from "./function-under-test.ts";
import {
  HPA_FLAGS,
  hpaControllerMissing,
  makeHpas,
  measureHpa,
  median,
  reactionTo,
  type Stage,
} from "./hpa-controller.ts";

/**
 * Whole syncs of the function against a real API server, each workload a deployment of one pod with
 * one CPU metric; then the HPA controller of Kubernetes on the same server, for the same workloads.
 * `CLUSTER_SIZES=100,10000` chooses sizes, `CLUSTER_HPA=1000,3000` those with the controller (none
 * where it is empty), `CLUSTER_CONTROLLER=default` or `tuned` one of its two settings, and
 * `CLUSTER_KEEP=yes` writes the rows into docs/speed.md. Fails where it cannot measure.
 */
const sizesIn = (variable: string, otherwise: readonly number[]): readonly number[] =>
  process.env[variable]
    ?.split(",")
    .filter((text) => text !== "")
    .map(Number) ?? otherwise;
const SIZES = sizesIn("CLUSTER_SIZES", [100, 300, 1_000, 3_000, 10_000]);
const HPA_SIZES = new Set(sizesIn("CLUSTER_HPA", [1_000, 3_000]));
const CONTROLLERS = Object.entries(HPA_FLAGS).filter(
  ([name]) => (process.env["CLUSTER_CONTROLLER"] ?? name) === name,
);
const IS_KEPT = process.env["CLUSTER_KEEP"] === "yes";
const PROGRESS_EVERY = 1_000;
const SYNCS = 12;
const WARM_UP = 4;
const PACE_MIN_MS = 1_500;
const PACE_PER_WORKLOAD_MS = 1;
const REST_MS = 10_000;
const BURST_SYNCS_MAX = 40;
const PERIOD_MS = 15_000;

const say = (text: string): void => void process.stdout.write(`${text}\n`);

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
    const figures = await measureSize(size, binaries.folder, engine.start);
    all.push(figures);
    if (IS_KEPT) keepFigures([figures]);
  }
  printFigures(all);
  say(
    `Medians of ${SYNCS} steady syncs, and those that scale every workload; the function's bundle in a process of its own`,
  );
  if (IS_KEPT) say("docs/speed.md is written");
  const thousand = all.find(({ workloads }) => workloads === 1_000);
  if (thousand) say(lastLine(thousand));
};

const measureSize = async (
  size: number,
  binaries: string,
  startEngine: (typeof ENGINES)[number]["start"],
): Promise<Figures> => {
  const dir = mkdtempSync(join(tmpdir(), "tidemark-cluster-"));
  const [plane, engine] = [await startControlPlane(binaries), await startEngine()];
  try {
    const apps = appsOf(size);
    await fillCluster(plane, apps, (made) => {
      if (made % PROGRESS_EVERY === 0) say(`${made} of ${size} workloads are made`);
    });
    const adapter = await startMetricsAdapter(plane, apps, dir);
    const stage: Stage = { plane, adapter, apps, binaries, dir };
    try {
      const own = await measureOwn(stage, engine);
      printFigures([{ workloads: size, ...own, hpa: {} }]);
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

export type RunningEngine = Awaited<ReturnType<(typeof ENGINES)[number]["start"]>>;

const measureOwn = async (
  stage: Stage,
  engine: RunningEngine,
): Promise<Omit<Figures, "workloads" | "hpa">> => {
  const { plane, adapter, apps } = stage;
  const subject = await openSubject(stage, engine);
  const { sync } = subject;
  adapter.cpuMilli = CPU.calm;
  say(`${WARM_UP + SYNCS} steady syncs of ${apps.length} workloads`);
  const { steady, serverMs, others } = await steadySyncs(
    plane,
    sync,
    Math.max(PACE_MIN_MS, apps.length * PACE_PER_WORKLOAD_MS),
  );
  const lists = await bareLists(plane);
  adapter.cpuMilli = CPU.up;
  const bursts: Figures["burst"][] = [];
  const reaction = await reactionTo(stage, async () =>
    bursts.push(await untilAllScaled(sync, apps.length)),
  );
  await subject.stop();
  const [burst] = bursts;
  if (!burst) throw new Error("nothing was scaled");
  return { sync: medians(steady), serverMs, others, burst, reaction, lists };
};

/** The function in a process of its own, with tables that have an autoscaler for each workload. */
export const openSubject = async (
  { plane, apps, dir }: Pick<Stage, "plane" | "apps" | "dir">,
  engine: RunningEngine,
): Promise<{ readonly sync: () => Promise<Measured>; readonly stop: () => Promise<unknown> }> => {
  const tables = testTables(engine.client, engine.tables, Date.now);
  const cluster = {
    name: clusterName("bench"),
    uid: "uid-of-cluster",
    connection: { kind: "secret", secretId: "unused" },
    syncPeriodMs: PERIOD_MS,
    partitions: [{ name: WHOLE_CLUSTER }],
    settings: DEFAULT_SETTINGS,
    version: 1,
  } as const;
  await putCluster(tables, cluster, undefined);
  await mapWithLimit(apps, 8, (app) => putAutoscaler(tables, recordOf(cluster, app), undefined));
  const subject = await startFunction(plane, engine, dir);
  const sync = (): Promise<Measured> =>
    subject.sync({
      cluster: cluster.name,
      partition: WHOLE_CLUSTER,
      dueMs: Date.now(),
      periodMs: PERIOD_MS,
    });
  return { sync, stop: () => subject.stop() };
};

/**
 * Syncs in even steps, as in life: at uneven ones the windows must be written. What the API server
 * takes at rest is subtracted.
 */
export const steadySyncs = async (
  plane: Stage["plane"],
  sync: () => Promise<Measured>,
  paceMs: number,
) => {
  let nextMs = performance.now();
  const next = async (): Promise<Measured> => {
    await wait(Math.max(0, nextMs - performance.now()));
    nextMs += paceMs;
    return sync();
  };
  for (let count = 0; count < WARM_UP; count++) await next();
  const steady: Measured[] = [];
  const others = watchOthers();
  const ownCpu = process.cpuUsage();
  const [serverS, etcdS] = [plane.apiServer.cpuSeconds(), plane.etcd.cpuSeconds()];
  for (let count = 0; count < SYNCS; count++) steady.push(await next());
  await wait(Math.max(0, nextMs - performance.now()));
  const busyS = plane.apiServer.cpuSeconds() - serverS;
  const { user, system } = process.cpuUsage(ownCpu);
  const syncMs = steady.reduce((sum, { ownMs }) => sum + ownMs, 0);
  const share = others.share(
    (busyS + plane.etcd.cpuSeconds() - etcdS) * 1_000 + (user + system) / 1_000 + syncMs,
  );
  await wait(REST_MS);
  const restS = plane.apiServer.cpuSeconds() - serverS - busyS;
  return {
    steady,
    others: share,
    serverMs: Math.max(0, (busyS * 1_000) / SYNCS - (restS * 1_000 * paceMs) / REST_MS),
  };
};

/**
 * One sync scales all of them, unless the machine is so busy that its time ends before: then the
 * next goes on, and their times are added.
 */
const untilAllScaled = async (
  sync: () => Promise<Measured>,
  workloads: number,
): Promise<Measured & { readonly syncs: number }> => {
  let all = { ...(await sync()), syncs: 1 };
  while (all.scales < workloads) {
    if (all.syncs >= BURST_SYNCS_MAX)
      throw new Error(`${all.syncs} syncs scaled ${all.scales} of ${workloads} workloads`);
    const next = await sync();
    const sums = {
      wallMs: all.wallMs + next.wallMs,
      ownMs: all.ownMs + next.ownMs,
      scales: all.scales + next.scales,
      syncs: all.syncs + 1,
    };
    all = { ...next, ...sums, blockedMs: Math.max(all.blockedMs, next.blockedMs) };
  }
  return all;
};

export const medians = (measured: readonly Measured[]): Measured => {
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
    phasesMs: Object.fromEntries(
      phases.map((phase) => [phase, of(({ phasesMs }) => phasesMs[phase] ?? 0)]),
    ),
  };
};

const measureHpas = async (stage: Stage): Promise<Figures["hpa"]> => {
  if (hpaControllerMissing(stage.binaries))
    throw new Error(
      `there is no kube-controller-manager in "${stage.binaries}" (KUBEBUILDER_ASSETS)`,
    );
  await makeHpas(stage.plane, stage.apps);
  const figures: Record<string, Figures["hpa"][string]> = {};
  for (const [name, flags] of CONTROLLERS) {
    say(`the HPA controller of ${stage.apps.length} workloads, ${name}`);
    await resetReplicas(stage);
    figures[name] = await measureHpa(stage, flags, CPU);
  }
  return figures;
};

/** Back to one replica each, by a write of ours: on its own the controller waits five minutes. */
const resetReplicas = ({ plane, apps }: Stage): Promise<unknown> =>
  mapWithLimit(apps, 16, async ({ namespace, name }) => {
    const path = `/apis/apps/v1/namespaces/${namespace}/deployments/${name}/scale`;
    await plane.call("PATCH", path, { spec: { replicas: 1 } }, "application/merge-patch+json");
  });
