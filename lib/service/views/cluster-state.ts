/**
 * One word for a cluster or a partition. `never synced`: no sync has ended. `late`: none has ended for more than three periods. `unreachable`: no workload could be read, and the
 * cluster said of none that it is not there. `forbidden`: the cluster refuses our credentials or rights for every autoscaler. `partly failing`: anything else that could not be evaluated,
 * or partitions that differ. `frozen` and `paused` only where nothing fails: a freeze hides no outage.
 */
export type ClusterState = "forbidden" | "frozen" | "late" | "never synced" | "ok" | "partly failing" | "paused" | "unreachable";

export interface StateView {
  readonly state: ClusterState;
  /** Since when; absent where nothing that is stored tells. */
  readonly since?: string;
  /** What the newest sync was told, at most about 400 characters; absent where nothing fails. */
  readonly error?: string;
}
