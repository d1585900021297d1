import { PutItemCommand } from "@aws-sdk/client-dynamodb";
import {
  autoscalerName,
  autoscalerUid,
  clusterName,
  namespace,
  partitionName,
} from "../../lib/rules/model/ids.ts";
import {
  ANY_HOST,
  type AutoscalerRecord,
  type ClusterRecord,
  type TableIds,
} from "../../lib/rules/model/records.ts";
import { DEFAULT_SETTINGS } from "../../lib/rules/model/spec-common.ts";
import { putRecordParams } from "../../lib/stack/store/records/write.ts";
import {
  autoscalerKey,
  clusterKey,
  connectionKey,
  fleetKey,
  itemKey,
  sourceKey,
} from "../../lib/stack/store/table/keys.ts";
import { type SimulatedCluster, simulatedCluster, type Workload } from "./cluster.ts";
import { PODS_MAX } from "./manifests/bounds.ts";
import { newObjectStore, type ObjectStore } from "./objects/object-store.ts";
import { DIVIDED, REST } from "./orders.ts";
import { forecastItems } from "./plan-forecasts.ts";
import { sourceRecords } from "./sources/plan-sources.ts";
import { TABLE_NAMES } from "./tables.ts";
import type { PlannedAutoscaler, PlannedCluster, Timetable } from "./timetable.ts";

/**
 * Downscale stabilization of every cluster: the controller's five minutes, shortened so that a seed
 * sees several windows end.
 */
export const DOWNSCALE_STABILIZATION_MS = 120_000;

/** The clusters of a seed as they stand before anything happens. */
export const clustersOf = (
  { clusters, autoscalers }: Timetable,
  nowMs: () => number,
): ReadonlyMap<string, SimulatedCluster> =>
  new Map(
    clusters.map(({ name }) => {
      const inside = autoscalers.filter(({ cluster }) => cluster === name);
      return [
        name,
        simulatedCluster(
          name,
          { workloads: inside.map(workloadOf), objects: objectsOf(name, inside, nowMs) },
          nowMs,
        ),
      ];
    }),
  );

/** The same workloads on other API servers, with counts of their own. */
export const elsewhereOf = (
  { clusters, autoscalers }: Timetable,
  nowMs: () => number,
): ReadonlyMap<string, SimulatedCluster> =>
  new Map(
    clusters.map(({ name }) => {
      const inside = autoscalers.filter(({ cluster }) => cluster === name);
      const workloads = inside.map((planned) => ({
        ...workloadOf(planned),
        uid: `elsewhere-${planned.target.name}e`,
        replicas: countElsewhere(planned),
      }));
      return [
        name,
        simulatedCluster(
          name,
          {
            workloads,
            objects: objectsOf(`${name}-elsewhere`, inside, nowMs),
            identity: `${name}-elsewhere`,
          },
          nowMs,
        ),
      ];
    }),
  );

const objectsOf = (
  site: string,
  autoscalers: readonly PlannedAutoscaler[],
  nowMs: () => number,
): ObjectStore => {
  const objects = newObjectStore(site, nowMs);
  for (const { home, manifest } of autoscalers) if (home !== undefined) objects.apply(manifest);
  return objects;
};

const countElsewhere = ({ replicas }: PlannedAutoscaler): number => (replicas % PODS_MAX) + 1;

const workloadOf = ({
  cluster,
  namespace: inside,
  target,
  counted,
  replicas,
  load,
}: PlannedAutoscaler): Workload => ({
  cluster,
  namespace: inside,
  target,
  uid: `object-${target.name}`,
  replicas,
  resourceVersion: 100,
  generation: counted ? 1 : undefined,
  load,
  rivalSinceMs: undefined,
  gone: false,
});

/** Fills the state table with the clusters and autoscalers of a seed, as people had left it. */
export const fillTables = (
  { clusters, autoscalers, outages }: Timetable,
  { startMs, ids, forecasts }: Filled,
  execute: (command: unknown) => object,
): void => {
  const stored = (
    key: { pk: string; sk: string },
    record: object,
    counter: "generation" | "version",
  ): void => {
    execute(
      new PutItemCommand(
        putRecordParams(TABLE_NAMES.stateTable, {
          key,
          record,
          expected: { counter },
          token: "first",
        }),
      ),
    );
  };
  if (ids) stored(fleetKey, { tables: ids, version: 1 }, "version");
  for (const cluster of clusters) {
    const record = clusterRecord(cluster);
    stored(clusterKey(record.name), record, "version");
    const { name, uid } = record;
    stored(
      connectionKey(name),
      { cluster: name, connection: SIMULATED_CONNECTION, version: 1, uid },
      "version",
    );
  }
  if (outages)
    for (const source of sourceRecords()) stored(sourceKey(source.name), source, "version");
  for (const autoscaler of autoscalers.filter(({ home }) => home !== "object")) {
    const record = autoscalerRecord(autoscaler, startMs);
    stored(autoscalerKey(record), record, "generation");
  }
  if (forecasts)
    for (const cluster of clusters) {
      const records = autoscalers
        .filter((planned) => planned.cluster === cluster.name && planned.home !== "object")
        .map((planned) => autoscalerRecord(planned, startMs));
      for (const { pk, sk, ttlSeconds, body } of forecastItems(clusterRecord(cluster), records, {
        startMs,
        ...forecasts,
      }))
        execute(
          new PutItemCommand({
            TableName: TABLE_NAMES.historyTable,
            Item: {
              ...itemKey({ pk, sk }),
              ttl: { N: String(ttlSeconds) },
              body: { B: Buffer.from(body) },
            },
          }),
        );
    }
};

interface Filled {
  readonly startMs: number;
  readonly ids?: TableIds | undefined;
  /** Where manifests take the advice of forecasts: how those are drawn that were made before. */
  readonly forecasts?: Pick<Parameters<typeof forecastItems>[2], "random" | "faults"> | undefined;
}

/** The connection of the simulated clusters, which is never opened. */
export const SIMULATED_CONNECTION = { kind: "kubeconfig", path: "simulated" } as const;
export const ELSEWHERE = { kind: "kubeconfig", path: "elsewhere" } as const;

/** As every cluster that a person adds has one. */
const uidOfCluster = (name: string): string => `uid-${name}`;

const clusterRecord = (planned: PlannedCluster): ClusterRecord => {
  const { name, syncPeriodMs, partitions, settings, specsFromCluster } = clusterAdded(planned);
  return {
    name: clusterName(name),
    uid: uidOfCluster(name),
    syncPeriodMs,
    partitions: partitions.map((one) => ({
      name: partitionName(one.name),
      ...(one.namespaces && { namespaces: one.namespaces.map(namespace) }),
    })),
    settings: { ...DEFAULT_SETTINGS, ...settings },
    ...(specsFromCluster && { specsFromCluster }),
    recommenderHosts: [ANY_HOST],
    version: 1,
  };
};

/** What a person gives who adds the cluster, wherever it is. */
export const clusterAdded = ({
  name,
  periodMs,
  divided,
  specs,
}: Omit<PlannedCluster, "namespaces">) => ({
  name,
  syncPeriodMs: periodMs,
  partitions: divided ? DIVIDED : [REST],
  settings: { downscaleStabilizationMs: DOWNSCALE_STABILIZATION_MS },
  ...(specs && { specsFromCluster: specs }),
  recommenderHosts: [ANY_HOST],
});

const autoscalerRecord = (
  { cluster, namespace: inside, name, manifest }: PlannedAutoscaler,
  startMs: number,
): AutoscalerRecord => ({
  cluster: clusterName(cluster),
  namespace: namespace(inside),
  name: autoscalerName(name),
  uid: autoscalerUid(`uid-${name}`),
  generation: 1,
  manifest: JSON.stringify(manifest),
  createdMs: startMs,
  updatedMs: startMs,
  updatedBy: "a person",
  clusterUid: uidOfCluster(cluster),
});
