import type { QueryCommandInput } from "@aws-sdk/client-dynamodb";
import {
  type AutoscalerRef,
  type ClusterName,
  autoscalerName,
  clusterName,
  namespace,
  uidOfIntent,
  type PartitionRef,
} from "../../../rules/model/ids.ts";
import {
  autoscalerHistoryPk,
  dayEventKey,
  utcDate,
  dayPk,
  EVENT_SK_PREFIX,
  eventKey,
  type Key,
  lateDayKey,
  lateMonthKey,
  monthOf,
  sortableMs,
} from "../table/keys.ts";
import { readAll } from "../table/read-many.ts";
import type { Tables } from "../table/tables.ts";
import {
  type HistoryItem,
  type InsertHistory,
  historyItemOf,
  LAST,
  readHistory,
  unexpiredBetween,
} from "./item.ts";
import type { EventRecord, ScaleEventRecord } from "../../../rules/model/scale-records.ts";
import { TidemarkError } from "../../../rules/model/errors.ts";
import { compress, decompress } from "../table/compressed.ts";
import { SECOND_MS, DAY_MS } from "../../../rules/model/time-text.ts";

/** 13 months, so that a year can be compared with the year before. */
export const EVENT_DAYS_KEPT = 396;

export const ttlOf = (atMs: number, days: number): number =>
  Math.floor((atMs + days * DAY_MS) / SECOND_MS);

/** The item of an event under one of its two keys. */
const itemUnder = (key: Key, event: EventRecord): HistoryItem => ({
  ...key,
  body: eventBody(key, event),
  ttlSeconds: ttlOf(event.atMs, EVENT_DAYS_KEPT),
});

/**
 * A day is closed from its third day after on (event-calendar.ts), by another clock than the
 * event's: an event so late says it.
 */
const LATE_MS = DAY_MS;

/*
 *  day D           D+1             D+2             D+3
 *  event of D ✓ ── event of D ✓ ── event of D ✓, after the marks that D and its month have late ones
 *         at D+3 D is closed: its counts are stored; at the end of the month the month's
 */
const lateMarks = (events: readonly EventRecord[], insertedMs: number): readonly HistoryItem[] => {
  const late = events.filter(({ atMs }) => insertedMs - endOfDay(atMs) > LATE_MS);
  const marks = late.flatMap(({ cluster, atMs }) => {
    const day = utcDate(atMs);
    return [lateDayKey(cluster, day), lateMonthKey(cluster, monthOf(day))].map(
      (key) => [`${key.pk} ${key.sk}`, { key, atMs }] as const,
    );
  });
  return [...new Map(marks).values()].map(({ key, atMs }) => ({
    ...key,
    body: "late",
    ttlSeconds: ttlOf(atMs, EVENT_DAYS_KEPT + 1),
  }));
};

const endOfDay = (atMs: number): number => (Math.floor(atMs / DAY_MS) + 1) * DAY_MS;

/**
 * Inserts events and returns, in order, the stored ones: an earlier holder's where it was first.
 * Each event is inserted twice. The first insert, under its autoscaler, decides; the second stores
 * the same event under the day of the cluster. A sync that dies between the two leaves the intent
 * open, and the next holder does both again. `insertedMs` is the time of the insert, by default the
 * time of the newest event.
 */
export const insertEvents = async <Event extends EventRecord>(
  insert: InsertHistory,
  events: readonly Event[],
  insertedMs = Math.max(...events.map(({ settledMs }) => settledMs)),
): Promise<readonly Event[]> => {
  if (events.length === 0) return [];
  const outcomes = await insert([
    ...events.map((event) => itemUnder(eventKey(event, event), event)),
    ...lateMarks(events, insertedMs),
  ]);
  const stored = events.map((event, at) => {
    const outcome = outcomes[at];
    return outcome?.kind === "duplicate" ? (eventOf(outcome.stored) as Event) : event;
  });
  await insert(stored.map((event) => itemUnder(dayEventKey(event.cluster, event), event)));
  return stored;
};

/**
 * Reads the event of an intent of an autoscaler by name strongly; absent when there is none of this
 * key.
 */
export const readEvent = async (
  tables: Tables,
  ref: AutoscalerRef,
  of: { readonly atMs: number; readonly id: string },
): Promise<ScaleEventRecord | undefined> => {
  const item = await readHistory(tables, eventKey(ref, of));
  return item && (eventOf(item) as ScaleEventRecord);
};

/**
 * A part of the history from `sinceMs` to `untilMs`, both inclusive; oldest first, unless
 * `newestFirst` is true.
 */
export interface Stretch {
  readonly sinceMs: number;
  readonly untilMs: number;
  readonly newestFirst?: boolean;
  /** Most items of one request. The stretch itself has no limit. */
  readonly pageSize?: number;
}

/**
 * True for a stretch that ends before it begins. No request is sent for it, because DynamoDB
 * refuses such a query.
 */
export const isEmptyStretch = ({
  sinceMs,
  untilMs,
}: Pick<Stretch, "sinceMs" | "untilMs">): boolean => untilMs < Math.max(0, sinceMs);

export const stretchParams = (
  historyTable: string,
  pk: string,
  prefix: string,
  stretch: Stretch,
): QueryCommandInput => ({
  ...unexpiredBetween(
    historyTable,
    pk,
    [
      `${prefix}${sortableMs(Math.max(0, stretch.sinceMs))}`,
      `${prefix}${sortableMs(stretch.untilMs)}${LAST}`,
    ],
    stretch.untilMs,
  ),
  ScanIndexForward: !stretch.newestFirst,
  ...(stretch.pageSize !== undefined && { Limit: stretch.pageSize }),
});

export const autoscalerEventsParams = (
  historyTable: string,
  ref: AutoscalerRef,
  stretch: Stretch,
): QueryCommandInput =>
  stretchParams(historyTable, autoscalerHistoryPk(ref), EVENT_SK_PREFIX, stretch);

/**
 * Scale events of one autoscaler by name, in order of time. Events of an earlier autoscaler of the
 * same name are included.
 */
export async function* eventsOfAutoscaler(
  tables: Tables,
  ref: AutoscalerRef,
  stretch: Stretch,
): AsyncGenerator<EventRecord> {
  if (isEmptyStretch(stretch)) return;
  const params = autoscalerEventsParams(tables.historyTable, ref, stretch);
  for await (const item of readAll(
    tables,
    `read the events of "${ref.namespace}/${ref.name}"`,
    params,
  ))
    yield eventOf(historyItemOf(item));
}

export const dayEventsParams = (
  historyTable: string,
  cluster: ClusterName,
  day: string,
  stretch: Stretch,
): QueryCommandInput => stretchParams(historyTable, dayPk(cluster, day), "", stretch);

/** The days of a stretch, in its order. Days whose events have all expired are left out. */
export const daysOf = ({ sinceMs, untilMs, newestFirst }: Stretch): readonly string[] => {
  const days: string[] = [];
  const first = Math.max(sinceMs, untilMs - EVENT_DAYS_KEPT * DAY_MS);
  for (let at = Math.floor(first / DAY_MS) * DAY_MS; at <= untilMs; at += DAY_MS)
    days.push(utcDate(at));
  return newestFirst ? days.reverse() : days;
};

/** The version of the bytes of an event. */
export const EVENT_VERSION = 1;

/** Parts of an event that its key may say. */
type KeyParts = Partial<
  Pick<EventRecord, "id" | "uid" | "atMs" | "cluster" | "namespace" | "name">
>;

/**
 * What a key says of its event: `autoscaler#<cluster>#<namespace>#<name>` and `event#<ms>#<id>`, or
 * `day#<cluster>#<date>` and `<ms>#<id>`. An id is `<uid>:<epoch>`.
 */
const partsOf = ({ pk, sk }: Key): KeyParts => {
  const [, cluster = "", inNamespace = "", name = ""] = pk.split("#");
  const isOwn = sk.startsWith(EVENT_SK_PREFIX);
  const [time = "", ...rest] = sk.slice(isOwn ? EVENT_SK_PREFIX.length : 0).split("#");
  const id = rest.join("#");
  const parts = { id, uid: uidOfIntent(id), atMs: Number(time), cluster: clusterName(cluster) };
  return isOwn
    ? { ...parts, namespace: namespace(inNamespace), name: autoscalerName(name) }
    : parts;
};

/**
 * The body of an event under one of its two keys. What the key says is left out: an event is stored
 * for 13 months, so each byte counts.
 */
export const eventBody = (key: Key, event: EventRecord): Uint8Array => {
  const inKey: Readonly<Record<string, unknown>> = { ...partsOf(key) };
  return compress(
    EVENT_VERSION,
    Object.fromEntries(Object.entries(event).filter(([name, value]) => inKey[name] !== value)),
  );
};

/**
 * The event of a history item. Throws `store.unreadable` for a body of a later release, and for
 * damage.
 */
export const eventOf = (item: HistoryItem): EventRecord => {
  if (typeof item.body === "string") throw unreadable(item, "its body is text");
  const { version, value } = opened(item, item.body);
  if (version === EVENT_VERSION) return { ...partsOf(item), ...(value as object) } as EventRecord;
  throw unreadable(item, `its version is ${version}, and ${EVENT_VERSION} is known`);
};

const opened = (item: HistoryItem, body: Uint8Array): ReturnType<typeof decompress> => {
  try {
    return decompress(body);
  } catch (error) {
    throw unreadable(item, `its bytes are damaged: ${String(error)}`, error);
  }
};

const unreadable = ({ pk, sk }: Key, why: string, cause?: unknown): TidemarkError =>
  new TidemarkError(
    "store.unreadable",
    `Cannot read the scale event "${pk} ${sk}": ${why}`,
    { key: sk },
    { cause },
  );

/**
 * Unreadable bytes that a person removed from the state. They stay in the history for a later
 * analysis.
 */
export interface KeptBytes {
  readonly partition: PartitionRef;
  /** Their origin, `page#0#3` or `intent#<id>`. */
  readonly what: string;
  readonly atMs: number;
  readonly bytes: Uint8Array;
}

/**
 * These items have their own partition key. No cluster, day or autoscaler has a key that begins
 * like this.
 */
const keptKey = ({ partition: { cluster, partition }, what, atMs }: KeptBytes): Key => ({
  pk: `kept#${cluster}#${partition}`,
  sk: `${sortableMs(atMs)}#${what}`,
});

/**
 * Inserts the bytes for as long as events are kept, and returns their key. They fit an item,
 * because they came from an item.
 */
export const insertKeptBytes = async (insert: InsertHistory, kept: KeptBytes): Promise<Key> => {
  const key = keptKey(kept);
  await insert([{ ...key, body: kept.bytes, ttlSeconds: ttlOf(kept.atMs, EVENT_DAYS_KEPT) }]);
  return key;
};
