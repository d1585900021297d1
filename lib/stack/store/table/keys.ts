import type { AttributeValue } from "@aws-sdk/client-dynamodb";
import type {
  AutoscalerName,
  AutoscalerRef,
  ClusterName,
  PartitionRef,
} from "../../../rules/model/ids.ts";

/** Primary key of an item in either table. Names are DNS labels, so "#" never occurs in them. */
export interface Key {
  readonly pk: string;
  readonly sk: string;
}

/**
 * The attribute that marks an item as a tombstone. It holds the time of the deletion in
 * milliseconds since 1970.
 */
export const DELETED = "deletedMs";

const MS_DIGITS = 15;
const INDEX_DIGITS = 6;

/** Milliseconds as text that sorts like the number. */
export const sortableMs = (ms: number): string => String(ms).padStart(MS_DIGITS, "0");
const indexText = (index: number): string => String(index).padStart(INDEX_DIGITS, "0");

/**
 * UTC date of an instant, `2026-11-21`. The events of one day of one cluster share a partition key.
 */
export const utcDate = (ms: number): string =>
  new Date(ms).toISOString().slice(0, "2026-11-21".length);

export const FLEET_PK = "fleet";
export const fleetKey: Key = { pk: FLEET_PK, sk: "fleet" };
export const CLUSTER_SK_PREFIX = "cluster#";
export const clusterKey = (cluster: ClusterName): Key => ({
  pk: FLEET_PK,
  sk: `${CLUSTER_SK_PREFIX}${cluster}`,
});

/** When a person last edited an autoscaler. */
export const editsKey: Key = { pk: FLEET_PK, sk: "edits" };

/** The minutes that calls of the scheduler have planned. */
export const planKey: Key = { pk: "plan", sk: "minutes" };

/**
 * A lease of the fleet (fleet-leases.ts): by the region that it is in, and in the table of the
 * witness by the name of the state table.
 */
export const FLEET_LEASE_PK_PREFIX = "lease#";
export const fleetLeaseKey = (name: string): Key => ({
  pk: `${FLEET_LEASE_PK_PREFIX}${name}`,
  sk: "fleet",
});

/** The problems that were reported to people. */
export const reportedProblemsKey: Key = { pk: "plan", sk: "problems" };

/**
 * The connections of all clusters. Only the function that connects clusters may write under this
 * key (infra/roles.yml).
 */
export const CONNECTIONS_PK = "connections";
export const connectionKey = (cluster: ClusterName): Key => ({ pk: CONNECTIONS_PK, sk: cluster });

/** The grants of the fleet, in one item. Only the function that connects clusters may write it. */
export const ACCESS_PK = "access";
export const accessKey: Key = { pk: ACCESS_PK, sk: ACCESS_PK };

/**
 * The registered metric sources. Only the function that connects clusters may write under this key.
 */
export const SOURCES_PK = "sources";
export const sourceKey = (name: string): Key => ({ pk: SOURCES_PK, sk: name });

/** The registered wakes. */
export const WAKES_PK = "wakes";
export const registeredWakeKey = (name: string): Key => ({ pk: WAKES_PK, sk: name });

/** Which notices have begun (docs/events.md). Only the function that sends events may write it. */
export const NOTICES_PK = "notices";
export const openNoticesKey: Key = { pk: NOTICES_PK, sk: "open" };

export const autoscalersPk = (cluster: ClusterName): string => `autoscalers#${cluster}`;
export const namespacePrefix = (namespace: string): string => `${namespace}#`;
export const autoscalerKey = (ref: AutoscalerRef): Key => ({
  pk: autoscalersPk(ref.cluster),
  sk: `${namespacePrefix(ref.namespace)}${ref.name}`,
});

const partitionPk = ({ cluster, partition }: PartitionRef): string =>
  `partition#${cluster}#${partition}`;
const PAGE_SK_PREFIX = "page#";
export const headKey = (ref: PartitionRef): Key => ({ pk: partitionPk(ref), sk: "head" });
export const pageKey = (ref: PartitionRef, generation: number, index: number): Key => ({
  pk: partitionPk(ref),
  sk: `${PAGE_SK_PREFIX}${indexText(generation)}#${indexText(index)}`,
});

/**
 * The due time of the last sync that a wake has sent (lib/stack/plan/wake.ts). It is not kept under
 * the key of the partition: the function that events call may write this, and no head.
 */
export const WAKE_PK_PREFIX = "wake#";
export const wakeKey = ({ cluster, partition }: PartitionRef): Key => ({
  pk: `${WAKE_PK_PREFIX}${cluster}#${partition}`,
  sk: "mark",
});

/** What readers of many autoscalers need (docs/protocol.md, "What only readers need"). */
export const summaryKey = (ref: PartitionRef): Key => ({ pk: partitionPk(ref), sk: "summary" });
/** The names of a partition's autoscalers, and what lists choose them by. */
export const indexKey = (ref: PartitionRef): Key => ({ pk: partitionPk(ref), sk: "index" });

/** What the objects of a namespace have used of the bytes that may be stored for them. */
export const storedBytesKey = (ref: PartitionRef, namespace: string): Key => ({
  pk: partitionPk(ref),
  sk: `stored#${namespace}`,
});

/** A sort key after every page of earlier generations, and before the pages of this one. */
export const pagesBelow = (generation: number): string =>
  `${PAGE_SK_PREFIX}${indexText(generation)}`;
/** A sort key after every page. */
export const pagesEnd = `${PAGE_SK_PREFIX}~`;

/** History of one autoscaler by name: its scale events in order of time, and its edits. */
export const autoscalerHistoryPk = (ref: AutoscalerRef): string =>
  `autoscaler#${ref.cluster}#${ref.namespace}#${ref.name}`;
export const EVENT_SK_PREFIX = "event#";
export const CHANGE_SK_PREFIX = "change#";
/**
 * The key follows only from the intent, so that inserting its event is idempotent, whichever sync
 * settles it and when.
 */
export const eventKey = (
  ref: AutoscalerRef,
  event: { readonly atMs: number; readonly id: string },
): Key => ({
  pk: autoscalerHistoryPk(ref),
  sk: `${EVENT_SK_PREFIX}${sortableMs(event.atMs)}#${event.id}`,
});
export const changeKey = (ref: AutoscalerRef, id: string): Key => ({
  pk: autoscalerHistoryPk(ref),
  sk: `${CHANGE_SK_PREFIX}${id}`,
});

/**
 * A second copy of the edits of every autoscaler of a cluster, also of deleted ones, in order of
 * time.
 */
export const clusterChangesPk = (cluster: ClusterName): string => `changes#autoscalers#${cluster}`;
export const clusterChangeKey = (
  cluster: ClusterName,
  change: { readonly atMs: number; readonly id: string },
): Key => ({
  pk: clusterChangesPk(cluster),
  sk: `${CHANGE_SK_PREFIX}${sortableMs(change.atMs)}#${change.id}`,
});

/** The places at which autoscalers of a name were deleted, in whichever cluster. */
export const deletedPk = (name: AutoscalerName): string => `deleted#${name}`;
export const deletedKey = (ref: AutoscalerRef, atMs: number): Key => ({
  pk: deletedPk(ref.name),
  sk: `${ref.cluster}#${ref.namespace}#${sortableMs(atMs)}`,
});

/** Which clusters were removed, in order of time. */
export const REMOVED_CLUSTERS_PK = "removed#clusters";
export const removedClusterKey = (cluster: string, atMs: number): Key => ({
  pk: REMOVED_CLUSTERS_PK,
  sk: `${sortableMs(atMs)}#${cluster}`,
});

/** What was put into the bucket of audits, one item a day. */
export const AUDITS_PK = "audits";
export const auditKey = (date: string): Key => ({ pk: AUDITS_PK, sk: date });

/** A second copy of the events of one day of one cluster, in order of time. */
export const dayPk = (cluster: ClusterName, day: string): string => `day#${cluster}#${day}`;
export const dayEventKey = (
  cluster: ClusterName,
  event: { readonly atMs: number; readonly id: string },
): Key => ({
  pk: dayPk(cluster, utcDate(event.atMs)),
  sk: `${sortableMs(event.atMs)}#${event.id}`,
});

/**
 * The closed days of a cluster (event-calendar.ts): a month of them is one request. A day of which
 * an event came late has a second item.
 */
export const eventDaysPk = (cluster: ClusterName): string => `days#${cluster}`;
const LATE_SK_SUFFIX = "#late";
export const lateDayKey = (cluster: ClusterName, day: string): Key => ({
  pk: eventDaysPk(cluster),
  sk: `${day}${LATE_SK_SUFFIX}`,
});
/**
 * The day or month of an item of `eventDaysPk` or `eventMonthsPk`, and whether it says that an
 * event came late.
 */
export const closedTimeOf = (sk: string): { readonly time: string; readonly late: boolean } =>
  sk.endsWith(LATE_SK_SUFFIX)
    ? { time: sk.slice(0, -LATE_SK_SUFFIX.length), late: true }
    : { time: sk, late: false };

/**
 * The closed months of a cluster (event-calendar.ts), and the months of which an event came late.
 */
export const eventMonthsPk = (cluster: ClusterName): string => `months#${cluster}`;
export const monthOf = (day: string): string => day.slice(0, "2026-11".length);
export const lateMonthKey = (cluster: ClusterName, month: string): Key => ({
  pk: eventMonthsPk(cluster),
  sk: `${month}${LATE_SK_SUFFIX}`,
});

export const journalPk = ({ cluster, partition }: PartitionRef): string =>
  `journal#${cluster}#${partition}`;
export const journalPagePrefix = (page: number): string => `${indexText(page)}#`;
export const journalKey = (
  ref: PartitionRef,
  journal: { readonly page: number; readonly atMs: number; readonly epoch: number },
): Key => ({
  pk: journalPk(ref),
  sk: `${journalPagePrefix(journal.page)}${sortableMs(journal.atMs)}#${journal.epoch}`,
});

/** The quarters of an hour of a group of autoscalers of a journal page, in order of time. */
export const quartersPk = (
  { cluster, partition }: PartitionRef,
  page: number,
  group: number,
): string => `quarters#${cluster}#${partition}#${page}#${group}`;
export const quarterKey = (
  ref: PartitionRef,
  quarter: { readonly page: number; readonly group: number; readonly fromMs: number },
): Key => ({
  pk: quartersPk(ref, quarter.page, quarter.group),
  sk: sortableMs(quarter.fromMs),
});

/** What a look at the fleet found of a cluster and its autoscalers, in order of time. */
export const NOTICES_PK_PREFIX = "notices#";
export const noticeKey = (
  cluster: string,
  notice: { readonly atMs: number; readonly id: string },
): Key => ({
  pk: `${NOTICES_PK_PREFIX}${cluster}`,
  sk: `${sortableMs(notice.atMs)}#${notice.id}`,
});

export const forecastsPk = ({ cluster, partition }: PartitionRef): string =>
  `forecast#${cluster}#${partition}`;
export const forecastsKey = (ref: PartitionRef, fromMs: number, part: string): Key => ({
  pk: forecastsPk(ref),
  sk: `${sortableMs(fromMs)}#${part}`,
});
export const forecastMarksPk = ({ cluster, partition }: PartitionRef): string =>
  `forecasts#${cluster}#${partition}`;

/** A key in the form of DynamoDB requests. */
export const itemKey = (key: Key): { pk: AttributeValue; sk: AttributeValue } => ({
  pk: { S: key.pk },
  sk: { S: key.sk },
});
