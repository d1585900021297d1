/**
 * Names that are passed together are branded, so that the compiler tells them apart. At run time
 * all are plain text.
 */
declare const brand: unique symbol;
type Branded<Name extends string> = string & { readonly [brand]: Name };

/** Name of a cluster in Tidemark, a DNS-1123 label. */
export type ClusterName = Branded<"ClusterName">;
/**
 * A partition of a cluster: the namespaces that one sync decides. An undivided cluster has the
 * partition "default".
 */
export type PartitionName = Branded<"PartitionName">;
export type Namespace = Branded<"Namespace">;
/** Name of an autoscaler inside its namespace. */
export type AutoscalerName = Branded<"AutoscalerName">;
/**
 * Identity of one autoscaler from its creation to its deletion. A new autoscaler of the same name
 * gets another uid.
 */
export type AutoscalerUid = Branded<"AutoscalerUid">;
/** Group, kind, namespace and name of a workload in one text. */
export type WorkloadKey = Branded<"WorkloadKey">;

export const clusterName = (text: string): ClusterName => text as ClusterName;
export const partitionName = (text: string): PartitionName => text as PartitionName;
export const namespace = (text: string): Namespace => text as Namespace;
export const autoscalerName = (text: string): AutoscalerName => text as AutoscalerName;
export const autoscalerUid = (text: string): AutoscalerUid => text as AutoscalerUid;
export const workloadKeyOf = (text: string): WorkloadKey => text as WorkloadKey;

/** Uid of the autoscaler in the id of an intent or event, `<uid>:<epoch>`. */
export const uidOfIntent = (id: string): AutoscalerUid =>
  autoscalerUid(id.slice(0, id.lastIndexOf(":")));
/**
 * Epoch of the sync that decided it. The epochs of one autoscaler only grow, also where it moves to
 * another partition.
 */
export const epochOfIntent = (id: string): number => Number(id.slice(id.lastIndexOf(":") + 1));

/** The only partition of a cluster that is not divided. */
export const WHOLE_CLUSTER = partitionName("default");

/** The partition of one sync. */
export interface PartitionRef {
  readonly cluster: ClusterName;
  readonly partition: PartitionName;
}

export const partitionPath = ({ cluster, partition }: PartitionRef): string =>
  `${cluster}/${partition}`;

/** Names an autoscaler in commands and messages. */
export interface AutoscalerRef {
  readonly cluster: ClusterName;
  readonly namespace: Namespace;
  readonly name: AutoscalerName;
}
