import type { Because, ControllerEvent, FailedRead, GaugeWrite, MetricOutcome, Refusal, StepOutcome, WriteOutcome } from "./decision.ts";
import type { AutoscalerName, AutoscalerRef, AutoscalerUid, ClusterName, Namespace, PartitionName } from "./ids.ts";
import type { Override } from "./override.ts";
import type { KnownRivals, Rival } from "./rival-state.ts";
import type { Calendar } from "./schedule.ts";
import type { ControllerSettings } from "./settings.ts";
import type { TargetRef } from "./spec-common.ts";
import type { SpecKindName } from "./spec-kinds.ts";
import type { InForce, SeenCount, Status, Windows } from "./windows.ts";

/** The settings for all clusters of the account. */
export interface FleetRecord {
  /** The kill switch. While it is set, every sync holds and says so. */
  readonly frozen?: { readonly by: string; readonly atMs: number; readonly reason: string };
  /** The tables that this record was written for. Every sync holds in other ones, until a person adopts them. Absent before the first cluster. */
  readonly tables?: TableIds;
  /** How often restored tables were adopted. */
  readonly restores?: number;
  /** Overrides of every autoscaler of the fleet, expired ones too. Absent: none. */
  readonly overrides?: readonly Override[];
  /** Days on which windows of schedules that name a calendar do not start; in order of name. Absent: none. */
  readonly calendars?: readonly Calendar[];
}

/** The ids of both tables, as their service gives them. */
export interface TableIds {
  readonly state: string;
  readonly history: string;
}

/** How to reach a cluster. The table stores the name of a secret, never the secret. */
export type Connection =
  | {
      readonly kind: "eks";
      /** Given by an editor. They are compared with the description of the cluster by AWS, and never used to connect. */
      readonly endpoint?: string;
      readonly caData?: string;
      readonly clusterId: string;
      readonly region: string;
      readonly roleArn?: string;
    }
  | { readonly kind: "secret"; readonly secretId: string; readonly context?: string }
  | { readonly kind: "kubeconfig"; readonly path: string; readonly context?: string };

/** The connection of a cluster, in an item of its own: the function that edits may write the record of a cluster, and has no right to write this (infra/roles.yml). */
export interface ConnectionRecord {
  readonly cluster: ClusterName;
  /** The cluster that it was stored for. It connects no other cluster of this name. */
  readonly uid?: string;
  readonly connection: Connection;
  /** The uid of the namespace kube-system when the connection was stored: the identity of the cluster. Absent where it could not be read, or the connection was stored with force. */
  readonly kubeSystemUid?: string;
  /** The version of the cluster that it was stored with, or a later one. */
  readonly version: number;
}

/** Allows every host. */
export const ANY_HOST = "*";

export interface ClusterRecord {
  readonly name: ClusterName;
  /** Made when the cluster is added. Another cluster of the same name gets another uid. Absent in records of older versions. */
  readonly uid?: string;
  /** The version of this record with which a person last stated the connection; absent means 0. What was read over an earlier connection says nothing about this one. */
  readonly connectionVersion?: number;
  readonly syncPeriodMs: number;
  /** When it was added, or its period or partitions last changed. Its syncs are planned from there on, not from the next minute that is still unplanned. Absent in records of older versions. */
  readonly plannedFromMs?: number;
  /** Each partition with its namespaces. A partition without a list has every namespace that no other partition names. */
  readonly partitions: readonly { readonly name: PartitionName; readonly namespaces?: readonly Namespace[] }[];
  readonly paused?: { readonly by: string; readonly atMs: number; readonly untilMs?: number };
  readonly settings: ControllerSettings;
  /** The kinds of autoscalers that are read from the cluster itself. Absent: every autoscaler is stored by people, as in records of older versions. */
  readonly specsFromCluster?: readonly SpecKindName[];
  /** Hosts of the recommenders that autoscalers may ask: "recommender.example.com", with a port, or ANY_HOST; for http behind "http://". Absent: none. */
  readonly recommenderHosts?: readonly string[];
  /** Present after restored tables were adopted: a part of the name under which scales are made, so that two stacks with copies of one table see each other. */
  readonly restoredAs?: string;
  /** Present while the cluster is being removed. No autoscaler may be added then (lib/service/edits/removal.ts). */
  readonly removing?: { readonly by: string; readonly atMs: number };
  /** Overrides of the cluster, and those of its namespaces, which name theirs; expired ones too. Absent: none. */
  readonly overrides?: readonly Override[];
  /** Raised by every edit. An edit is a conditional write on it. */
  readonly version: number;
}

export interface AutoscalerRecord {
  readonly cluster: ClusterName;
  readonly namespace: Namespace;
  readonly name: AutoscalerName;
  readonly uid: AutoscalerUid;
  /** Raised by every edit (spec, pause, resume). An edit is a conditional write on it. */
  readonly generation: number;
  /** The manifest of the user as JSON text. It is converted each time it is loaded, so that a fix of the conversion reaches stored autoscalers. */
  readonly manifest: string;
  readonly createdMs: number;
  readonly updatedMs: number;
  readonly updatedBy: string;
  readonly paused?: { readonly by: string; readonly atMs: number; readonly untilMs?: number };
  /** Overrides of this autoscaler, expired ones too. Absent: none. */
  readonly overrides?: readonly Override[];
  /** The uid of the cluster that the last apply meant. A cluster that was removed and added again has another. Absent in copies of objects, and in records of older versions. */
  readonly clusterUid?: string;
  /** The object in the cluster that this record is a copy of. Absent where people store the manifest in Tidemark. */
  readonly origin?: ClusterOrigin;
  /** The newest change of it that the history holds whole: later changes are stored as differences from that one. Absent where there is none. */
  readonly wholeChange?: { readonly generation: number; readonly atMs: number };
}

/** The object of a cluster that an autoscaler was read from. Its namespace and name are those of the record. */
export interface ClusterOrigin {
  readonly apiVersion: string;
  readonly kind: SpecKindName;
  readonly uid: string;
  /** `metadata.generation` of the object. The generation of the record also counts pauses. */
  readonly generation: number;
  /** When the manifest of the record was stored. The next one is stored a minute later at the earliest. Absent where people had stored it. */
  readonly storedMs?: number;
  /** When a LIST first had no such object. The autoscaler holds from then on, and the record ends some time later. */
  readonly goneMs?: number;
}

/** A scale about to be made, stored in the head of its partition before any PUT (docs/architecture.md, "Exactly one effect"). */
export interface Intent {
  /** `<uid>:<epoch that stored it>`. Its scale event has the same id. */
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
  /** Generation of the autoscaler when it was decided. */
  readonly specGeneration: number;
  readonly because: Because;
  /** Stored with the intent, so that a later sync can write the whole event. */
  readonly metrics: readonly MetricOutcome[];
  readonly steps: readonly StepOutcome[];
  /** See Scale.ruled. */
  readonly ruled?: number;
  /** The recommendation of the sync that decided it. A later sync that settles the intent adds it to the stabilization windows. */
  readonly recommendation?: number;
  /** The time of the first sync after the deadline that saw the workload unmoved. A later look must agree before the intent counts as refused. */
  readonly unmovedMs?: number;
}

/**
 * A settled scale that has its event, but is on no windows page yet. The head keeps this much of its intent until a release names a page that counts the scale. A sync that finds one
 * in the head counts it, because the sync that made it died in between.
 */
export interface UncountedScale {
  /** Id of the intent and of the event. */
  readonly id: string;
  readonly uid: AutoscalerUid;
  readonly from: number;
  readonly to: number;
  readonly outcome: WriteOutcome["kind"];
  readonly decidedMs: number;
  readonly settledMs: number;
  readonly recommendation?: number;
  /** See Scale.ruled. */
  readonly ruled?: number;
}

/** The immutable record of one attempt to scale. */
export interface ScaleEventRecord extends AutoscalerRef {
  readonly id: string;
  readonly uid: AutoscalerUid;
  readonly partition: PartitionName;
  readonly target: TargetRef;
  /** Time of the decision. */
  readonly atMs: number;
  /** A clock reading after the answer, or the time of the later sync that settled it. Windows count the scale from here. */
  readonly settledMs: number;
  readonly from: number;
  readonly to: number;
  readonly reason: string;
  readonly message: string;
  readonly metrics: readonly MetricOutcome[];
  readonly steps: readonly StepOutcome[];
  readonly specGeneration: number;
  readonly outcome: WriteOutcome["kind"];
  /** The message of the API server or the transport; absent when it was applied. */
  readonly detail?: string;
}

/** What would be done without a hold: a scale to `to`, or a hold for another reason. */
export interface WithoutHold {
  readonly to?: number;
  readonly because: Because;
}

/** What one sync found and decided for one autoscaler, as the journal stores it. */
export interface Evaluation extends InForce {
  readonly uid: AutoscalerUid;
  readonly namespace: Namespace;
  readonly name: AutoscalerName;
  readonly kind: "hold" | "scale";
  readonly failed: boolean;
  readonly from?: number;
  readonly to?: number;
  readonly because: Because;
  /** Present while the object of the autoscaler has a newer spec that is not stored yet, and the stored one is followed. */
  readonly waiting?: Because;
  /** The decision without the hold in `because`: a freeze, a pause, a rival. Absent where no such hold applies. */
  readonly withoutHold?: WithoutHold;
  readonly metrics: readonly MetricOutcome[];
  readonly steps: readonly StepOutcome[];
  readonly events: readonly ControllerEvent[];
  /** The other controllers of the workload, as this sync found them. Absent where there is none, and in journals of earlier releases. */
  readonly rivals?: readonly Rival[];
  /** The failed read that stopped the evaluation. Absent where nothing failed, and in journals of earlier releases. */
  readonly failedRead?: FailedRead;
  /** Why the scale of this evaluation was refused. Absent where it was not refused, and in journals of earlier releases. */
  readonly refused?: Refusal;
  /** The status after this sync; absent where nothing was evaluated. */
  readonly status?: Status;
  /** What was scaled so far, this sync included; absent before the first scale. */
  readonly totals?: ScaleTotals;
  /** Samples that the dialect wrote to its series, in order; absent where it has no series. */
  readonly gauges?: readonly GaugeWrite[];
}

/** The evaluations of some windows pages in one sync (lib/store/pages/plan.ts). */
export interface JournalPage {
  readonly atMs: number;
  readonly epoch: number;
  readonly page: number;
  /** Present when the page holds only the changes since it was last written whole, at most a minute of syncs before. */
  readonly partial?: true;
  /** The completed sync before this one, up to which what no page says stayed as it was. Absent in journals of earlier releases. */
  readonly previousMs?: number;
  readonly evaluations: readonly Evaluation[];
}

/** What was scaled for one autoscaler so far. A scale with an unknown outcome counts as made, as everywhere; a refused one does not count. */
export interface ScaleTotals {
  /** Scales up, and the replicas that they added. */
  readonly ups: number;
  readonly added: number;
  /** Scales down, and the replicas that they removed. */
  readonly downs: number;
  readonly removed: number;
  /** Epoch of the last scale that is counted: a scale that is settled again by the next holder counts once. */
  readonly epoch: number;
}

/** The entry of one autoscaler in a windows page. */
export interface StoredWindows {
  readonly uid: AutoscalerUid;
  readonly windows: Windows;
  /** Absent before the first sync that read the count. */
  readonly seen?: SeenCount;
  /** What looks for other controllers have shown. Absent before the first that was answered. */
  readonly rivals?: KnownRivals;
  /** True when the newest recommendation run goes on at every sync completed since: its end is then `evaluatedMs` of the head, where that is later. */
  readonly open: boolean;
  /** Absent before the first scale. */
  readonly totals?: ScaleTotals;
}

/** A change of the count that this stack did not make: no intent belongs to it. It happened about `atMs`, and was seen at `settledMs`. */
export interface OutsideEventRecord extends Omit<ScaleEventRecord, "outcome"> {
  readonly outcome: "outside";
}

/** Every event that the history holds. */
export type EventRecord = ScaleEventRecord | OutsideEventRecord;

/**
 * Identifies one version of one cluster: two records with the same text are the same record. The version is not enough, because a cluster that was removed and added
 * again under its name may be another physical cluster. Everything that is remembered of a cluster between two syncs has this text as its key.
 */
export const incarnationOf = ({ uid, version }: Pick<ClusterRecord, "uid" | "version">): string => `${uid ?? ""}:${version}`;

/**
 * True where the last apply meant an earlier cluster of this name, which was removed since: that apply died, or stood still, before it could take the record back. The workload may be in another
 * physical cluster now, so nothing is scaled until it is applied again.
 */
export const isOfEarlierCluster = ({ uid }: Pick<ClusterRecord, "uid">, { clusterUid }: Pick<AutoscalerRecord, "clusterUid">): boolean =>
  clusterUid !== undefined && clusterUid !== uid;
