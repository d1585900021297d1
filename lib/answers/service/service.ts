import type { WantedWorkload, ConnectionReport } from "../../stack/cluster/check/report.ts";
import type { KindCount } from "../../rules/manifest/errors.ts";
import type { Validation, SpecKindName } from "../../rules/model/spec.ts";
import type { Grant, Place, Role } from "../../rules/model/access.ts";
import type { Connection } from "../../rules/model/records.ts";
import type { ControllerSettings } from "../../rules/model/spec-common.ts";
import type { MetricFamily } from "../../stack/report/open-metrics.ts";
import type {
  Applied,
  AutoscalerView,
  Description,
  EditResult,
  Explanation,
} from "../views/autoscaler.ts";
import type { AccessEdited, AccessView, CanIView, ChangeView } from "../views/change.ts";
import type {
  ClusterStored,
  ClusterView,
  FleetAdopted,
  FleetMoved,
  FleetEdited,
  FleetView,
  MeasuredView,
  PartitionView,
  ResetView,
} from "../views/cluster.ts";
import type { ExaminationView } from "../views/doctor.ts";
import type { EventCount, EventView } from "../views/event.ts";
import type { HistoryView, ShadowView, SparklinesView } from "../views/over-time.ts";
import type { ClusterRows } from "../views/row.ts";
import type { ScheduleView } from "../views/schedule.ts";
import type { StatusView } from "../views/status.ts";
import type { AheadTimes, RecordCommands, RecordQueries, RowQuery } from "./requests.ts";

/**
 * The queries, the same for the embedded run and a deployed stack. Lists are read page by page and
 * can start after any item. An unknown name throws a TidemarkError.
 */
export interface QueryService extends RecordQueries {
  /** In order of cluster, namespace and name. */
  autoscalers(query: AutoscalerListQuery, after?: AutoscalerCursor): AsyncIterable<AutoscalerView>;
  /**
   * The same as tables show them, without manifests: cluster by cluster in order of name. A list
   * that goes on says when its first page was made, so that heads read since then are not read
   * again.
   */
  rows(query: RowQuery, after?: string, firstMs?: number): AsyncIterable<ClusterRows>;
  get(query: AutoscalerQuery): Promise<AutoscalerView>;
  describe(query: AutoscalerQuery): Promise<Description>;
  /** The newest evaluation at or before `atMs` (default: now). */
  explain(query: AutoscalerQuery, atMs?: number): Promise<Explanation>;
  /** Its bounds at an instant, and what its schedule and the overrides will come to. */
  schedule(query: ScheduleQuery): Promise<ScheduleView>;
  /** What is wrong with one autoscaler, or with each of many, and what to change. */
  doctor(query: DoctorQuery, after?: AutoscalerCursor): AsyncIterable<ExaminationView>;
  /** What it decided beside another controller, compared with what that one wanted. */
  shadow(query: ShadowQuery): Promise<ShadowView>;
  /** What it measured and decided over time. A long time comes in parts (`wholeHistory`). */
  history(query: HistoryQuery): Promise<HistoryView>;
  /** Load and count of the last hour, of the autoscalers of one screen. */
  sparklines(query: SparklineQuery): Promise<SparklinesView>;
  /** Oldest first. */
  events(query: EventQuery): AsyncIterable<EventView>;
  /** How many, by autoscaler and month (UTC): in order of cluster, month, namespace and name. */
  eventCounts(query: EventCountQuery, after?: EventCountCursor): AsyncIterable<EventCount>;
  /** Lists edits, oldest first: of one autoscaler, or all of them. */
  changes(query: ChangeQuery): AsyncIterable<ChangeView>;
  /** Every series of every autoscaler, as of the newest syncs. */
  series(query?: SeriesQuery): Promise<readonly MetricFamily[]>;

  /** In order of name. */
  clusters(after?: string): AsyncIterable<ClusterView>;
  cluster(name: string): Promise<ClusterView>;
  /**
   * A partition by "CLUSTER/PARTITION", or by "CLUSTER" where it has only one: its pages, its
   * intents, and which of them cannot be read.
   */
  partition(path: string): Promise<PartitionView>;
  fleet(): Promise<FleetView>;
  measuredSyncs(): Promise<MeasuredView>;
  /** Whether everything works, and what to look at. */
  status(): Promise<StatusView>;

  /** Who has which grant. */
  access(): Promise<AccessView>;
  /** Whether the caller may look at a place, or edit it. */
  canI(query: CanIQuery): Promise<CanIView>;
}

/** The commands. Each edit inserts a change item. A refused edit throws a TidemarkError. */
export interface CommandService extends RecordCommands {
  apply(sources: readonly ManifestSource[], options: ApplyOptions): Promise<readonly Applied[]>;
  delete(edit: AutoscalerEdit): Promise<EditResult>;
  pause(edit: AutoscalerEdit, untilMs?: number): Promise<EditResult>;
  resume(edit: AutoscalerEdit): Promise<EditResult>;

  /** Keeps the object of another controller in the history, before a person takes it away. */
  takeOver(edit: TakeoverEdit): Promise<EditResult>;
  /**
   * Pauses an autoscaler and keeps the object of another controller, before a person makes it
   * again.
   */
  handBack(edit: RivalEdit): Promise<EditResult>;

  /**
   * Looks at a stored cluster from where the syncs connect to it: credentials, TLS, rights, metrics
   * APIs. It changes nothing.
   */
  checkCluster(check: ClusterCheck): Promise<ConnectionReport>;
  /**
   * Looks at the cluster before it is stored. Throws `service.unusable` with the report where no
   * sync could work, unless `force` is true.
   */
  addCluster(cluster: NewCluster): Promise<ClusterStored>;
  /**
   * Changes a cluster's connection, period, settings or partitions. Absent fields stay as they are,
   * and windows move with their namespaces.
   */
  replaceCluster(change: ClusterChange): Promise<ClusterStored>;
  pauseCluster(name: string, untilMs?: number): Promise<ClusterView>;
  resumeCluster(name: string): Promise<ClusterView>;
  removeCluster(name: string): Promise<void>;
  /**
   * Replaces a windows page that cannot be read. Its autoscalers go on as if each had just been
   * scaled as far as its rules allow.
   */
  resetWindows(path: string, page: number): Promise<ResetView>;
  /**
   * Settles an open intent that cannot be read as unknown. It takes longer than the longest
   * deadline, 39 s.
   */
  resetIntent(path: string, id: string): Promise<ResetView>;
  /**
   * For times that are ahead of the clock, which stop windows until they have come. Takes 39 s
   * where an open intent has one.
   */
  resetTime(path: string): Promise<ResetView>;

  /**
   * Freezes the fleet. A frozen fleet keeps its first reason, unless `replace` is true. Throws
   * `service.invalid` for an empty reason.
   */
  freeze(reason: string, replace?: boolean): Promise<FleetEdited>;
  thaw(): Promise<FleetEdited>;
  /** Goes on with restored or copied tables, frozen. Throws `service.not-restored`. */
  adopt(): Promise<FleetAdopted>;
  /** Gives the fleet up for another region, or takes it there (docs/standby.md). */
  move(to: string): Promise<FleetMoved>;

  /** Gives callers a right. From then on these callers have only their grants. */
  grantAccess(grant: NewGrant): Promise<AccessEdited>;
  revokeAccess(id: string): Promise<AccessEdited>;
  /** Whether callers without a grant are refused. */
  requireAccess(required: boolean): Promise<AccessEdited>;
}

export type NewGrant = Pick<Grant, "arn" | "role" | "cluster" | "namespace">;

/** Without a namespace all of the cluster is meant, and without a cluster all of the fleet. */
export interface CanIQuery extends Filter {
  readonly verb: Role;
}

/** All queries and commands. */
export interface Service extends QueryService, CommandService {}

export type Filter = Place;

/**
 * Names one autoscaler: "web", "shop/web" or "eu-1/shop/web". Namespace and cluster may be absent
 * when the name is unique.
 */
export interface AutoscalerQuery extends Filter {
  readonly name: string;
}

/** A part of the past. The end is inclusive, and is now by default. */
export interface Past {
  readonly sinceMs?: number;
  readonly untilMs?: number;
}

/** It begins a day ago by default. */
export interface ShadowQuery extends AutoscalerQuery, Past {}

/** It begins two hours before its end by default. */
export interface HistoryQuery extends AutoscalerQuery, Past {
  /** One point for each; the default gives some hundred points. */
  readonly stepMs?: number;
  /**
   * With the pods behind each value and the values at which the count turns: from the journal of
   * the last 14 days, whatever the step.
   */
  readonly why?: boolean;
}

export interface ScheduleQuery extends AutoscalerQuery, AheadTimes {}

export interface SparklineQuery {
  /** "CLUSTER/NAMESPACE/NAME" each. */
  readonly names: readonly string[];
}

export interface SeriesQuery extends Filter {
  /** Names of the labels that `labels_info` carries. */
  readonly labels?: readonly string[];
}

/** A caller that does not take the whole list says so, and no more is read than it takes. */
export interface AutoscalerListQuery extends Filter {
  /** It takes only the first few, so many at once. */
  readonly pageSize?: number;
  /** How many more of the size of those before it has room for. */
  readonly room?: () => number;
}

/** Where a list of autoscalers goes on. */
export type AutoscalerCursor = Required<AutoscalerQuery>;

/** One autoscaler by its name, or all of them. */
export interface DoctorQuery extends Filter {
  readonly name?: string;
  /**
   * Called after some hundred clusters with the last autoscaler that was examined: the list ends
   * where it returns true. A stack does it by itself.
   */
  readonly onPart?: (after: AutoscalerCursor) => boolean;
}

export interface EventQuery extends Filter, Past {
  readonly name?: string;
  /** Removed clusters too. */
  readonly removed?: true;
  readonly after?: EventCursor;
  /** For a list of many autoscalers that is answered in parts. A stack does it by itself. */
  readonly part?: EventPart;
}

export interface EventCountQuery extends Omit<EventQuery, "after" | "part" | "removed"> {
  /**
   * Called after each fifty clusters, with the last of them: the list ends where it returns true. A
   * stack does it by itself.
   */
  readonly onPart?: (after: EventCountCursor) => boolean;
}

/** Where a list of counts goes on; without a month, after all of its cluster. */
export interface EventCountCursor {
  readonly cluster: string;
  readonly month?: string;
  readonly namespace?: string;
  readonly name?: string;
}

/**
 * A part of a list of events ends before more requests of the tables where `stops` says so of how
 * many were sent one after the other, and says where the list goes on.
 */
export interface EventPart {
  readonly stops: (inRow: number) => boolean;
  readonly onStop: (next: { readonly fromMs: number; readonly after?: EventCursor }) => void;
}

/** Where a list of events goes on: events are in order of time, then of cluster and id. */
export interface EventCursor {
  readonly cluster: string;
  readonly atMs: number;
  readonly id: string;
}

export interface ChangeQuery extends Filter {
  readonly name?: string;
  readonly sinceMs?: number;
  readonly removed?: true;
  /** Lists only changes after this one. */
  readonly after?: ChangeCursor;
}

/** Where a list of changes goes on. */
export interface ChangeCursor {
  readonly atMs: number;
  readonly id: string;
}

/**
 * A stored state of an autoscaler. Each edit makes a new generation, and an autoscaler that is
 * created again has a new uid.
 */
export interface AutoscalerVersion {
  readonly uid: string;
  readonly generation: number;
}

/**
 * What must be stored when an edit is made: any autoscaler of the name, or one of these versions.
 * An empty list is never met.
 */
export type EditCondition = "exists" | readonly AutoscalerVersion[];

export interface AutoscalerEdit extends AutoscalerQuery {
  /** Throws `service.changed` where it is not met, and changes nothing. */
  readonly onlyIf?: EditCondition;
}

/**
 * `failed`: the other controller was not brought to rest, so that the takeover before was not made.
 */
export interface TakeoverEdit extends RivalEdit {
  readonly failed?: boolean;
}

/** An edit about another controller of the workload, with its object as the API takes it. */
export interface RivalEdit extends AutoscalerEdit {
  readonly rival: Readonly<Record<string, unknown>>;
}

/** The text of one file: YAML or JSON, with several documents and Lists. */
export interface ManifestSource {
  readonly file: string;
  readonly text: string;
}

export interface ApplyOptions {
  readonly cluster?: string;
  /** The namespace of manifests without one. */
  readonly namespace?: string;
  /** Checks everything and stores nothing. */
  readonly dryRun: boolean;
  /** How unknown and repeated fields are treated. The default is "strict". */
  readonly validation?: Validation;
  /**
   * Only for one document. Throws `service.changed` where it is not met, also in a dry run, and
   * stores nothing.
   */
  readonly onlyIf?: EditCondition;
  /**
   * Called with documents when they are stored, or found unchanged. A deployed stack reports them
   * only at the end.
   */
  readonly onStored?: (
    applied: readonly Applied[],
    progress: { readonly done: number; readonly all: number },
  ) => void;
  /** Called once, when objects of other kinds were passed over. */
  readonly onPassedOver?: (counts: readonly KindCount[]) => void;
  /** Aborting it ends the work between two groups of documents. A deployed stack does not stop. */
  readonly signal?: AbortSignal;
}

export interface ClusterCheck {
  readonly name: string;
  /**
   * Custom resources that are scaled, beside the built-in kinds: "argoproj.io/rollouts". Those that
   * stored autoscalers name are found without.
   */
  readonly kinds?: readonly string[];
  /**
   * A workload of a built-in kind that is looked for too: the point "workload" says whether it is
   * there.
   */
  readonly workload?: WantedWorkload;
  /**
   * An autoscaler of the cluster: only what else acts on the pods of its workload is looked at, and
   * the report has what the rules of the doctor find.
   */
  readonly autoscaler?: { readonly namespace: string; readonly name: string };
}

export interface NewCluster {
  readonly name: string;
  readonly connection: Connection;
  readonly syncPeriodMs?: number;
  readonly partitions?: readonly {
    readonly name: string;
    readonly namespaces?: readonly string[];
  }[];
  readonly settings?: Partial<ControllerSettings>;
  /**
   * The kinds of autoscalers that the syncs read from the cluster itself; an empty list is none.
   */
  readonly specsFromCluster?: readonly SpecKindName[];
  /** Hosts of the recommenders that autoscalers from objects may ask; an empty list allows none. */
  readonly recommenderHosts?: readonly string[];
  /** In place of all labels before; an empty object takes them away. */
  readonly labels?: Readonly<Record<string, string>>;
  /** Checks everything, looks at the cluster, and stores nothing. */
  readonly dryRun?: boolean;
  /** Stores the connection without a look at the cluster. */
  readonly force?: boolean;
}

/** The new values of a cluster. Absent fields stay as they are. */
export type ClusterChange = Pick<NewCluster, "name"> & Partial<NewCluster>;
