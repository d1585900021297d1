import type { Connection } from "../../model/records.ts";
import type { TargetRef } from "../../model/spec-common.ts";
import type { SpecKindName } from "../../model/spec-kinds.ts";
import type { Condition, MetricStatus } from "../../model/windows.ts";
import type { MetricReading } from "../../report/metric-reading.ts";
import type { StateView } from "./cluster-state.ts";
import type { EventView, StepView } from "./event-view.ts";
import type { BoundsView, OverrideView } from "./override-view.ts";
import type { WindowsView } from "./windows.ts";

/**
 * The views: plain JSON with RFC 3339 times, the same from the embedded run and a deployed stack. The fields are documented in docs/cli.md; fields are added,
 * never renamed.
 */
export interface AutoscalerView {
  readonly cluster: string;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly generation: number;
  /** The dialect. It is "unknown", without the next three fields, when the stored manifest cannot be read. */
  readonly dialect: string;
  /** The owner in the manifest, if any. */
  readonly owner?: string;
  readonly target?: TargetRef;
  readonly minReplicas?: number;
  readonly maxReplicas?: number;
  /** The object in the cluster that it is read from. Absent where people store it. Its `generation` counts only the edits of the object. */
  readonly origin?: OriginView;
  readonly state: AutoscalerState;
  /** What holds it beside its metrics, as of the newest sync: "rival", "monitor", "dry run" or similar. */
  readonly heldBy?: string;
  /** The other controllers of the workload in the newest sync, with what they want. Absent where there is none. */
  readonly rivals?: readonly RivalView[];
  readonly paused?: PauseView;
  /** The pause of its cluster. */
  readonly clusterPaused?: PauseView;
  /** The freeze of the fleet. */
  readonly frozen?: FrozenView;
  /** The bounds that hold now, with where each comes from. Absent where only the manifest sets any. */
  readonly bounds?: BoundsView;
  /** The overrides that meet it, wider ones too, active or ahead. Absent where there is none. */
  readonly overrides?: readonly OverrideView[];
  /** Absent when the newest sync could not read the count. */
  readonly currentReplicas?: number;
  readonly desiredReplicas?: number;
  /** The last known count, and since when it cannot be read. Present only when the newest sync could not read it. */
  readonly lastKnown?: { readonly replicas: number; readonly at?: string };
  readonly metrics: readonly MetricView[];
  readonly conditions: readonly ConditionView[];
  /** The newest evaluation in the journal. */
  readonly decision?: DecisionView;
  readonly lastScaleAt?: string;
  /** The generation that the newest evaluation in the journal decided by. */
  readonly observedGeneration?: number;
  /** The metrics as the API of its kind has them: of an HPA those of autoscaling/v2. Absent before the first evaluation. */
  readonly currentMetrics?: readonly MetricStatus[];
  /** When the partition's last sync ended; the counts above are from that sync. Absent before the first. */
  readonly syncedAt?: string;
  readonly ageSeconds?: number;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly updatedBy: string;
  /** Why the stored manifest cannot be read; then nothing is decided for it. */
  readonly problem?: string;
  /** The manifest as it was given. */
  readonly manifest: unknown;
}

/**
 * One word for a table: `waiting` before its first sync, `frozen` by the kill switch, `paused` by itself or with its cluster, `forbidden` when the cluster refuses our credentials or rights for it, `failing` when it could not be
 * evaluated or its scale was refused otherwise, `shadow` beside another controller of the workload, `held` when something else beside its rules kept the count (an open scale), `limited` when a bound or rate cut the proposal, `invalid` when its stored manifest cannot be read.
 */
export type AutoscalerState = "active" | "failing" | "forbidden" | "frozen" | "held" | "invalid" | "limited" | "paused" | "shadow" | "waiting";

export interface RivalView {
  readonly kind: string;
  readonly name: string;
  readonly uid?: string;
  readonly desiredReplicas?: number;
  readonly lastScaleAt?: string;
  /** The condition that says most about its count. */
  readonly reason?: string;
  readonly message?: string;
}

export interface OriginView {
  readonly apiVersion: string;
  readonly kind: SpecKindName;
  readonly uid: string;
  readonly generation: number;
  /** Since when the cluster has no such object. */
  readonly goneAt?: string;
}

export interface PauseView {
  readonly by: string;
  readonly at: string;
  readonly until?: string;
}

export type MetricView = MetricReading;

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
  /** The decision without the hold that `reason` names; with `to` it is a scale. Absent when no hold was applied. */
  readonly withoutHold?: { readonly to?: number; readonly reason: string; readonly message: string };
  /** Why the scale was not made. */
  readonly refused?: string;
}

export interface Description extends AutoscalerView {
  /** The behavior of the spec after defaulting, if it has one. */
  readonly behavior?: unknown;
  readonly windows: WindowsView;
  /** The newest scale events, oldest first. */
  readonly events: readonly EventView[];
}

export interface Explanation {
  readonly cluster: string;
  readonly namespace: string;
  readonly name: string;
  /** The evaluation that is explained: the newest one at or before the given time. */
  readonly decision: DecisionView;
  readonly ageSeconds: number;
  /** The newest change of the count that Tidemark did not make, of the hour before the decision; absent where there was none. */
  readonly outside?: Pick<EventView, "at" | "settledAt" | "from" | "to" | "reason" | "message">;
  /** What the decision is read from. Evaluations are kept for 14 days, scale events for 13 months. */
  readonly stored: "evaluation" | "event";
  /** How long before the given time it was; absent where none was given. */
  readonly beforeSeconds?: number;
  readonly metrics: readonly MetricView[];
  readonly steps: readonly StepView[];
  /** The bounds that held at the decision. Absent where only the manifest set any, and in journals of earlier releases. */
  readonly bounds?: BoundsView;
  readonly windows: WindowsView;
  /** True when later syncs exist, so that "windows" are rebuilt from what is stored, and "notStored" says what is missing. */
  readonly windowsPartial: boolean;
  /** Sentences that say what would have to change for another outcome. */
  readonly otherwise: readonly string[];
}

export interface Applied {
  readonly cluster: string;
  readonly namespace: string;
  readonly name: string;
  readonly kind: string;
  readonly outcome: "created" | "configured" | "unchanged";
  /** Absent in a dry run that would create the autoscaler. */
  readonly uid?: string;
  readonly generation: number;
  /** Warnings about accepted manifests that may not mean what the author thinks. */
  readonly warnings: readonly string[];
}

export interface ClusterView extends StateView {
  readonly name: string;
  /** Absent where none is stored for this cluster. */
  readonly connection?: Connection;
  readonly syncPeriodSeconds: number;
  readonly partitions: readonly (StateView & {
    readonly name: string;
    readonly namespaces: readonly string[] | "all others";
    readonly syncedAt?: string;
    readonly ageSeconds?: number;
  })[];
  readonly paused?: PauseView;
  /** The removal that has begun and not ended. Until it ends, nothing can be applied. */
  readonly removing?: { readonly by: string; readonly at: string };
  /** The kinds of autoscalers that are read from the cluster. Absent: people store all of them. */
  readonly specsFromCluster?: readonly SpecKindName[];
  /** Hosts of the recommenders that autoscalers from objects may ask. Absent: none. */
  readonly recommenderHosts?: readonly string[];
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
  /** Present where the tables were restored or are a copy: no sync does anything until they are adopted. */
  readonly restored?: true;
}

/** The fleet after its restored tables were adopted. */
export interface FleetAdopted extends FleetView {
  readonly clusters: number;
  readonly autoscalers: number;
}

/** The fleet after the edit. */
export interface FleetEdited extends FleetView {
  /** False when the fleet was already frozen, and stays as it was. */
  readonly changed: boolean;
}

export interface FrozenView {
  readonly by: string;
  readonly at: string;
  readonly reason: string;
}
