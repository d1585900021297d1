import type { ClusterRecord, ConnectionRecord } from "../../../rules/model/records.ts";
import type { SpecKindName } from "../../../rules/model/spec.ts";
import type { Scaled } from "../../../rules/doctor/beside/beside.ts";
import type { Diagnosis } from "../../../rules/doctor/examine.ts";
import type { Target } from "../discovery.ts";
import type { ScalableKind } from "../rights/rules.ts";

/** The cluster to look at, which need not be stored. */
export interface CheckedConnection
  extends Pick<ClusterRecord, "name">,
    Pick<ConnectionRecord, "connection"> {
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
  /** An autoscaler: only what else acts on the pods of its workload is looked at. */
  readonly scaled?: ScaledWorkload;
}

/** What an autoscaler does to its workload, and where. */
export interface ScaledWorkload extends Scaled {
  readonly namespace: string;
}

/** A workload by its apiVersion, kind and name. */
export interface WantedWorkload {
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
}

/**
 * `skipped` is a point that nothing needs here, such as the rights of an API that is not installed.
 */
export type CheckResult = "passed" | "warning" | "failed" | "skipped";

/**
 * What was found at one point of a connection. Words of the cluster in it are cut and escaped; it
 * never holds an address or a credential.
 */
export interface CheckedPoint {
  /** What was looked at: "reachable", "deployments.apps". */
  readonly check: string;
  readonly result: CheckResult;
  readonly message: string;
  /** What to do. Every point that failed or warns has it. */
  readonly fix?: string;
}

/** What a look at a cluster found. */
export interface ConnectionReport {
  readonly name: string;
  /** False where a necessary point failed: no sync could read and scale a workload. */
  readonly usable: boolean;
  readonly checks: readonly CheckedPoint[];
  /** The uid of the namespace kube-system; absent where it could not be read. */
  readonly kubeSystemUid?: string;
  /** The version that the API server said; absent where it did not say it. */
  readonly serverVersion?: string;
  /** What the rules of the doctor find beside a workload; absent where it was not looked at. */
  readonly findings?: readonly Diagnosis[];
}

export const passed = (check: string, message: string): CheckedPoint => ({
  check,
  result: "passed",
  message,
});
export const skipped = (check: string, message: string): CheckedPoint => ({
  check,
  result: "skipped",
  message,
});
export const warning = (check: string, message: string, fix: string): CheckedPoint => ({
  check,
  result: "warning",
  message,
  fix,
});
export const failed = (check: string, message: string, fix: string): CheckedPoint => ({
  check,
  result: "failed",
  message,
  fix,
});

export const checkReport = (
  name: string,
  checks: readonly CheckedPoint[],
  said: Pick<ConnectionReport, "kubeSystemUid" | "serverVersion"> = {},
): ConnectionReport => ({
  name,
  ...said,
  usable: checks.every(({ result }) => result !== "failed"),
  checks,
});
