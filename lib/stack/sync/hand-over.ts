import type {
  Because,
  Decision,
  Scale,
  ControllerEvent,
  GaugeWrite,
  MetricOutcome,
  Refusal,
  WriteOutcome,
} from "../../rules/model/decision.ts";
import type { DecideInput } from "../../rules/policy/decide.ts";
import type { Forecast } from "../../rules/model/forecast.ts";
import type { Rival, KnownRivals, ScaleRead, ScaleReading } from "../../rules/model/observation.ts";
import type {
  WithoutHold,
  StoredWindows,
  OutsideEventRecord,
  Intent,
  ScaleEventRecord,
  UncountedScale,
  SlowMetric,
} from "../../rules/model/scale-records.ts";
import type {
  ClusterClient,
  SeenObject,
  SpecObject,
  ObservedCluster,
} from "../cluster/cluster-client.ts";
import type { AutoscalerUid, WorkloadKey } from "../../rules/model/ids.ts";
import type { JournalBases } from "../store/history/journal.ts";
import type { AutoscalerSpec } from "../../rules/model/spec.ts";
import type { AutoscalerRecord, FleetRecord, ClusterRecord } from "../../rules/model/records.ts";
import type { Head } from "../store/head/head.ts";
import type { RuleFailures } from "./rule-failures.ts";
import type { SummaryBase } from "../../rules/model/summary.ts";
import type { OutsideSeries } from "../../rules/model/windows.ts";

/*
 * What one phase of a sync hands to the next, in the order of the phases. A phase imports the types
 * of what it takes from here, and no file of a later phase (test/architecture/rooms.ts).
 */

// Load: what the tables hold.

/** What the tables hold for this sync, and the time of the sync. */
export interface Loaded extends LoadedPages {
  readonly fleet: FleetRecord;
  /** The ids of the tables, as text; empty where they have none. */
  readonly tables: string;
  readonly cluster: ClusterRecord;
  readonly head: Head;
  readonly specs: LoadedSpecs;
  /** Later than everything that was recorded. It is read before the observation begins. */
  readonly nowMs: number;
  /**
   * True when this environment has released pages of this generation, and the last sync released
   * cleanly. Then no leftover pages can exist.
   */
  readonly noLeftovers: boolean;
  /** What the LISTs of the specs gave, where the cluster holds some. */
  readonly objects?: ReadObjects;
}

export interface LoadedPages {
  readonly pages: readonly LoadedPage[];
  /**
   * True when the sync before stopped halfway: this sync must write every page, so that a late page
   * write of the other is refused.
   */
  readonly rewriteAll: boolean;
}

/** A windows page as this sync uses it. */
export type LoadedPage = {
  readonly index: number;
  readonly generation: number;
  readonly epoch: number;
  readonly body: Uint8Array;
} & (
  | { readonly kind: "read"; readonly entries: ReadonlyMap<AutoscalerUid, StoredWindows> }
  /** Its autoscalers hold, because their last scales are not known. The bytes stay as they are. */
  | { readonly kind: "unreadable"; readonly message: string }
);

export interface LoadedSpecs {
  readonly specVersion: number;
  /** Of the cluster record whose partitions were used (lib/rules/model/records.ts). */
  readonly clusterIncarnation: string;
  readonly readMs: number;
  readonly all: readonly LoadedSpec[];
  /** Absent where no manifest takes the advice of forecasts. */
  readonly forecasts?: LoadedForecasts;
}

/** The newest forecasts that are stored of a partition. */
export interface LoadedForecasts {
  readonly byUid: ReadonlyMap<AutoscalerUid, Forecast>;
  /** Why they could not be read. Those that were read before still count. */
  readonly failure?: string;
}

/**
 * One autoscaler of the partition. `invalid` and `unreadable` say why it cannot be decided; they
 * stop only this autoscaler.
 */
export type LoadedSpec =
  | KnownSpec
  | {
      readonly kind: "unreadable";
      readonly namespace: string;
      readonly name: string;
      readonly uid?: AutoscalerUid;
      readonly message: string;
    };

/** An autoscaler whose record can be read. */
export type KnownSpec = ReadySpec | InvalidSpec;

export interface ReadySpec extends FromRecord {
  readonly kind: "ready";
  readonly spec: AutoscalerSpec;
}

export interface InvalidSpec extends FromRecord {
  readonly kind: "invalid";
  readonly message: string;
  /** A mistake of Tidemark that the conversion met. Absent where the manifest is at fault. */
  readonly error?: Error;
  /**
   * Set where this sync had no time to read the manifest: the name of the workload that it scales,
   * which no other autoscaler may scale meanwhile. The next sync reads it.
   */
  readonly unread?: { readonly target: string };
}

interface FromRecord {
  readonly record: AutoscalerRecord;
  /**
   * The object of the cluster with this manifest, as an earlier sync has seen it. Absent where none
   * was seen yet, or the record is no copy of one.
   */
  readonly object?: SeenObject;
  /** Since when the answers show an older generation of its object. */
  readonly olderSinceMs?: number;
  /** The highest generation that an answer has shown, where it is not stored yet. */
  readonly shownGeneration?: number;
}

// Specs: what the LISTs of the objects gave.

/** The LISTs of the objects that hold specs. */
export interface ReadObjects {
  /** The objects of this sync's LISTs, by uid. */
  readonly listed: ReadonlyMap<string, SpecObject>;
  /** Why an autoscaler must not act because of its object. */
  readonly holds: ReadonlyMap<AutoscalerUid, Because>;
  /** Autoscalers whose object has a newer spec that is not stored yet. */
  readonly waiting: ReadonlyMap<AutoscalerUid, Waiting>;
  /** The namespace of each object whose change is not stored, because it has used its bytes. */
  readonly overBudget: readonly string[];
  /** What could not be read or stored, for the line of the sync. */
  readonly problems: readonly string[];
  readonly calls: number;
  readonly bytes: number;
}

/**
 * A newer spec of an object that is not stored yet. The stored one is followed until then, and
 * nothing is done that the newer one would not allow.
 */
export interface Waiting {
  readonly because: Because;
  /** Absent where it is invalid. */
  readonly newer: AutoscalerSpec | undefined;
}

// Observe: what the cluster answered.

/** What the cluster answered in this sync. */
export interface ClusterAnswers {
  /** Absent where the cluster could not be reached, or nothing was to be read. */
  readonly client: ClusterClient | undefined;
  readonly observed: ObservedCluster;
  /** The present scale of the workloads of all intents whose deadline has passed. */
  readonly late: LateReadings;
  /**
   * Own clock when the last answer had come, never before `nowMs` of the sync. Absent where nothing
   * was asked.
   */
  readonly answeredMs?: number;
  /** What rules threw so far. The next phases add to it. */
  readonly failures: RuleFailures;
  /**
   * Waits for autoscalers that are missing in `observed`, and gives what was seen of them. Absent
   * where none is missing.
   */
  readonly later?: () => Promise<ClusterAnswers>;
}

/** The present scales of the workloads of overdue intents. */
export type LateReadings = ReadonlyMap<WorkloadKey, ScaleReading>;

// Decide: what is to be done.

/** What this sync does about one autoscaler. Only a `scale` writes to the cluster. */
export type Verdict = UnevaluatedVerdict | HoldVerdict | ScaleVerdict;

/**
 * Something stored could not be read or converted, so that the rules were not asked; or a rule
 * threw.
 */
export interface UnevaluatedVerdict {
  readonly kind: "unevaluated";
  readonly autoscaler: LoadedSpec;
  readonly because: Because;
  /** What a rule threw. */
  readonly error?: Error;
}

export interface HoldVerdict extends EvaluatedVerdict {
  readonly kind: "hold";
  /** The reason of the decision, or of what held it back. */
  readonly because: Because;
  /** Present where something beside the rules holds the autoscaler. */
  readonly withoutHold?: WithoutHold;
}

export interface ScaleVerdict extends EvaluatedVerdict {
  readonly kind: "scale";
  readonly because: Because;
  readonly decision: Scale;
  /**
   * The scale that was read, and the client that read it: the PUT names this version, and goes to
   * the same cluster.
   */
  readonly read: ScaleRead;
  readonly client: ClusterClient;
}

export interface EvaluatedVerdict {
  readonly autoscaler: ReadySpec;
  readonly input: DecideInput;
  readonly decision: Decision;
  /** The other controllers of the workload; absent where there is none. */
  readonly rivals?: readonly Rival[];
  /** What looks for other controllers have shown so far. */
  readonly knownRivals?: KnownRivals;
  /** Present where the object has a newer spec that is not stored yet. */
  readonly waiting?: Because;
  /** Why an answer is missing: the namespace has used its share of the sync. */
  readonly overShare?: string;
  /** A change of the count that this stack did not make. The decision knows of it. */
  readonly outside?: OutsideScale;
  /**
   * True where another controller scales the workload too, or may, or was seen by the sync before.
   */
  readonly beside?: true;
}

/**
 * A change of a count that this stack did not make: by another controller, another stack, or a
 * person.
 */
export interface OutsideScale {
  readonly id: string;
  readonly from: number;
  readonly to: number;
  /** A clock reading after the count was read: the change was not later. */
  readonly atMs: number;
  /** True where another controller scales the workload too, or may. */
  readonly beside: boolean;
  /** The field manager that made it, where the cluster says it. */
  readonly by?: string;
}

// Scale: what was done.

/** A scale about to be made, with its intent. */
export interface Intended {
  readonly verdict: ScaleVerdict;
  readonly intent: Intent;
}

/**
 * A scale after its PUT. `open` means that there was no clear answer, so that a later holder
 * settles it.
 */
export interface Acted extends Intended {
  readonly outcome: WriteOutcome | { readonly kind: "open"; readonly message: string };
  /** A clock reading after the answer. */
  readonly atMs: number;
}

export interface Settled {
  readonly own: readonly OwnScale[];
  readonly late: readonly LateScale[];
  readonly open: readonly Intent[];
  /** Settled scales that stay uncounted, because their page cannot be read. */
  readonly uncounted: readonly UncountedScale[];
}

/** A scale of this sync that was clearly answered, with its event as history holds it. */
export interface OwnScale {
  readonly acted: Acted;
  readonly event: ScaleEventRecord;
}

/** A scale of an earlier sync that the windows of this sync count. */
export interface LateScale {
  readonly scale: UncountedScale;
  /** Absent where the autoscaler was deleted: the key of the event needs its name. */
  readonly event?: ScaleEventRecord;
}

// Keep: what is left for the next sync.

/** What others did to the counts, by autoscaler, with the events as history holds them. */
export interface Outside {
  readonly events: readonly OutsideEventRecord[];
  /** Changes before a late scale, which no decision of this sync knew of. */
  readonly beforeLate: ReadonlyMap<AutoscalerUid, OutsideScale>;
}

/** What a sync leaves of its autoscalers. */
export interface After {
  readonly entries: ReadonlyMap<AutoscalerUid, StoredWindows>;
  /** Events as the imitated controller would record them, events of the write included. */
  readonly eventsOf: (uid: AutoscalerUid) => readonly ControllerEvent[] | undefined;
  /** Series that the dialect wrote, series of the write included. */
  readonly gaugesOf: (uid: AutoscalerUid) => readonly GaugeWrite[] | undefined;
  /** The metrics of a decision with what is behind each, for people. */
  readonly metricsOf: (
    verdict: Exclude<Verdict, { readonly kind: "unevaluated" }>,
  ) => readonly MetricOutcome[];
  /** The metrics whose sources answered slowly. */
  readonly slowOf: (
    verdict: Exclude<Verdict, { readonly kind: "unevaluated" }>,
  ) => readonly SlowMetric[];
  /** Scales of this sync that were refused. */
  readonly refused: ReadonlyMap<AutoscalerUid, Refusal>;
  /** The changes by others of a count that is fought over; absent where it is not. */
  readonly contestedOf: (verdict: Verdict) => OutsideSeries | undefined;
}

/** The pages as they stand after this sync. */
export interface StoredPages {
  readonly generation: number;
  readonly pages: readonly LoadedPage[];
  /** Uids of the autoscalers whose windows changed. */
  readonly changed: ReadonlySet<AutoscalerUid>;
  readonly written: number;
}

export interface WrittenJournal {
  readonly pages: number;
  readonly bases: JournalBases;
}

// Summary: what readers get.

export interface WrittenSummary {
  /** For the head. */
  readonly body: Uint8Array;
  /** Remembered, so that the next sync of this environment reads none. */
  readonly base: SummaryBase;
  /**
   * Why summary or index were not written; absent where they were, or there was nothing to write.
   */
  readonly failure?: string;
}
