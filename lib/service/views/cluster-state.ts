/**
 * One word for a cluster or a partition. `never synced`: no sync has ended. `late`: none has ended for more than three periods. `unreachable`: no workload could be read, and
 * the cluster did not answer "not found" for any. `forbidden`: the cluster refuses our credentials or rights for every autoscaler, or for every scale. `failing`: it answers, and no autoscaler
 * could be evaluated, or no scale made. `partly failing`: some failed, or partitions that differ. `frozen` and `paused` only when nothing fails, so that a freeze hides no outage.
 */
export type ClusterState = "failing" | "forbidden" | "frozen" | "late" | "never synced" | "ok" | "partly failing" | "paused" | "unreachable";

export interface StateView {
  readonly state: ClusterState;
  /** When the state began; absent when it is not stored. */
  readonly since?: string;
  /** The error of the newest sync, at most about 400 characters; absent when nothing fails. */
  readonly error?: string;
}
