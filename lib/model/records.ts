import type { Because, ControllerEvent, GaugeWrite, MetricOutcome, StepOutcome, WriteOutcome } from "./decision.ts";
import type { AutoscalerName, AutoscalerRef, AutoscalerUid, ClusterName, Namespace, PartitionName } from "./ids.ts";
import type { ControllerSettings } from "./settings.ts";
import type { TargetRef } from "./spec-governed.ts";
import type { Status, Windows } from "./windows.ts";

/** The item that holds for every cluster of the account. */
export interface FleetRecord {
  /** The kill switch: while set, every sync holds and says so. */
  readonly frozen?: { readonly by: string; readonly atMs: number; readonly reason: string };
}

/** How a cluster is reached. Secrets are referred to, never stored in the table. */
export type Connection =
  | {
      readonly kind: "eks";
      /** As an editor gave them: compared with what AWS says of the cluster, never used. */
      readonly endpoint?: string;
      readonly caData?: string;
      readonly clusterId: string;
      readonly region: string;
      readonly roleArn?: string;
    }
  | { readonly kind: "secret"; readonly secretId: string; readonly context?: string }
  | { readonly kind: "kubeconfig"; readonly path: string; readonly context?: string };

export interface ClusterRecord {
  readonly name: ClusterName;
  /** Made when the cluster is added, never used again: another cluster of the same name has another. Absent in records that were stored before there were uids. */
  readonly uid?: string;
  readonly connection: Connection;
  readonly syncPeriodMs: number;
  /** When it was added, or its period or partitions last changed. Absent in older records. Its syncs are planned from there on, not from the next minute that is still unplanned. */
  readonly plannedFromMs?: number;
  /** Each partition and its namespaces; a partition without a list holds every namespace that no other partition names. */
  readonly partitions: readonly { readonly name: PartitionName; readonly namespaces?: readonly Namespace[] }[];
  readonly paused?: { readonly by: string; readonly atMs: number; readonly untilMs?: number };
  readonly settings: ControllerSettings;
  /** Somebody is removing it: no autoscaler may come (lib/service/edits/removal.ts). */
  readonly removing?: { readonly by: string; readonly atMs: number };
  /** Raised by every edit; an edit is a conditional write on it. */
  readonly version: number;
}

export interface AutoscalerRecord {
  readonly cluster: ClusterName;
  readonly namespace: Namespace;
  readonly name: AutoscalerName;
  readonly uid: AutoscalerUid;
  /** Raised by every edit (spec, pause, resume); an edit is a conditional write on it. */
  readonly generation: number;
  /** The manifest as given, JSON text; converted anew whenever it is loaded, so that a converter's mend reaches stored objects. */
  readonly manifest: string;
  readonly createdMs: number;
  readonly updatedMs: number;
  readonly updatedBy: string;
  readonly paused?: { readonly by: string; readonly atMs: number; readonly untilMs?: number };
}

/** A scale about to be made, stored in the head of its partition before any PUT (docs/architecture.md, "Exactly one effect"). */
export interface Intent {
  /** `<uid>:<epoch that stored it>`, also the id of its scale event. */
  readonly id: string;
  readonly uid: AutoscalerUid;
  readonly namespace: Namespace;
  readonly name: AutoscalerName;
  readonly target: TargetRef;
  readonly from: number;
  readonly to: number;
  readonly targetUid: string;
  readonly resourceVersion: string;
  readonly targetGeneration?: number;
  readonly decidedMs: number;
  readonly deadlineMs: number;
  /** Generation of the autoscaler's spec that decided it. */
  readonly specGeneration: number;
  readonly because: Because;
  /** Kept with the intent, so that whoever settles it can write the whole event. */
  readonly metrics: readonly MetricOutcome[];
  readonly steps: readonly StepOutcome[];
  /** The recommendation of the sync that decided it: settled by a later holder, it still belongs to the stabilization windows. */
  readonly recommendation?: number;
}

/**
 * A scale that is settled and has its event, while no windows page counts it yet: what the head keeps of its intent until a release names such a page. A holder that finds one
 * counts it; its sync died in between.
 */
export interface UncountedScale {
  /** The intent's, and the event's. */
  readonly id: string;
  readonly uid: AutoscalerUid;
  readonly from: number;
  readonly to: number;
  readonly outcome: WriteOutcome["kind"];
  readonly decidedMs: number;
  readonly settledMs: number;
  readonly recommendation?: number;
}

/** The immutable record of one attempt to scale. */
export interface ScaleEventRecord extends AutoscalerRef {
  readonly id: string;
  readonly uid: AutoscalerUid;
  readonly partition: PartitionName;
  readonly target: TargetRef;
  /** When it was decided. */
  readonly atMs: number;
  /** From a clock reading after the answer, or of the sync that settled it later; windows count from here. */
  readonly settledMs: number;
  readonly from: number;
  readonly to: number;
  readonly reason: string;
  readonly message: string;
  readonly metrics: readonly MetricOutcome[];
  readonly steps: readonly StepOutcome[];
  readonly specGeneration: number;
  readonly outcome: WriteOutcome["kind"];
  /** What the API server or the transport said, when it was not applied. */
  readonly detail?: string;
}

/** A person's edit; valid once the autoscaler has the generation it names. */
export interface ChangeRecord extends AutoscalerRef {
  /** uid + new generation. */
  readonly id: string;
  readonly atMs: number;
  readonly by: string;
  readonly verb: "apply" | "delete" | "pause" | "resume";
  /** Generation that it was made on, 0 for a new autoscaler: numbers of edits that never came about are left out, and this tells the ones that did. */
  readonly baseGeneration?: number;
  readonly before?: string;
  readonly after?: string;
}

/** A person's edit of a cluster, of the fleet or of what a partition stores, kept before it is made; it came about if the next one says that it met its `after`. */
export interface ScopeChangeRecord {
  /** Follows from the rest. */
  readonly id: string;
  readonly scope: "cluster" | "fleet" | "partition";
  /** Of a partition: "<cluster>/<partition>". */
  readonly name: string;
  /** That the record would get; of a partition, the epoch of the edit. */
  readonly version: number;
  readonly atMs: number;
  readonly by: string;
  readonly verb: "add" | "replace" | "pause" | "resume" | "remove" | "freeze" | "thaw" | "reset-windows" | "reset-intent";
  /** The records as JSON; absent before the first and after the last. */
  readonly before?: string;
  readonly after?: string;
}

/** What would be done if a hold were not there: a scale to `to`, or a hold for another reason. */
export interface WithoutHold {
  readonly to?: number;
  readonly because: Because;
}

/** What one sync found and decided for one autoscaler, as the journal keeps it. */
export interface Evaluation {
  readonly uid: AutoscalerUid;
  readonly namespace: Namespace;
  readonly name: AutoscalerName;
  readonly kind: "hold" | "scale";
  readonly failed: boolean;
  readonly from?: number;
  readonly to?: number;
  readonly because: Because;
  /** What the decision is without the hold that `because` names: a freeze, a pause, a rival. Absent where its own rules have the last word. */
  readonly withoutHold?: WithoutHold;
  readonly metrics: readonly MetricOutcome[];
  readonly steps: readonly StepOutcome[];
  readonly events: readonly ControllerEvent[];
  /** As it stood after this sync; absent where nothing was evaluated. */
  readonly status?: Status;
  /** What the dialect wrote to its series, in order; absent where it has none. */
  readonly gauges?: readonly GaugeWrite[];
}

/** The evaluations of one windows page in one sync. */
export interface JournalPage {
  readonly atMs: number;
  readonly epoch: number;
  readonly page: number;
  /** Only what changed since the page was last told whole, which is no more than a minute of syncs ago. */
  readonly partial?: true;
  readonly evaluations: readonly Evaluation[];
}

/** What one windows page keeps of one autoscaler. */
export interface StoredWindows {
  readonly uid: AutoscalerUid;
  readonly windows: Windows;
  /** The newest recommendation run also holds at every sync completed since: its end is the head's `evaluatedMs` where that is later. */
  readonly open: boolean;
}
