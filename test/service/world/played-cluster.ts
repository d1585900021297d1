import { randomUUID } from "node:crypto";
import { queryKey } from "../../../lib/rules/model/query.ts";
import { labelIndex } from "../../../lib/rules/model/selector.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../../lib/rules/model/time-text.ts";
import { autoscalerName, autoscalerUid, namespace } from "../../../lib/rules/model/ids.ts";
import type { ClusterClient } from "../../../lib/stack/cluster/cluster-client.ts";
import { closeDays } from "../../store/close-days.ts";
import { insertEvents } from "../../../lib/stack/store/history/events.ts";
import { insertByStatement } from "../../../lib/stack/store/history/item.ts";
import { getAutoscaler, putAutoscaler } from "../../../lib/stack/store/records/autoscalers.ts";
import { PURE_PART } from "../../../lib/stack/sync/pure-part.ts";
import { loadCluster } from "../../bench/load-cluster.ts";
import type { Engine } from "../../contracts/engines.ts";
import { readyPod } from "../../observation.ts";
import { event } from "../../store/records.ts";
import { newWorld, PERIOD_MS, type World } from "../../sync/world.ts";
import { METRICS, namespaceOf, realManifest } from "./real-manifests.ts";
import { repeatFacts } from "./repeated-journal.ts";

/** Workloads have so many replicas at first, and their load keeps them there for most of the time. */
const REPLICAS = 6;
/** Scale events of each autoscaler in the 13 months before: 1.19 million of 10,000. */
const EVENTS_EACH = 119;
export const MONTHS_DAYS = 396;
/** An autoscaler of this name was deleted; its events are there. */
export const DELETED = "checkout-gone-0";
export const DELETED_EVENTS = 9;

/**
 * The past of a cluster. Two weeks are played by syncs of production: one an hour at first, one a
 * minute for two hours, and each one of the last hour. The facts of the two hours are stored again
 * for the day after them. In the middle of the last hour all autoscalers scale in one sync. Of the
 * months before only the events are stored.
 */
const EARLIER = { ms: 12 * DAY_MS, stepMs: HOUR_MS } as const;
const BY_MINUTE = { ms: 2 * HOUR_MS, stepMs: MINUTE_MS } as const;
const REPEATED = 12;
const BEFORE_BURST = { ms: HOUR_MS / 2, stepMs: PERIOD_MS } as const;
const AFTER_BURST = { ms: HOUR_MS / 2, stepMs: PERIOD_MS } as const;
const PLAYED_MS = EARLIER.ms + (1 + REPEATED) * BY_MINUTE.ms + BEFORE_BURST.ms + AFTER_BURST.ms;
/** One in so many autoscalers changes what it recommends in a sync. */
const CHANGES_ONE_IN = 2_000;

/** Numbers in [0, 1), the same in every run, so that a budget is a number and not a range. */
const numbers = (seed: number): (() => number) => {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
};

const queue = queryKey({ for: "external", metric: METRICS[1], metricSelector: "" });

/** The same with pods that are ready, and with the second metric of the manifests. */
const withPods = (client: ClusterClient, random: () => number): ClusterClient => ({
  ...client,
  observe: async (watched, limits) => {
    const seen = await client.observe(watched, limits);
    const observations = watched.flatMap(({ uid, spec }) => {
      const found = seen.observations.get(uid);
      if (!found) return [];
      const app = spec.target.name;
      const { scale, answers } = found.observation;
      const replicas = scale.kind === "read" ? scale.specReplicas : 0;
      const pods = Array.from({ length: replicas }, (_, at) =>
        readyPod(`${app}-${at}`, undefined, {
          labels: { app },
          owners: [{ kind: "ReplicaSet", name: `${app}-5f7c9` }],
        }),
      );
      const waiting = { milli: BigInt(Math.floor(replicas * 20_000 * random())), timestampMs: 0 };
      const observation = {
        ...found.observation,
        pods: labelIndex(pods),
        answers: new Map([...answers, [queue, { kind: "answered" as const, items: [waiting] }]]),
      };
      return [[uid, { ...found, observation }] as const];
    });
    return { ...seen, observations: new Map(observations) };
  },
});

/** Stores the events of 13 months: as many on each day, at random times of it. */
const storeEvents = async (
  world: World,
  names: readonly string[],
  random: () => number,
): Promise<void> => {
  const insert = insertByStatement(world.tables);
  const cluster = world.record.name;
  const storedMs = MONTHS_DAYS * DAY_MS - PLAYED_MS;
  const eventAt = (name: string, at: number) => {
    const atMs = world.nowMs - 1 - Math.floor(random() * storedMs);
    const from = 2 + Math.floor(random() * 20);
    const to = Math.max(1, from + (random() < 0.5 ? -1 : 1) * Math.ceil(random() * 9));
    const uid = autoscalerUid(randomUUID());
    return event({
      ...{ cluster, namespace: namespace(namespaceOf(name)), name: autoscalerName(name) },
      ...{ id: `${uid}:${at}`, uid, atMs, settledMs: atMs, from, to },
      target: { apiVersion: "apps/v1", kind: "Deployment", name },
      message: `External metric "load" is ${Math.floor(random() * 100_000)}m: ${to} replicas`,
    });
  };
  const all = [
    ...names.flatMap((name) => Array.from({ length: EVENTS_EACH }, (_, at) => eventAt(name, at))),
    ...Array.from({ length: DELETED_EVENTS }, (_, at) => eventAt(DELETED, at)),
  ];
  for (let at = 0; at < all.length; at += 500)
    await insertEvents(insert, all.slice(at, at + 500), 0);
};

/** One autoscaler has an override that has ended. */
const OVERRIDDEN = "checkout-worker-5";
const storeOverride = async ({ tables, record, nowMs }: World): Promise<void> => {
  const { name: cluster } = record;
  const ref = {
    cluster,
    namespace: namespace(namespaceOf(OVERRIDDEN)),
    name: autoscalerName(OVERRIDDEN),
  };
  const stored = await getAutoscaler(tables, ref);
  if (!stored) return;
  const override = {
    ...{ id: "a-0123456789", set: { min: 9 }, fromMs: nowMs, untilMs: nowMs + DAY_MS },
    ...{ reason: "a sale", by: "ada", atMs: nowMs },
  };
  const generation = stored.generation + 1;
  await putAutoscaler(tables, { ...stored, generation, overrides: [override] }, stored.generation);
};

/** A cluster with its past, and when its burst was. */
export interface PlayedCluster {
  readonly world: World;
  readonly names: readonly string[];
  readonly burstMs: number;
}

/** Plays the past of a cluster of so many autoscalers in tables of its own. */
export const playedCluster = async (
  engine: Pick<Engine, "client" | "tables">,
  autoscalers: number,
): Promise<PlayedCluster> => {
  const random = numbers(7);
  const names = Array.from({ length: autoscalers }, (_, at) => `checkout-worker-${at}`);
  const { client, loads } = loadCluster(names, REPLICAS);
  const workloads = Object.fromEntries(names.map((name) => [name, REPLICAS]));
  const world = await newWorld(engine.client, engine.tables, workloads, {
    ...{ manifestOf: realManifest, namespaceOf, newUid: randomUUID },
  });
  await storeEvents(world, names, random);
  await storeOverride(world);
  const worker = world.worker({
    rules: PURE_PART,
    connect: async () => withPods(client, random),
  });
  const levels = new Map(names.map((name) => [name, REPLICAS - 1]));
  const syncOnce = async (): Promise<void> => {
    for (const name of names) {
      if (random() * CHANGES_ONE_IN < 1) levels.set(name, 2 + Math.floor(random() * 20));
      loads.set(name, (levels.get(name) ?? 0) + 0.05 + 0.9 * random());
    }
    const report = await world.sync(worker);
    if (report.kind !== "completed") throw new Error(`a sync was dropped: ${report.why}`);
  };
  const played = async ({ ms, stepMs }: { readonly ms: number; readonly stepMs: number }) => {
    for (const endMs = world.nowMs + ms; world.nowMs < endMs; world.nowMs += stepMs)
      await syncOnce();
  };
  await played(EARLIER);
  const sinceMs = world.nowMs;
  await played(BY_MINUTE);
  const stretch = { sinceMs, untilMs: world.nowMs - 1 };
  await repeatFacts(world.tables, world.partition, stretch, REPEATED);
  world.nowMs += REPEATED * BY_MINUTE.ms;
  await played(BEFORE_BURST);
  const burstMs = world.nowMs;
  for (const name of names) levels.set(name, 3 * (levels.get(name) ?? 0) + 3);
  await played(AFTER_BURST);
  const { tables, record, nowMs } = world;
  while ((await closeDays(tables, insertByStatement(tables), record.name, nowMs)).length > 0);
  return { world, names, burstMs };
};
