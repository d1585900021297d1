import type { Namespace, PartitionName } from "../../model/ids.ts";
import type { ClusterRecord } from "../../model/records.ts";
import { partitionOf } from "../../store/records/partitions.ts";

type Partitions = Pick<ClusterRecord, "name" | "partitions">;

/** What changes its partition; absent where no partition holds it. */
export interface Handover {
  readonly from?: PartitionName;
  readonly to?: PartitionName;
}

const handoverOf = (from: PartitionName | undefined, to: PartitionName | undefined): Handover => ({
  ...(from !== undefined && { from }),
  ...(to !== undefined && { to }),
});

/** How a namespace passes from one partition to another; `undefined` when it stays. */
export const handoverOfNamespace = (before: Partitions, after: Partitions, namespace: Namespace): Handover | undefined => {
  const [from, to] = [partitionOf(before, namespace), partitionOf(after, namespace)];
  return from === to ? undefined : handoverOf(from, to);
};

const restOf = ({ partitions }: Partitions): PartitionName | undefined => partitions.find(({ namespaces }) => namespaces === undefined)?.name;

/** Every way that namespaces pass, whether they have autoscalers or not: an intent may be open where none is left. */
export const handovers = (before: Partitions, after: Partitions): readonly Handover[] => {
  const named = new Set([...before.partitions, ...after.partitions].flatMap(({ namespaces }) => namespaces ?? []));
  const passing = [...named].flatMap((namespace) => handoverOfNamespace(before, after, namespace) ?? []);
  const [from, to] = [restOf(before), restOf(after)];
  return from === to ? passing : [...passing, handoverOf(from, to)];
};

/** The partitions that must stand still meanwhile, in one order for everybody who leases them. */
export const leasedPartitions = (passing: readonly Handover[]): readonly PartitionName[] =>
  [...new Set(passing.flatMap(({ from, to }) => [from ?? [], to ?? []].flat()))].sort();
