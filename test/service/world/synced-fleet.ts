import { randomUUID } from "node:crypto";
import { autoscalerName, namespace } from "../../../lib/rules/model/ids.ts";
import { DAY_MS } from "../../../lib/rules/model/time-text.ts";
import { closeDays } from "../../store/close-days.ts";
import { insertEvents } from "../../../lib/stack/store/history/events.ts";
import { insertByStatement } from "../../../lib/stack/store/history/item.ts";
import type { Tables } from "../../../lib/stack/store/table/tables.ts";
import type { Engine } from "../../contracts/engines.ts";
import { event } from "../../store/records.ts";
import { demandRules } from "../../sync/demand-rules.ts";
import { newWorld, type World } from "../../sync/world.ts";

export interface Fleet {
  readonly tables: Tables;
  readonly nowMs: number;
  readonly cluster: string;
  readonly clusters: number;
  readonly autoscalers: number;
}

const manifestOf = (name: string): string =>
  JSON.stringify({
    ...{
      apiVersion: "autoscaling/v2",
      kind: "HorizontalPodAutoscaler",
      metadata: { name, namespace: "shop", labels: { app: name } },
    },
    spec: {
      scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name },
      minReplicas: 1,
      maxReplicas: 100,
    },
  });

/**
 * Scale events of thirteen months: one in each cluster on each of so many days. They are closed as
 * the syncs of those days do it.
 */
export const EVENT_DAYS_AGO = Array.from({ length: 13 }, (_, month) => 2 + 30 * month);

const withHistory = async ({ record, tables, nowMs }: World): Promise<void> => {
  const insert = insertByStatement(tables);
  const { name: cluster } = record;
  for (const [at, days] of EVENT_DAYS_AGO.entries()) {
    const atMs = nowMs - days * DAY_MS;
    const one = event({
      cluster,
      namespace: namespace("shop"),
      name: autoscalerName(`checkout-worker-${at}`),
      id: `uid-${cluster}:${at}`,
      atMs,
      settledMs: atMs,
    });
    await insertEvents(insert, [one]);
  }
};

const closed = async ({ record, tables, nowMs }: World): Promise<void> => {
  while ((await closeDays(tables, insertByStatement(tables), record.name, nowMs)).length > 0);
};

/**
 * One sync of each cluster, which writes summary and index. `isClosed`: the days of its events are
 * counted.
 */
export const builtFleet = async (
  engine: Engine,
  [clusters, each]: readonly [clusters: number, each: number],
  isClosed = true,
): Promise<Fleet> => {
  const workloads = Object.fromEntries(
    Array.from({ length: each }, (_, at) => [`checkout-worker-${at}`, 1 + (at % 40)]),
  );
  const worlds: World[] = [];
  for (let at = 0; at < clusters; at++) {
    const world = await newWorld(engine.client, engine.tables, workloads, {
      manifestOf,
      newUid: randomUUID,
    });
    const rules = demandRules(world.cluster);
    await world.sync(
      world.worker({
        rules: { ...rules, specOf: (manifest) => rules.specOf(JSON.parse(manifest).metadata.name) },
      }),
    );
    await withHistory(world);
    if (isClosed) await closed(world);
    worlds.push(world);
  }
  const [first] = worlds as [World, ...World[]];
  return {
    tables: first.tables,
    nowMs: first.nowMs,
    cluster: first.record.name,
    clusters,
    autoscalers: clusters * each,
  };
};
