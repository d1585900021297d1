import { autoscalerName, namespace, type PartitionName } from "../../rules/model/ids.ts";
import type { AutoscalerRecord, ClusterRecord, FleetRecord } from "../../rules/model/records.ts";
import type { Head } from "../../stack/store/head/head.ts";
import { troubleKey } from "../../stack/store/head/troubles.ts";
import { statedIn } from "../../stack/store/summary/summary-items.ts";
import type { ListPart } from "../../stack/store/records/autoscalers.ts";
import { getFleet, partitionOf } from "../../stack/store/records/clusters.ts";
import { CLUSTERS_AT_ONCE, eachInGroups } from "../../stack/store/table/wait-for-all.ts";
import type { AutoscalerView } from "../views/autoscaler.ts";
import { storedSpec } from "./stored-spec.ts";
import type { QueryContext } from "./context.ts";
import {
  fleetNamed,
  findAutoscaler,
  type LocatedAutoscaler,
  mustRead,
  optionalNamespace,
  visibleAutoscalers,
} from "./find-autoscaler.ts";
import { streamOf } from "./facts/journals.ts";
import {
  type PartitionData,
  partitionData,
  type AutoscalerSnapshot,
} from "./partitions/partition-data.ts";
import type { AutoscalerCursor, AutoscalerListQuery, AutoscalerQuery } from "./service.ts";
import { autoscalerView } from "./views/autoscaler-view.ts";
import { present } from "../../rules/model/json.ts";

/**
 * Loads snapshots of the autoscalers of one cluster. Each partition's head and pages are read once.
 * status: a list shows nothing else of them, and is spared half of its reads.
 */
export const snapshotReader = (
  context: QueryContext,
  cluster: ClusterRecord,
  fleetRecord: FleetRecord | Promise<FleetRecord>,
  wanted: {
    readonly windows: "always" | "where needed";
    readonly ahead?: true;
    /** False where a head of a second ago will do, for half of the units. */
    readonly consistent?: boolean;
  },
) => {
  const partitions = new Map<string, Promise<PartitionData>>();
  const open = (partition: PartitionName): Promise<PartitionData> => {
    const loading =
      partitions.get(partition) ??
      partitionData(
        context,
        { cluster: cluster.name, partition },
        {
          periodMs: cluster.syncPeriodMs,
          ...present({ consistent: wanted.consistent }),
        },
      );
    partitions.set(partition, loading);
    return loading;
  };
  // The head of the only partition of a cluster is wanted in any case, and is read beside the list.
  const [only, ...others] = cluster.partitions;
  if (wanted.ahead && only && others.length === 0) open(only.name).catch(() => undefined);
  const dataOf = (record: AutoscalerRecord): Promise<PartitionData> | undefined => {
    const partition = partitionOf(cluster, record.namespace);
    return partition === undefined ? undefined : open(partition);
  };
  // All autoscalers use one instant, because the pages of the journal are cached by the instant
  // that they were asked for.
  const nowMs = context.clock();
  return async (record: AutoscalerRecord, atMs?: number): Promise<AutoscalerSnapshot> => {
    const [fleet, data] = await Promise.all([fleetRecord, dataOf(record)]);
    const readWindows = () => Promise.all([data?.windows(record), data?.windowsProblem(record)]);
    const [evaluated, ahead] = await Promise.all([
      data?.evaluation(record, Math.min(atMs ?? nowMs, nowMs)),
      wanted.windows === "always" ? readWindows() : undefined,
    ]);
    const isNeeded = evaluated?.evaluation.status === undefined;
    const [windows, windowsProblem] = ahead ?? (isNeeded ? await readWindows() : []);
    const syncedMs = data?.head?.evaluatedMs;
    const partition = partitionOf(cluster, record.namespace);
    return present({
      cluster,
      record,
      fleet,
      nowMs,
      spec: storedSpec(record),
      windows,
      windowsProblem,
      evaluated,
      stream: partition && streamOf({ cluster: cluster.name, partition }, record.uid, data?.head),
      syncedMs: syncedMs || undefined,
      sync: partition && syncOf(partition, data?.head),
      podsSinceMs: data?.head?.troubles.of.pods?.since.get(troubleKey(record.uid)),
    });
  };
};

const syncOf = (partition: PartitionName, head: Head | undefined): AutoscalerSnapshot["sync"] => {
  const stated = head && statedIn(head);
  return stated && { partition, tookMs: stated.tookMs };
};

/** Loads one autoscaler with its newest evaluation at or before `atMs` (default: now). */
export const loadSnapshot = async (
  context: QueryContext,
  { cluster, record }: LocatedAutoscaler,
  atMs?: number,
  windows: "always" | "where needed" = "always",
): Promise<AutoscalerSnapshot> =>
  snapshotReader(context, cluster, getFleet(context.tables), { windows })(record, atMs);

export const get = async (
  context: QueryContext,
  query: AutoscalerQuery,
): Promise<AutoscalerView> => {
  const located = await findAutoscaler(context, query);
  return autoscalerView(await loadSnapshot(context, located, undefined, "where needed"));
};

/**
 * Lists autoscalers after a cursor, in order of cluster, namespace and name. A record that cannot
 * be read ends the list with an error that names it.
 */
export async function* autoscalers(
  context: QueryContext,
  filter: AutoscalerListQuery,
  after?: AutoscalerCursor,
): AsyncGenerator<AutoscalerView> {
  for await (const known of snapshots(context, filter, after)) yield autoscalerView(known);
}

/** The same, with all that is stored of each. */
export async function* snapshots(
  context: QueryContext,
  { pageSize, room, ...filter }: AutoscalerListQuery,
  after?: AutoscalerCursor,
): AsyncGenerator<AutoscalerSnapshot> {
  const { fleet: readFleet, clusters: all, isEdited } = await fleetNamed(context, filter.cluster);
  const fleet = await readFleet();
  const clusters = all.filter(({ name }) => after === undefined || name >= after.cluster);
  const open = async (cluster: ClusterRecord) => {
    const rest =
      cluster.name === after?.cluster
        ? { namespace: namespace(after.namespace), name: autoscalerName(after.name) }
        : undefined;
    const views = snapshotsIn(context, cluster, {
      fleet,
      inside: filter.namespace,
      consistent: isEdited,
      ...present({ after: rest, pageSize }),
    });
    return { views, first: await views.next() };
  };
  let given = 0;
  for (let at = 0; at < clusters.length; ) {
    const together = pageSize === undefined ? openedTogether(at, given, room) : 1;
    for await (const { views, first } of eachInGroups(
      clusters.slice(at, at + together),
      together,
      open,
    )) {
      for (let next = first; !next.done; next = await views.next()) {
        given++;
        yield next.value;
      }
    }
    at += together;
  }
}

/**
 * Clusters whose first page is read together. A page of the API holds some thirteen clusters of a
 * hundred autoscalers, and what is read beyond its end is read again.
 */
const OPENED_FIRST = 9;

/**
 * How many clusters are opened after `read` of them, which had `given` autoscalers: so many as the
 * caller has room for, where they are as large, so that a page takes two groups.
 */
const openedTogether = (
  read: number,
  given: number,
  room = (): number => Number.POSITIVE_INFINITY,
): number =>
  read === 0
    ? OPENED_FIRST
    : Math.max(1, Math.min(CLUSTERS_AT_ONCE, Math.ceil((room() * read) / Math.max(1, given))));

async function* snapshotsIn(
  context: QueryContext,
  cluster: ClusterRecord,
  {
    fleet,
    inside,
    ...list
  }: { readonly fleet: FleetRecord; readonly inside: string | undefined } & ListPart,
): AsyncGenerator<AutoscalerSnapshot> {
  const { consistent = true } = list;
  const wanted = { windows: "where needed", ahead: true, consistent } as const;
  const read = snapshotReader(context, cluster, fleet, wanted);
  for await (const item of visibleAutoscalers(
    context,
    cluster.name,
    optionalNamespace(inside),
    list,
  ))
    yield read(mustRead(cluster.name, item));
}
