import type { ClusterRecord, ConnectionRecord } from "../../model/records.ts";
import type { SpecKindName } from "../../model/spec-kinds.ts";
import type { Target } from "../discovery.ts";
import type { ScalableKind } from "../rights/rules.ts";

/** The cluster to look at, which need not be stored. */
export interface CheckedConnection extends Pick<ClusterRecord, "name">, Pick<ConnectionRecord, "connection"> {
  /** The namespaces of its partitions, where all of them name theirs. Absent: the whole cluster. */
  readonly namespaces?: readonly string[];
  /** Custom resources that are scaled, beside the built-in kinds. */
  readonly kinds?: readonly ScalableKind[];
  /** Each apiVersion and kind that a stored autoscaler of the cluster scales. */
  readonly targets?: readonly Target[];
  /** A workload of a built-in kind that is looked for. */
  readonly workload?: WantedWorkload;
  /** Kinds of autoscalers that are read from the cluster. */
  readonly specsFromCluster?: readonly SpecKindName[];
}

/** A workload by its apiVersion, kind and name. */
export interface WantedWorkload {
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
}
