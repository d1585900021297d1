import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Table from "cli-table3";
import { clusterName, WHOLE_CLUSTER } from "../../lib/rules/model/ids.ts";
import { DEFAULT_SETTINGS } from "../../lib/rules/model/spec-common.ts";
import { putAutoscaler } from "../../lib/stack/store/records/autoscalers.ts";
import { putCluster } from "../../lib/stack/store/records/clusters.ts";
import { mapWithLimit } from "../../lib/stack/store/table/wait-for-all.ts";
import { ENGINES, type Engine } from "../contracts/engines.ts";
import { controlPlaneBinaries } from "../control-plane/binaries.ts";
import { type App, appsOf, fillCluster } from "../control-plane/fill.ts";
import { startMetricsAdapter } from "../control-plane/metrics-adapter.ts";
import { startControlPlane } from "../control-plane/start.ts";
import { testTables } from "../sync/world.ts";
import { CPU, recordOf } from "./burst-subject.ts";
import type { Measured } from "./function-process.ts";
import { AS_512_MB, AS_DEPLOYED, type Started, startFunction } from "./function-under-test.ts";
import { median } from "./hpa-controller.ts";

/**
 * What the options of Node and the variables that serverless.yml gives to the function `sync` do to
 * the memory and CPU of a steady sync. The same workloads on a real API server are synced by one
 * process for each setting, in turns, so that other work on the machine slows all of them alike.
 * `PROCESS_MEMORY_WORKLOADS=100` chooses another size.
 */
const WORKLOADS = Number(process.env["PROCESS_MEMORY_WORKLOADS"] ?? "1000");
const one = (options: string, variables: Started["variables"] = {}): Started => ({
  options,
  variables,
});
const ONE_ARENA = { MALLOC_ARENA_MAX: "1" };
const YOUNG_8 = `${AS_512_MB} --max-semi-space-size=8`;
const SETTINGS: readonly Started[] = [
  AS_DEPLOYED,
  one(""),
  one(AS_512_MB),
  one(YOUNG_8),
  one(YOUNG_8, ONE_ARENA),
  one(`${AS_512_MB} --max-semi-space-size=4`, ONE_ARENA),
  one(`${AS_512_MB} --max-semi-space-size=16`, ONE_ARENA),
];
const WARM_UP = 6;
const ROUNDS = 24;
const PERIOD_MS = 15_000;

type Sync = () => Promise<Measured>;

const storeCluster = async (engine: Engine, name: string, apps: readonly App[]): Promise<void> => {
  const tables = testTables(engine.client, engine.tables, Date.now);
  const cluster = {
    name: clusterName(name),
    uid: `uid-of-${name}`,
    connection: { kind: "secret", secretId: "unused" },
    syncPeriodMs: PERIOD_MS,
    partitions: [{ name: WHOLE_CLUSTER }],
    settings: DEFAULT_SETTINGS,
    version: 1,
  } as const;
  await putCluster(tables, cluster, undefined);
  await mapWithLimit(apps, 8, (app) => putAutoscaler(tables, recordOf(cluster, app), undefined));
};

/** Each round syncs once with each setting, in an order that turns. */
const playRounds = async (
  syncs: readonly Sync[],
  rounds: number,
): Promise<readonly (readonly Measured[])[]> => {
  const measured: Measured[][] = syncs.map(() => []);
  for (let round = 0; round < rounds; round++) {
    for (const turn of syncs.keys()) {
      const at = (turn + round) % syncs.length;
      const result = await syncs[at]?.();
      if (result) measured[at]?.push(result);
    }
  }
  return measured;
};

const wordsOf = (setting: Started | undefined): string => {
  const variables = Object.entries(setting?.variables ?? {}).map(
    ([name, value]) => `${name}=${value}`,
  );
  return [...variables, setting?.options].filter((word) => word).join(" ") || "none";
};

const print = (measured: readonly (readonly Measured[])[]): void => {
  const head = [
    "variables and NODE_OPTIONS",
    "own CPU of a sync, ms",
    "ratio",
    "least",
    "ratio",
    "peak MiB",
  ];
  const table = new Table({
    head,
    style: { head: [], border: [] },
    colAligns: ["left", ...head.slice(1).map(() => "right" as const)],
  });
  const figures = measured.map((syncs) => ({
    middle: median(syncs.map(({ ownMs }) => ownMs)),
    least: Math.min(...syncs.map(({ ownMs }) => ownMs)),
    peak: Math.max(...syncs.map(({ peakMiB }) => peakMiB)),
  }));
  const [plain] = figures;
  for (const [at, { middle, least, peak }] of figures.entries()) {
    const ratios = [middle / (plain?.middle ?? 1), least / (plain?.least ?? 1)].map((ratio) =>
      ratio.toFixed(3),
    );
    table.push([
      at === 0 ? "as deployed" : wordsOf(SETTINGS[at]),
      middle.toFixed(0),
      ratios[0],
      least.toFixed(0),
      ratios[1],
      peak.toFixed(0),
    ]);
  }
  process.stdout.write(
    `${table.toString()}\n${WORKLOADS} workloads; ${ROUNDS} steady syncs of each setting in turns, after ${WARM_UP} that do not count\n`,
  );
};

export const run = async (): Promise<void> => {
  const binaries = controlPlaneBinaries();
  const engineKind = ENGINES.find(({ name }) => name === "dynoxide");
  if (
    binaries.kind === "missing" ||
    engineKind?.missing !== undefined ||
    engineKind === undefined
  ) {
    process.stdout.write(
      `Not measured: ${binaries.kind === "missing" ? binaries.message : engineKind?.missing}\n`,
    );
    process.exitCode = 1;
    return;
  }
  const dir = mkdtempSync(join(tmpdir(), "tidemark-process-memory-"));
  const [plane, engine] = [await startControlPlane(binaries.folder), await engineKind.start()];
  const apps = appsOf(WORKLOADS);
  await fillCluster(plane, apps);
  const adapter = await startMetricsAdapter(plane, apps, dir);
  adapter.cpuMilli = CPU.calm;
  const stops: (() => Promise<void>)[] = [];
  try {
    const syncs: Sync[] = [];
    for (const [at, setting] of SETTINGS.entries()) {
      const cluster = `bench-${at}`;
      await storeCluster(engine, cluster, apps);
      const subject = await startFunction(plane, engine, join(dir, cluster), setting);
      stops.push(subject.stop);
      syncs.push(() =>
        subject.sync({ cluster, partition: WHOLE_CLUSTER, dueMs: Date.now(), periodMs: PERIOD_MS }),
      );
    }
    await playRounds(syncs, WARM_UP);
    print(await playRounds(syncs, ROUNDS));
  } finally {
    for (const stop of stops) await stop();
    await adapter.close();
    await plane.close();
    await engine.close();
    rmSync(dir, { recursive: true, force: true });
  }
};
