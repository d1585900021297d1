import type { ConnectionReport } from "../../stack/cluster/check/report.ts";
import type { MetricSourceRecord, RegisteredSource } from "../../rules/model/metric-source.ts";
import type { SourceQuestion } from "../../rules/sources/kinds.ts";
import type { SourceEdited, SourceView, UnreadableSource } from "../views/source.ts";
import type { UnreadableWake, WakeEdited, WakeView, WokenView } from "../views/wake.ts";
import type {
  OverrideEdited,
  OverrideSetView,
  OverrideView,
  CalendarEdited,
  CalendarView,
} from "../views/holds.ts";
import type { AutoscalerRow } from "../views/row.ts";
import type { SchedulesView } from "../views/schedule.ts";

/** How far a schedule is looked at. */
export interface AheadTimes {
  /** The default is now. */
  readonly fromMs?: number;
  /** The end of the lanes: two weeks later by default. */
  readonly untilMs?: number;
  /** How many changes of the bounds: ten by default. */
  readonly most?: number;
}

export interface SchedulesQuery extends AheadTimes {
  /** "CLUSTER/NAMESPACE/NAME" each. */
  readonly names: readonly string[];
}

export interface ScheduleQueries {
  /** What the schedules of the autoscalers of one screen will come to. */
  schedules(query: SchedulesQuery): Promise<SchedulesView>;
}

/** A source as it is registered. Absent limits get their defaults. */
export type NewSource = Pick<MetricSourceRecord, "name"> &
  Omit<RegisteredSource, "timeoutSeconds" | "maxMetrics" | "private"> &
  Partial<Pick<RegisteredSource, "timeoutSeconds" | "maxMetrics" | "private">>;

export interface SourceQueries {
  /**
   * The registered metric sources, in order of name. A record that cannot be read has a `problem`
   * in place of its fields.
   */
  sources(): Promise<readonly (SourceView | UnreadableSource)[]>;
}

/** A source to ask now. */
export interface SourceCheck extends SourceQuestion {
  readonly name: string;
  /**
   * Asked for this cluster; without it, a service is asked in each cluster that may ask the source.
   */
  readonly cluster?: string;
}

export interface SourceCommands {
  /**
   * Asks a metric source from where the syncs ask it, and says what to do where it does not answer.
   * It changes nothing.
   */
  checkSource(check: SourceCheck): Promise<ConnectionReport>;
  /**
   * Registers a metric source, or replaces the one of its name. Throws `service.invalid` with every
   * fault.
   */
  putSource(source: NewSource): Promise<SourceEdited>;
  /**
   * Forgets a source: the metrics that name it are missing from then on. Throws `service.unknown`.
   */
  deleteSource(name: string): Promise<void>;
}

/**
 * Which overrides: those that meet an autoscaler, a namespace, a cluster, or any part of the fleet.
 */
export interface OverrideQuery {
  readonly cluster?: string;
  readonly namespace?: string;
  readonly name?: string;
}

/** Which overrides of a place a list has. */
export interface OverrideListQuery extends OverrideQuery {
  /**
   * "no": without those that have expired, so that only clusters are read whose syncs or edits say
   * that an autoscaler has another one.
   */
  readonly expired?: "no";
}

/** Where a list of overrides goes on. */
export type OverrideCursor = Pick<OverrideView, "cluster" | "namespace" | "name" | "id">;

/** An override for one autoscaler (`name`), a namespace of a cluster, a cluster, or the fleet. */
export interface NewOverride extends OverrideQuery, OverrideSetView {
  /** True: for every autoscaler of every cluster. */
  readonly fleet?: boolean;
  /** The default is now. */
  readonly fromMs?: number;
  /** Only a hold may be without an end. Bounds last at most 30 days. */
  readonly untilMs?: number;
  /** One line of 1 to 500 characters. */
  readonly reason: string;
  /** Goes before overrides of narrower places. */
  readonly force?: boolean;
  /** Checks everything, says whom it meets, and stores nothing. */
  readonly dryRun?: boolean;
}

export interface OverrideEdit {
  readonly id: string;
  /** Looks only in this cluster. */
  readonly cluster?: string;
}

export interface OverrideQueries {
  /**
   * The overrides that meet a part of the fleet, also overrides that are ahead or, unless the query
   * leaves them out, expired: first the fleet's, then cluster by cluster.
   */
  overrides(query: OverrideListQuery, after?: OverrideCursor): AsyncIterable<OverrideView>;
}

export interface OverrideCommands {
  /**
   * Sets bounds or a hold for some time, over schedule and manifest. Throws `service.invalid` with
   * every fault.
   */
  setOverride(wanted: NewOverride): Promise<OverrideEdited>;
  /** Gives an override another end. */
  extendOverride(edit: OverrideEdit & { readonly untilMs: number }): Promise<OverrideEdited>;
  /** Ends an override now. */
  clearOverride(edit: OverrideEdit): Promise<OverrideEdited>;
}

/** A wake to register: the names of its cluster and namespace are checked. */
export interface NewWake extends SentPlace {
  readonly name: string;
  readonly alarm: string;
  /** Of its document. */
  readonly labels?: Readonly<Record<string, string>>;
}

/** What is to be synced now, and why. */
export interface SentWake extends SentPlace {
  /** The words of the sender. They are bounded where they are stored. */
  readonly reason: string;
}

interface SentPlace {
  readonly cluster: string;
  /** Absent: all namespaces. */
  readonly namespace?: string;
  /** The autoscalers that it is about. Absent: all. */
  readonly names?: readonly string[];
}

export interface WakeQueries {
  /** The registered wakes, in order of name. */
  wakes(): Promise<readonly (WakeView | UnreadableWake)[]>;
}

export interface WakeCommands {
  /** Registers the wake of an alarm, or replaces the one of its name. */
  putWake(wake: NewWake): Promise<WakeEdited>;
  /** Throws `service.unknown`. */
  deleteWake(name: string): Promise<void>;
  /** Has what is named synced now, at most once in five seconds. It names no count. */
  wake(wakes: readonly SentWake[]): Promise<WokenView>;
}

export interface CalendarQueries {
  /** The calendars of the fleet, in order of name. */
  calendars(): Promise<readonly CalendarView[]>;
}

export interface CalendarCommands {
  /**
   * Stores a calendar, or replaces the one of its name. Dates may be ranges,
   * "2026-12-24/2026-12-31". Throws `service.invalid` with every fault.
   */
  putCalendar(calendar: CalendarView): Promise<CalendarEdited>;
  /**
   * Deletes a calendar. Throws `service.unknown`, and `service.in-use` where a schedule names it,
   * unless `force` is true.
   */
  deleteCalendar(name: string, force?: boolean): Promise<void>;
}

/**
 * The fields of a row that a caller can choose; partition, namespace, name, uid and generation are
 * always there.
 */
export const ROW_FIELDS = [
  "kind",
  "labels",
  "owner",
  "target",
  "minReplicas",
  "maxReplicas",
  "minInForce",
  "maxInForce",
  "overridden",
  "scheduled",
  "state",
  "heldBy",
  "reason",
  "currentReplicas",
  "desiredReplicas",
  "lastKnown",
  "targets",
  "moreTargets",
  "missingMetrics",
  "findings",
  "measuredAt",
  "lastScaleAt",
  "paused",
  "createdAt",
  "problem",
] as const satisfies readonly (keyof AutoscalerRow)[];

export type RowField = (typeof ROW_FIELDS)[number];

/** Which rows are wanted: those that meet all of it. */
export interface RowQuery {
  readonly cluster?: string;
  readonly namespace?: string;
  /** Only the name, without a path. */
  readonly name?: string;
  /** Kinds of manifests, such as "HorizontalPodAutoscaler". */
  readonly kinds?: readonly string[];
  /** Labels, as `kubectl -l` has them. */
  readonly selector?: string;
  /**
   * The fields that are wanted beside those that are always there; absent is all. A service may
   * give more.
   */
  readonly fields?: readonly RowField[];
  /**
   * Marks of the partitions whose rows the caller has, one after the other: these rows are not
   * repeated while they are unchanged.
   */
  readonly known?: string;
  /**
   * So many rows are enough for a first look: few more are read ahead. The answer still goes on to
   * the end for whoever takes all of it.
   */
  readonly most?: number;
}

/** What is asked of the records that people keep beside autoscalers and clusters. */
export interface RecordQueries
  extends ScheduleQueries,
    OverrideQueries,
    CalendarQueries,
    SourceQueries,
    WakeQueries {}

/** The edits of these records. */
export interface RecordCommands
  extends OverrideCommands,
    CalendarCommands,
    SourceCommands,
    WakeCommands {}
