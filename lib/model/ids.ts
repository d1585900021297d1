/** Names that travel together are branded, so that three strings in a row cannot be mixed up (all are plain text at run time). */
declare const brand: unique symbol;
type Branded<Name extends string> = string & { readonly [brand]: Name };

/** Name of a cluster as people give it to Tidemark, a DNS-1123 label. */
export type ClusterName = Branded<"ClusterName">;
/** A partition of a cluster: a set of namespaces decided by one sync. The whole cluster is "default". */
export type PartitionName = Branded<"PartitionName">;
export type Namespace = Branded<"Namespace">;
/** Name of an autoscaler inside its namespace. */
export type AutoscalerName = Branded<"AutoscalerName">;
/** Identity of one autoscaler from its creation to its deletion; a new one of the same name has another. */
export type AutoscalerUid = Branded<"AutoscalerUid">;

export const clusterName = (text: string): ClusterName => text as ClusterName;
export const partitionName = (text: string): PartitionName => text as PartitionName;
export const namespace = (text: string): Namespace => text as Namespace;
export const autoscalerName = (text: string): AutoscalerName => text as AutoscalerName;
export const autoscalerUid = (text: string): AutoscalerUid => text as AutoscalerUid;

/** The partition that a cluster has when nobody divided it. */
export const WHOLE_CLUSTER = partitionName("default");

/** What one sync works on. */
export interface PartitionRef {
  readonly cluster: ClusterName;
  readonly partition: PartitionName;
}

/** Where an autoscaler lives, for people and messages. */
export interface AutoscalerRef {
  readonly cluster: ClusterName;
  readonly namespace: Namespace;
  readonly name: AutoscalerName;
}
