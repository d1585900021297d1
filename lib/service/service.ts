import type { Validation } from "../manifest/validation.ts";
import type { Connection } from "../model/records.ts";
import type { ControllerSettings } from "../model/settings.ts";
import type { MetricFamily } from "../report/open-metrics.ts";
import type { Applied, AutoscalerView, ClusterView, Description, EventView, Explanation, FleetEdited, FleetView } from "./views/autoscaler.ts";
import type { ChangeView } from "./views/change.ts";
import type { PartitionView, ResetView } from "./views/partition.ts";

/** What people can look at, wherever Tidemark runs. Lists are read page by page while they are taken, and go on after any of their items. Names that do not exist are thrown as TidemarkError. */
export interface QueryService {
  /** In order of cluster, namespace and name. A caller that takes only the first few says how many with `pageSize`, so that no more are read. */
  autoscalers(filter: Filter & { readonly pageSize?: number }, after?: AutoscalerCursor): AsyncIterable<AutoscalerView>;
  get(query: AutoscalerQuery): Promise<AutoscalerView>;
  describe(query: AutoscalerQuery): Promise<Description>;
  /** The newest evaluation at or before `atMs` (default: now). */
  explain(query: AutoscalerQuery, atMs?: number): Promise<Explanation>;
  /** Oldest first. */
  events(query: EventQuery): AsyncIterable<EventView>;
  /** Edits by people, oldest first: of one autoscaler, or of everything. */
  changes(query: ChangeQuery): AsyncIterable<ChangeView>;
  /** Every series of every autoscaler, as the newest syncs left them; `labels_info` carries the labels of these names. */
  series(labels?: readonly string[]): Promise<readonly MetricFamily[]>;

  /** In order of name. */
  clusters(after?: string): AsyncIterable<ClusterView>;
  cluster(name: string): Promise<ClusterView>;
  /** "CLUSTER/PARTITION", or "CLUSTER" where it has one: what it stores, and what of it cannot be read. */
  partition(path: string): Promise<PartitionView>;
  fleet(): Promise<FleetView>;
}

/** What people can change; every edit leaves its change item. Edits that are refused are thrown as TidemarkError. */
export interface CommandService {
  apply(sources: readonly ManifestSource[], options: ApplyOptions): Promise<readonly Applied[]>;
  delete(query: AutoscalerQuery): Promise<EditResult>;
  pause(query: AutoscalerQuery, untilMs?: number): Promise<EditResult>;
  resume(query: AutoscalerQuery): Promise<EditResult>;

  addCluster(cluster: NewCluster): Promise<ClusterView>;
  /** Another connection, period, settings or partitions for a cluster that is there; what is not given stays, and windows go where their namespaces go. */
  replaceCluster(change: ClusterChange): Promise<ClusterView>;
  pauseCluster(name: string, untilMs?: number): Promise<ClusterView>;
  resumeCluster(name: string): Promise<ClusterView>;
  removeCluster(name: string): Promise<void>;
  /** For a windows page that cannot be read: its autoscalers go on as if each had just been scaled as far as its rules allow. */
  resetWindows(path: string, page: number): Promise<ResetView>;
  /** For an open intent that cannot be read: settled as unknown. Takes longer than the longest deadline, 39 s. */
  resetIntent(path: string, id: string): Promise<ResetView>;
  /** For times that are ahead of the clock, which stop windows until they have come. Takes 39 s where an open intent has one. */
  resetTime(path: string): Promise<ResetView>;

  /** A fleet that is frozen already stays so, with its first reason, unless `replace` asks for this one. Throws `service.invalid` for a reason without a word. */
  freeze(reason: string, replace?: boolean): Promise<FleetEdited>;
  thaw(): Promise<FleetEdited>;
}

/** What people can ask of Tidemark: the same of the embedded run and of a deployed stack. */
export interface Service extends QueryService, CommandService {}

export interface Filter {
  readonly cluster?: string;
  readonly namespace?: string;
}

/** An autoscaler by its name, which may be unique without the rest: "web", "shop/web" or "eu-1/shop/web". */
export interface AutoscalerQuery extends Filter {
  readonly name: string;
}

/** Where a list of autoscalers was left. */
export interface AutoscalerCursor {
  readonly cluster: string;
  readonly namespace: string;
  readonly name: string;
}

export interface EventQuery extends Filter {
  readonly name?: string;
  readonly sinceMs?: number;
  /** Included; by default now. */
  readonly untilMs?: number;
  /** Only what comes after this event in the order of the list. */
  readonly after?: EventCursor;
}

/** Where a list of events was left. */
export interface EventCursor {
  readonly cluster: string;
  readonly namespace: string;
  readonly atMs: number;
  readonly id: string;
}

export interface ChangeQuery extends Filter {
  readonly name?: string;
  readonly sinceMs?: number;
  /** Only what comes after this one in the order of the list. */
  readonly after?: ChangeCursor;
}

/** Where a list of changes was left. */
export interface ChangeCursor {
  readonly atMs: number;
  readonly id: string;
}

/** One file of manifests as text: YAML or JSON, several documents, Lists. */
export interface ManifestSource {
  readonly file: string;
  readonly text: string;
}

export interface ApplyOptions {
  readonly cluster?: string;
  /** For manifests that name none. */
  readonly namespace?: string;
  /** Everything is checked, nothing is stored. */
  readonly dryRun: boolean;
  /** What is done about fields that are not known or are written twice: "strict" unless given. */
  readonly validation?: Validation;
  /** Told of documents as soon as they are stored, or found as wanted; a deployed stack tells all at the end, by its answer. */
  readonly onStored?: (applied: readonly Applied[], progress: { readonly done: number; readonly all: number }) => void;
  /** Aborted, it ends the work between two groups of documents. A deployed stack goes on with what it was asked. */
  readonly signal?: AbortSignal;
}

export interface EditResult {
  readonly cluster: string;
  readonly namespace: string;
  readonly name: string;
  /** False when it was so already. */
  readonly changed: boolean;
}

export interface NewCluster {
  readonly name: string;
  readonly connection: Connection;
  readonly syncPeriodMs?: number;
  readonly partitions?: readonly { readonly name: string; readonly namespaces?: readonly string[] }[];
  readonly settings?: Partial<ControllerSettings>;
}

/** A cluster as it is to be from now on; what is not given stays. */
export type ClusterChange = Pick<NewCluster, "name"> & Partial<NewCluster>;
