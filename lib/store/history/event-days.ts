import type { QueryCommandInput } from "@aws-sdk/client-dynamodb";
import * as z from "zod";
import type { EventRecord } from "../../model/records.ts";
import type { ClusterName } from "../../model/ids.ts";
import { compress, decompress } from "../table/compressed.ts";
import { closedDayKey, dayOf, eventDayOf, eventDaysPk } from "../table/keys.ts";
import { readAll } from "../table/read-all.ts";
import type { Tables } from "../table/tables.ts";
import { mapWithLimit } from "../table/wait-for-all.ts";
import { eventOf } from "./event-codec.ts";
import { DAY_MS, dayEventsParams, daysOf, EVENT_DAYS_KEPT, type Stretch, ttlOf } from "./events.ts";
import type { HistoryItem, InsertHistory } from "./insert-history.ts";
import { historyItemOf } from "./item.ts";
import { addedMs } from "./scope-changes.ts";

/** The scale events of an autoscaler on one day. */
export interface DayCounts {
  readonly ups: number;
  readonly added: number;
  readonly downs: number;
  readonly removed: number;
  readonly refused: number;
  /** Changes of the count that this stack did not make. */
  readonly outside: number;
}

/** What happened on a closed day, by NAMESPACE/NAME. Empty: the day has no event, and no request asks for its events. */
export type ClosedDay = ReadonlyMap<string, DayCounts>;

const VERSION = 1;
const counts = z.tuple([z.number(), z.number(), z.number(), z.number(), z.number(), z.number()]);
const stored = z.record(z.string(), counts);

const NOTHING: DayCounts = { ups: 0, added: 0, downs: 0, removed: 0, refused: 0, outside: 0 };

const withEvent = (before: DayCounts, { from, to, outcome }: Pick<EventRecord, "from" | "to" | "outcome">): DayCounts => {
  if (outcome === "refused") return { ...before, refused: before.refused + 1 };
  if (outcome === "outside") return { ...before, outside: before.outside + 1 };
  return to >= from
    ? { ...before, ups: before.ups + 1, added: before.added + to - from }
    : { ...before, downs: before.downs + 1, removed: before.removed + from - to };
};

export const encodeDay = (day: ClosedDay): Uint8Array =>
  compress(
    VERSION,
    Object.fromEntries(
      [...day].map(([path, { ups, added, downs, removed, refused, outside }]) => [path, [ups, added, downs, removed, refused, outside]]),
    ),
  );

/** `undefined` for damage, or a later version: the day is then asked for its events, as one that is not closed. */
export const decodeDay = (body: HistoryItem["body"]): ClosedDay | undefined => {
  try {
    const { version, value } = decompress(body as Uint8Array);
    if (version !== VERSION) return undefined;
    return new Map(
      Object.entries(stored.parse(value)).map(([path, [ups, added, downs, removed, refused, outside]]) => [
        path,
        { ups, added, downs, removed, refused, outside },
      ]),
    );
  } catch {
    return undefined;
  }
};

export const eventDaysParams = (historyTable: string, cluster: ClusterName, { sinceMs, untilMs }: Stretch): QueryCommandInput => ({
  TableName: historyTable,
  KeyConditionExpression: "pk = :pk AND sk BETWEEN :since AND :until",
  ExpressionAttributeValues: {
    ":pk": { S: eventDaysPk(cluster) },
    ":since": { S: dayOf(Math.max(0, sinceMs)) },
    ":until": { S: `${dayOf(untilMs)}~` },
  },
});

/** The closed days of a stretch, by date. On doubt a day is left out, and its events are asked for: it is not closed yet, an event of it came late, or its item cannot be read. */
export const closedDays = async (tables: Tables, cluster: ClusterName, stretch: Stretch): Promise<ReadonlyMap<string, ClosedDay>> => {
  const days = new Map<string, ClosedDay>();
  for await (const { day, late, body } of itemsOf(tables, cluster, stretch)) {
    const counted = late ? undefined : decodeDay(body);
    // The item of a late event follows that of its day.
    if (counted) days.set(day, counted);
    else days.delete(day);
  }
  return days;
};

async function* itemsOf(tables: Tables, cluster: ClusterName, stretch: Stretch) {
  const params = eventDaysParams(tables.historyTable, cluster, stretch);
  for await (const item of readAll(tables, `read the days of cluster "${cluster}" with events`, params)) {
    const { sk, body } = historyItemOf(item);
    yield { ...eventDayOf(sk), body };
  }
}

/** An event is inserted within minutes of its time, but for one of a cluster that was not synced: such an event marks its day from the second day after it on (`lateMarks`). */
const CLOSED_AFTER_DAYS = 3;
/** Days that one call closes: after an upgrade, thirteen months take ten calls. */
const DAYS_A_CALL = 40;
const PARALLEL = 8;

/**
 * Closes the days of a cluster that ended long enough ago: counts their events by autoscaler, and stores the counts, empty ones too. The counts follow from the events, so that whichever call is first, and whichever
 * release wrote the events, they are the same. Returns the days that this call closed.
 */
export const closeDays = async (tables: Tables, insert: InsertHistory, cluster: ClusterName, nowMs: number): Promise<readonly string[]> => {
  const lastMs = (Math.floor(nowMs / DAY_MS) - CLOSED_AFTER_DAYS + 1) * DAY_MS - 1;
  const all: Stretch = { sinceMs: Math.max(0, nowMs - EVENT_DAYS_KEPT * DAY_MS), untilMs: lastMs, newestFirst: true };
  const [firstMs = all.sinceMs, known] = await Promise.all([addedMs(tables, cluster), storedDays(tables, cluster, all)]);
  const open = daysOf({ ...all, sinceMs: Math.max(all.sinceMs, firstMs) }).filter((day) => !known.has(day));
  const days = open.slice(0, DAYS_A_CALL);
  const items = await mapWithLimit(days, PARALLEL, async (day) => {
    const body = encodeDay(await countedDay(tables, cluster, day));
    return { ...closedDayKey(cluster, day), body, ttlSeconds: ttlOf(Date.parse(day), EVENT_DAYS_KEPT + 1) };
  });
  if (items.length > 0) await insert(items);
  return days;
};

const storedDays = async (tables: Tables, cluster: ClusterName, stretch: Stretch): Promise<ReadonlySet<string>> => {
  const days = new Set<string>();
  for await (const { day, late } of itemsOf(tables, cluster, stretch)) if (!late) days.add(day);
  return days;
};

const countedDay = async (tables: Tables, cluster: ClusterName, day: string): Promise<ClosedDay> => {
  const fromMs = Date.parse(day);
  const params = dayEventsParams(tables.historyTable, cluster, day, { sinceMs: fromMs, untilMs: fromMs + DAY_MS - 1 });
  const counted = new Map<string, DayCounts>();
  for await (const item of readAll(tables, `count the events of cluster "${cluster}"`, params)) {
    const event = eventOf(historyItemOf(item));
    const path = `${event.namespace}/${event.name}`;
    counted.set(path, withEvent(counted.get(path) ?? NOTHING, event));
  }
  return counted;
};
