import type { Limit, MetricOutcome } from "../../model/decision.ts";
import type { Connection } from "../../model/records.ts";
import type { TargetRef } from "../../model/spec-governed.ts";
import type { Condition } from "../../model/windows.ts";
import type { StateView } from "./cluster-state.ts";
import type { WindowsView } from "./windows.ts";

/**
 * What people are shown: plain JSON with RFC 3339 times, the same from the embedded run and from a deployed stack. The fields are documented in docs/cli.md; they are added
 * to, never renamed.
 */
export interface AutoscalerView {
  readonly cluster: string;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly generation: number;
  /** The rules that decide it; "unknown" and nothing of the next three when the stored manifest is no longer understood. */
  readonly dialect: string;
  /** Who answers for it, where its manifest says so. */
  readonly owner?: string;
  readonly target?: TargetRef;
  readonly minReplicas?: number;
  readonly maxReplicas?: number;
  readonly state: AutoscalerState;
  /** What holds it beside its metrics, as the newest sync found it: "rival", "monitor", "dry run" or the like. */
  readonly heldBy?: string;
  readonly paused?: PauseView;
  /** Its whole cluster is paused. */
  readonly clusterPaused?: PauseView;
  /** The fleet's kill switch is on. */
  readonly frozen?: FrozenView;
  /** Absent where the newest sync could not read the count. */
  readonly currentReplicas?: number;
  readonly desiredReplicas?: number;
  /** The count that was read last, and since when it could not be read again; only where the newest sync could not. */
  readonly lastKnown?: { readonly replicas: number; readonly at?: string };
  readonly metrics: readonly MetricView[];
  readonly conditions: readonly ConditionView[];
  /** The newest evaluation in the journal. */
  readonly decision?: DecisionView;
  readonly lastScaleAt?: string;
  /** When the partition's last sync ended; the counts above are of that sync. Absent before the first. */
  readonly syncedAt?: string;
  readonly ageSeconds?: number;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly updatedBy: string;
  /** Why the stored manifest is not understood any more; then nothing is decided for it. */
  readonly problem?: string;
  /** The manifest as it was applied. */
  readonly manifest: unknown;
}

/**
 * One word for a table: `waiting` before its first sync, `frozen` by the fleet's kill switch, `paused` itself or with its cluster, `failing` when it could not be
 * evaluated, `held` when something beside its rules kept the count (a rival controller, a scale whose outcome is not known), `limited` when a bound or rate cut what the metrics asked for, `invalid` when its stored manifest is no longer understood.
 */
export type AutoscalerState = "active" | "failing" | "frozen" | "held" | "invalid" | "limited" | "paused" | "waiting";

export interface PauseView {
  readonly by: string;
  readonly at: string;
  readonly until?: string;
}

/** As the newest sync found it; `unmeasured` while none has evaluated it. */
export type MetricView =
  /** `average`: of a percentage, the amount per pod that it was made of. */
  | (Exclude<MetricOutcome, { readonly kind: "failed" }> & { readonly average?: string })
  | (Extract<MetricOutcome, { readonly kind: "failed" }> & { readonly target?: string })
  | { readonly kind: "unmeasured"; readonly name: string; readonly type: string; readonly target: string };

export interface ConditionView {
  readonly type: string;
  readonly status: Condition["status"];
  readonly reason: string;
  readonly message: string;
  readonly since: string;
}

export interface DecisionView {
  readonly at: string;
  readonly kind: "hold" | "scale";
  readonly from?: number;
  readonly to?: number;
  readonly reason: string;
  readonly message: string;
  readonly failed: boolean;
  /** What the decision is without the hold that `reason` names; with `to` it is a scale. Absent where the rules have the last word. */
  readonly withoutHold?: { readonly to?: number; readonly reason: string; readonly message: string };
}

export interface Description extends AutoscalerView {
  /** Present where the spec has it, as the manifest's rules read after defaulting. */
  readonly behavior?: unknown;
  readonly windows: WindowsView;
  /** The newest scale events, oldest first. */
  readonly events: readonly EventView[];
}

export interface EventView {
  readonly id: string;
  readonly at: string;
  readonly settledAt: string;
  readonly cluster: string;
  readonly namespace: string;
  readonly name: string;
  readonly partition: string;
  readonly uid: string;
  readonly target: TargetRef;
  readonly from: number;
  readonly to: number;
  readonly reason: string;
  readonly message: string;
  readonly outcome: "applied" | "refused" | "unknown";
  readonly detail?: string;
  readonly specGeneration: number;
  readonly metrics: readonly MetricView[];
  readonly steps: readonly StepView[];
}

export interface StepView {
  readonly step: string;
  readonly before: number;
  readonly after: number;
  readonly limit?: Omit<Limit, "untilMs"> & { readonly until?: string };
}

export interface Explanation {
  readonly cluster: string;
  readonly namespace: string;
  readonly name: string;
  /** Of the evaluation that is explained: the newest one at or before the time asked for. */
  readonly decision: DecisionView;
  readonly ageSeconds: number;
  readonly metrics: readonly MetricView[];
  readonly steps: readonly StepView[];
  readonly windows: WindowsView;
  /** True for an evaluation that others followed: what has left every window since is missing in "windows". */
  readonly windowsPartial: boolean;
  /** Sentences: what would have to change for another outcome. */
  readonly otherwise: readonly string[];
}

export interface Applied {
  readonly cluster: string;
  readonly namespace: string;
  readonly name: string;
  readonly kind: string;
  readonly outcome: "created" | "configured" | "unchanged";
  readonly generation: number;
  /** Remarks about what was accepted but is not as the writer may think. */
  readonly warnings: readonly string[];
}

export interface ClusterView extends StateView {
  readonly name: string;
  readonly connection: Connection;
  readonly syncPeriodSeconds: number;
  readonly partitions: readonly (StateView & {
    readonly name: string;
    readonly namespaces: readonly string[] | "all others";
    readonly syncedAt?: string;
    readonly ageSeconds?: number;
  })[];
  readonly paused?: PauseView;
  /** Somebody began to remove it, and has not come to the end: nothing can be applied to it meanwhile. */
  readonly removing?: { readonly by: string; readonly at: string };
  readonly settings: {
    readonly tolerance: number;
    readonly downscaleStabilizationSeconds: number;
    readonly cpuInitializationPeriodSeconds: number;
    readonly initialReadinessDelaySeconds: number;
  };
  readonly version: number;
  readonly autoscalers?: number;
}

export interface FleetView {
  readonly frozen?: FrozenView;
}

/** The fleet after an edit. */
export interface FleetEdited extends FleetView {
  /** False where it was frozen already, and stays frozen as it was. */
  readonly changed: boolean;
}

export interface FrozenView {
  readonly by: string;
  readonly at: string;
  readonly reason: string;
}
