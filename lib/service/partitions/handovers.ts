import type { Namespace, PartitionName } from "../../model/ids.ts";
import type { ClusterRecord } from "../../model/records.ts";
import { partitionOf } from "../../store/records/partitions.ts";

type Partitions = Pick<ClusterRecord, "name" | "partitions">;

/** A move between partitions; a side is absent where no partition holds the namespaces. */
export interface Handover {
  readonly from?: PartitionName;
  readonly to?: PartitionName;
}

const handoverOf = (from: PartitionName | undefined, to: PartitionName | undefined): Handover => ({
  ...(from !== undefined && { from }),
  ...(to !== undefined && { to }),
});

/** The move of one namespace; `undefined` when it stays. */
export const handoverOfNamespace = (before: Partitions, after: Partitions, namespace: Namespace): Handover | undefined => {
  const [from, to] = [partitionOf(before, namespace), partitionOf(after, namespace)];
  return from === to ? undefined : handoverOf(from, to);
};

const restOf = ({ partitions }: Partitions): PartitionName | undefined => partitions.find(({ namespaces }) => namespaces === undefined)?.name;

/** All moves, also of namespaces without autoscalers, because an intent of a deleted autoscaler may still be open. */
export const handovers = (before: Partitions, after: Partitions): readonly Handover[] => {
  const named = new Set([...before.partitions, ...after.partitions].flatMap(({ namespaces }) => namespaces ?? []));
  const passing = [...named].flatMap((namespace) => handoverOfNamespace(before, after, namespace) ?? []);
  const [from, to] = [restOf(before), restOf(after)];
  return from === to ? passing : [...passing, handoverOf(from, to)];
};

/** The partitions to lease, always in the same order, so that two edits cannot wait for each other. */
export const leasedPartitions = (passing: readonly Handover[]): readonly PartitionName[] =>
  [...new Set(passing.flatMap(({ from, to }) => [from ?? [], to ?? []].flat()))].sort();
