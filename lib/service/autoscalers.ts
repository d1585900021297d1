import { autoscalerName, namespace } from "../model/ids.ts";
import type { AutoscalerRecord, ClusterRecord, FleetRecord } from "../model/records.ts";
import { listAutoscalers } from "../store/records/autoscalers.ts";
import { getFleet } from "../store/records/clusters.ts";
import { partitionOf } from "../store/records/partitions.ts";
import { storedSpec } from "./apply/manifest-inputs.ts";
import type { ReadingDesk } from "./context.ts";
import { clustersNamed, type Found, mustRead, optionalNamespace } from "./find.ts";
import type { Known } from "./known.ts";
import { type PartitionData, partitionData } from "./partitions/partition-data.ts";
import type { AutoscalerPlace, Filter } from "./service.ts";
import type { AutoscalerView } from "./views/autoscaler.ts";
import { autoscalerView } from "./views/autoscaler-of.ts";

/** Reads what is known of autoscalers of one cluster; each partition's head and pages are read once. */
export const knownReader = (desk: ReadingDesk, cluster: ClusterRecord, fleet: FleetRecord) => {
  const partitions = new Map<string, Promise<PartitionData>>();
  const dataOf = (record: AutoscalerRecord): Promise<PartitionData> | undefined => {
    const partition = partitionOf(cluster, record.namespace);
    if (partition === undefined) return undefined;
    const known = partitions.get(partition) ?? partitionData(desk, { cluster: cluster.name, partition });
    partitions.set(partition, known);
    return known;
  };
  // One instant for all of them: pages of the journal are kept by the instant that they were asked for.
  const nowMs = desk.clock();
  return async (record: AutoscalerRecord, atMs?: number): Promise<Known> => {
    const data = await dataOf(record);
    const windows = await data?.windows(record);
    const windowsProblem = await data?.windowsProblem(record);
    const evaluated = await data?.evaluation(record, Math.min(atMs ?? nowMs, nowMs));
    const syncedMs = data?.head?.nowMs;
    return {
      cluster,
      record,
      fleet,
      nowMs,
      spec: storedSpec(record),
      ...(windows && { windows }),
      ...(windowsProblem !== undefined && { windowsProblem }),
      ...(evaluated && { evaluated }),
      ...(syncedMs !== undefined && syncedMs > 0 && { syncedMs }),
    };
  };
};

/** What is known of one autoscaler; its newest evaluation at or before `atMs` (default: now). */
export const known = async (desk: ReadingDesk, { cluster, record }: Found, atMs?: number): Promise<Known> =>
  knownReader(desk, cluster, await getFleet(desk.tables))(record, atMs);

/** In order of cluster, namespace and name, what comes after a place; an item that cannot be read ends the list with its name. */
export async function* autoscalers(desk: ReadingDesk, filter: Filter, after?: AutoscalerPlace): AsyncGenerator<AutoscalerView> {
  const fleet = await getFleet(desk.tables);
  for (const cluster of await clustersNamed(desk, filter.cluster)) {
    if (after !== undefined && cluster.name < after.cluster) continue;
    const read = knownReader(desk, cluster, fleet);
    const rest = cluster.name === after?.cluster ? { namespace: namespace(after.namespace), name: autoscalerName(after.name) } : undefined;
    for await (const item of listAutoscalers(desk.tables, cluster.name, optionalNamespace(filter.namespace), rest)) {
      yield autoscalerView(await read(mustRead(cluster.name, item)));
    }
  }
}
