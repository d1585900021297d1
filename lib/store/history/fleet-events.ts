import type { EventRecord } from "../../model/records.ts";
import type { AutoscalerRef, ClusterName } from "../../model/ids.ts";
import { readAll } from "../table/read-all.ts";
import type { Tables } from "../table/tables.ts";
import { CLUSTERS_AT_ONCE, eachInGroups, mapWithLimit } from "../table/wait-for-all.ts";
import { eventOf } from "./event-codec.ts";
import { closedDays } from "./event-days.ts";
import { DAY_MS, dayEventsParams, daysOf, eventsOfAutoscaler, isEmptyStretch, type Stretch } from "./events.ts";
import { historyItemOf } from "./item.ts";
import { addedMs } from "./scope-changes.ts";

/** Events in memory while all streams are merged. With few streams each request reads many, so that a long export makes few requests. Memory does not grow with the stretch. */
const EVENTS_IN_MEMORY = 2_000;
const PAGE_LEAST = 25;
const PAGE_MOST = 500;
const pageSizeOf = (streams: number): number => Math.min(PAGE_MOST, Math.max(PAGE_LEAST, Math.floor(EVENTS_IN_MEMORY / Math.max(1, streams))));

/** A stream in order of time: the next event, and the others. */
interface EventStream {
  readonly rest: AsyncGenerator<EventRecord>;
  readonly next: EventRecord;
}

const openStream = async (rest: AsyncGenerator<EventRecord>): Promise<readonly EventStream[]> => {
  const { value, done } = await rest.next();
  return done ? [] : [{ rest, next: value }];
};

/** Compares text as DynamoDB sorts it, in every locale, so that a list can continue after any event. */
const inOrder = (one: string, other: string): number => (one < other ? -1 : one > other ? 1 : 0);

/** Scale events of many clusters in order of time. Events of one instant are in order of cluster, then id. */
export const eventsOfFleet = (tables: Tables, clusters: readonly ClusterName[], stretch: Stretch): AsyncGenerator<EventRecord> =>
  merged(clusters, stretch, (cluster, paged) => eventsOfCluster(tables, cluster, paged));

/** Scale events of some autoscalers by name, in the same order. */
export const eventsOfAutoscalers = (tables: Tables, refs: readonly AutoscalerRef[], stretch: Stretch): AsyncGenerator<EventRecord> =>
  merged(refs, stretch, (ref, paged) => eventsOfAutoscaler(tables, ref, paged));

async function* merged<Source>(
  sources: readonly Source[],
  stretch: Stretch,
  eventsOf: (source: Source, paged: Stretch) => AsyncGenerator<EventRecord>,
): AsyncGenerator<EventRecord> {
  const direction = stretch.newestFirst ? -1 : 1;
  const order = (a: EventStream, b: EventStream): number =>
    direction * (a.next.atMs - b.next.atMs) || inOrder(a.next.cluster, b.next.cluster) || inOrder(a.next.id, b.next.id);
  const paged = { ...stretch, pageSize: pageSizeOf(sources.length) };
  const opened = await mapWithLimit(sources, CLUSTERS_AT_ONCE, (source) => openStream(eventsOf(source, paged)));
  let streams = opened.flat().sort(order);
  for (let first = streams[0]; first; first = streams[0]) {
    yield first.next;
    streams = [...streams.slice(1), ...(await openStream(first.rest))].sort(order);
  }
}

/** Scale events of a whole cluster in order of time, day by day and page by page. */
export async function* eventsOfCluster(tables: Tables, cluster: ClusterName, stretch: Stretch): AsyncGenerator<EventRecord> {
  if (isEmptyStretch(stretch)) return;
  const open = async (day: string) => {
    const items = readAll(tables, `read the events of cluster "${cluster}"`, dayEventsParams(tables.historyTable, cluster, day, stretch));
    return { items, first: await items.next() };
  };
  for await (const { items, first } of eachInGroups(await daysToAsk(tables, cluster, stretch), DAYS_TOGETHER, open)) {
    if (first.done) continue;
    yield eventOf(historyItemOf(first.value));
    for await (const item of items) yield eventOf(historyItemOf(item));
  }
}

/** Days whose first page is asked for together: most days of most clusters have no event or one page. */
const DAYS_TOGETHER = 2;

/** For so few days, reading which of them are empty costs more than it saves. */
const FEW_DAYS = 3;

/** The days of a stretch but those before the cluster was added, where the history still says when that was, and those that are closed and had no event. */
const daysToAsk = async (tables: Tables, cluster: ClusterName, stretch: Stretch): Promise<readonly string[]> => {
  if (stretch.untilMs - stretch.sinceMs <= FEW_DAYS * DAY_MS) return daysOf(stretch);
  const [firstMs, closed] = await Promise.all([addedMs(tables, cluster), closedDays(tables, cluster, stretch)]);
  const days = daysOf(firstMs === undefined ? stretch : { ...stretch, sinceMs: Math.max(stretch.sinceMs, firstMs) });
  return days.filter((day) => closed.get(day)?.size !== 0);
};
