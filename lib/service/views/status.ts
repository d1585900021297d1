import type { FrozenView, PauseView } from "./view-types.ts";
import type { ClusterState } from "./cluster-state.ts";
import type { OverrideView } from "./override-view.ts";

/** Whether everything works, in one document. The fields are documented in docs/cli.md; fields are added, never renamed. */
export interface StatusView {
  /** False when there is a problem. */
  readonly healthy: boolean;
  readonly at: string;
  readonly frozen?: FrozenView;
  readonly clusters: number;
  /** How many clusters are in each state; states of no cluster are absent. */
  readonly states: Readonly<Partial<Record<ClusterState | "unreadable", number>>>;
  readonly partitions: number;
  /** The syncs that were due in the last minute. `late`: not done, and due more than a period ago. */
  readonly syncs: { readonly planned: number; readonly done: number; readonly late: number };
  readonly paused: {
    readonly clusters: readonly (PauseView & { readonly name: string })[];
    readonly autoscalers: readonly (PauseView & { readonly cluster: string; readonly namespace: string; readonly name: string })[];
    /** Pauses of autoscalers that are not listed. */
    readonly more: number;
  };
  /** Overrides that are active now, the wider ones first. Absent where there are none, and in answers of earlier releases. */
  readonly overrides?: { readonly active: readonly OverrideView[]; readonly more: number };
  /** Messages in the two dead-letter queues; absent when it is not known. */
  readonly deadLetters?: DeadLetters;
  /** The most severe first. */
  readonly problems: readonly StatusProblem[];
  /** What may need a person although everything works: autoscalers at their maximum. Absent in answers of earlier releases. */
  readonly notices?: readonly StatusProblem[];
  /** The newest errors of clusters. */
  readonly errors: readonly { readonly cluster: string; readonly state: ClusterState; readonly since?: string; readonly error: string }[];
}

export interface DeadLetters {
  readonly syncs: number;
  /** Absent in the embedded run, which has no such queue. */
  readonly plans?: number;
}

export interface StatusProblem {
  readonly kind:
    | "ahead"
    | "at max"
    | "dead letters"
    | "failing"
    | "forbidden"
    | "late"
    | "never synced"
    | "over share"
    | "no run"
    | "refused"
    | "restored"
    | "rivals unknown"
    | "rule failed"
    | "unmeasured"
    | "unreachable"
    | "unreadable";
  /** A sentence. */
  readonly message: string;
  /** The next step: a command, or a page of the documentation. */
  readonly next: string;
}
