import type { Namespace, PartitionName, PartitionRef } from "../../model/ids.ts";
import type { ClusterRecord } from "../../model/records.ts";
import type { Tables } from "../table/tables.ts";
import { type AutoscalerItem, listAutoscalers } from "./autoscalers.ts";

type Partitions = Pick<ClusterRecord, "name" | "partitions">;

/** The partition of a namespace: the one that names it, otherwise the one without a list; absent when there is neither. */
export const partitionOf = (cluster: Partitions, namespace: Namespace): PartitionName | undefined =>
  (
    cluster.partitions.find(({ namespaces }) => namespaces?.includes(namespace)) ??
    cluster.partitions.find(({ namespaces }) => namespaces === undefined)
  )?.name;

/** The namespaces that a sync of the partition reads: the namespaces of its list, or all. */
export const namespacesOf = (cluster: Partitions, partition: PartitionName): readonly Namespace[] | "all" =>
  cluster.partitions.find(({ name }) => name === partition)?.namespaces ?? "all";

/** The autoscalers of a partition, in order of namespace and name. */
export async function* autoscalersOf(tables: Tables, cluster: Partitions, { partition }: PartitionRef): AsyncGenerator<AutoscalerItem> {
  const namespaces = namespacesOf(cluster, partition);
  if (namespaces !== "all") {
    for (const namespace of [...namespaces].sort()) yield* listAutoscalers(tables, cluster.name, namespace);
    return;
  }
  for await (const item of listAutoscalers(tables, cluster.name)) {
    const namespace = item.kind === "read" ? item.record.namespace : (item.namespace as Namespace);
    if (partitionOf(cluster, namespace) === partition) yield item;
  }
}
