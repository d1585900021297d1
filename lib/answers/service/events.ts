import { isTidemarkError } from "../../rules/model/errors.ts";
import { type AutoscalerRef, autoscalerName, namespace } from "../../rules/model/ids.ts";
import type { EventRecord } from "../../rules/model/scale-records.ts";
import type { ClusterRecord } from "../../rules/model/records.ts";
import { DAY_MS } from "../../rules/model/time-text.ts";
import { deletedPlaces } from "../../stack/store/history/changes.ts";
import {
  EVENT_DAYS_KEPT,
  eventsOfAutoscaler,
  type Stretch,
} from "../../stack/store/history/events.ts";
import {
  eventsOfAutoscalers,
  eventsOfFleet,
  isTold,
  monthlyCounts,
} from "../../stack/store/history/fleet-events.ts";
import type { EventCount, EventView } from "../views/event.ts";
import { type QueryContext, sees } from "./context.ts";
import { clustersNamed, findAutoscaler, splitName } from "./find-autoscaler.ts";
import type { pastClusters as PastClusters } from "./past-clusters.ts";
import type {
  AutoscalerQuery,
  EventCountCursor,
  EventCountQuery,
  EventCursor,
  EventQuery,
} from "./service.ts";
import { refuseEmptyRange } from "./times.ts";
import { eventView } from "./views/event-view.ts";

/** The time range of an event list, and the cursor after which it goes on. */
interface Wanted {
  readonly stretch: Stretch;
  readonly after: EventCursor | undefined;
}

/**
 * Lists scale events in order of time, page by page. The events of a deleted autoscaler are found
 * too.
 */
export async function* events(
  context: QueryContext,
  { name, sinceMs, untilMs, after, ...filter }: EventQuery,
): AsyncGenerator<EventView> {
  const nowMs = context.clock();
  refuseEmptyRange("list the events", { sinceMs, untilMs }, nowMs);
  // Older events have expired, though they may not be deleted yet.
  const stretch: Stretch = {
    sinceMs: Math.max(sinceMs ?? 0, nowMs - EVENT_DAYS_KEPT * DAY_MS),
    untilMs: untilMs ?? nowMs,
  };
  const wanted = { stretch, after };
  const records =
    name === undefined
      ? ofAll(context, filter, wanted)
      : ofOne(context, { ...filter, name }, wanted);
  for await (const record of records) yield eventView(record);
}

const restOf = ({ stretch, after }: Wanted): Stretch =>
  after ? { ...stretch, sinceMs: Math.max(stretch.sinceMs, after.atMs) } : stretch;

async function* untold(
  records: AsyncIterable<EventRecord>,
  after: EventCursor | undefined,
): AsyncGenerator<EventRecord> {
  for await (const event of records) if (!isTold(event, after)) yield event;
}

/** The code for removed clusters is loaded where one may be meant: most lists need none of it. */
const clustersOf = async (
  context: QueryContext,
  wanted: Parameters<typeof PastClusters>[1],
): Promise<readonly Pick<ClusterRecord, "name">[]> => {
  try {
    if (!wanted.removed) return await clustersNamed(context, wanted.cluster);
  } catch (error) {
    if (!isTidemarkError(error, "service.unknown")) throw error;
  }
  return (await import("./past-clusters.ts")).pastClusters(context, wanted);
};

type OfAll = Pick<EventQuery, "cluster" | "namespace" | "part" | "removed">;

async function* ofAll(
  context: QueryContext,
  { cluster, namespace: inside, part, removed }: OfAll,
  wanted: Wanted,
): AsyncGenerator<EventRecord> {
  const { sinceMs } = wanted.stretch;
  const found = await clustersOf(context, { cluster, removed, sinceMs });
  const clusters = found.map(({ name }) => name);
  yield* eventsOfFleet(context.tables, clusters, restOf(wanted), {
    after: wanted.after,
    wants: (event) =>
      (inside === undefined || event.namespace === inside) &&
      sees(context, event.cluster, event.namespace),
    ...(part && {
      stops: part.stops,
      onStop: (fromMs, after) => part.onStop({ fromMs, ...(after && { after: cursorOf(after) }) }),
    }),
  });
}

const cursorOf = ({ cluster, atMs, id }: EventRecord): EventCursor => ({ cluster, atMs, id });

async function* ofOne(
  context: QueryContext,
  query: AutoscalerQuery,
  wanted: Wanted,
): AsyncGenerator<EventRecord> {
  try {
    const { record } = await findAutoscaler(context, query);
    yield* untold(eventsOfAutoscaler(context.tables, record, restOf(wanted)), wanted.after);
  } catch (error) {
    if (!isTidemarkError(error, "service.unknown")) throw error;
    let seen = wanted.after !== undefined;
    for await (const event of ofDeleted(context, splitName(query), wanted)) {
      seen = true;
      yield event;
    }
    if (!seen) throw error;
  }
}

/**
 * Events of a deleted autoscaler. Its namespace is given, or its deletions say where it was: so it
 * takes a few requests, however many clusters and namespaces there are.
 */
async function* ofDeleted(
  context: QueryContext,
  query: AutoscalerQuery,
  wanted: Wanted,
): AsyncGenerator<EventRecord> {
  const name = autoscalerName(query.name);
  const inside = query.namespace === undefined ? undefined : namespace(query.namespace);
  const [clusters, deleted] = await Promise.all([
    clustersNamed(context, query.cluster),
    inside === undefined ? deletedPlaces(context.tables, name) : [],
  ]);
  const names = new Set(clusters.map(({ name: cluster }) => cluster));
  const places: readonly AutoscalerRef[] =
    inside === undefined
      ? deleted.filter(({ cluster }) => names.has(cluster))
      : [...names].map((cluster) => ({ cluster, namespace: inside, name }));
  const refs = places.filter((ref) => sees(context, ref.cluster, ref.namespace));
  yield* untold(eventsOfAutoscalers(context.tables, refs, restOf(wanted)), wanted.after);
}

/** Clusters whose counts are in memory at once. */
const CLUSTERS_TOGETHER = 50;

/**
 * Counts scale events by autoscaler and month, in order of cluster, month, namespace and name. An
 * autoscaler without an event in a month has no line. Those that were deleted are counted too.
 */
export async function* eventCounts(
  context: QueryContext,
  { name, sinceMs, untilMs, onPart, ...filter }: EventCountQuery,
  after?: EventCountCursor,
): AsyncGenerator<EventCount> {
  const nowMs = context.clock();
  refuseEmptyRange("count the events", { sinceMs, untilMs }, nowMs);
  const range = rangeOf(nowMs, sinceMs, untilMs);
  if (range.untilMs < range.sinceMs) return;
  const wanted: Partial<AutoscalerQuery> =
    name === undefined ? filter : splitName({ ...filter, name });
  const isWanted = (one: EventCount): boolean =>
    (wanted.namespace ?? one.namespace) === one.namespace &&
    (wanted.name ?? one.name) === one.name &&
    sees(context, one.cluster, one.namespace) &&
    !isUpTo(one, after);
  const clusters = (await clustersNamed(context, wanted.cluster)).filter(
    ({ name: cluster }) => !after || isLeft(cluster, after),
  );
  let isEmpty = after === undefined;
  const names = clusters.map(({ name: cluster }) => cluster);
  for (let at = 0; at < names.length; ) {
    const counted = await monthlyCounts(
      context.tables,
      names.slice(at, at + CLUSTERS_TOGETHER),
      range,
    );
    const together = names.slice(at, at + counted.length);
    const lines = together.flatMap((cluster, of) =>
      linesOf(cluster, counted[of] ?? new Map()).filter(isWanted),
    );
    isEmpty &&= lines.length === 0;
    yield* lines;
    at += together.length;
    const last = together.at(-1);
    if (last && at < names.length && onPart?.({ cluster: last })) return;
  }
  // A name that nothing ever had is refused, as everywhere.
  if (isEmpty && name !== undefined) await findAutoscaler(context, { ...filter, name });
}

const rangeOf = (nowMs: number, sinceMs = 0, untilMs = nowMs) => ({
  sinceMs: Math.max(sinceMs, nowMs - EVENT_DAYS_KEPT * DAY_MS),
  untilMs: Math.min(untilMs, nowMs),
});

type Counted = Awaited<ReturnType<typeof monthlyCounts>>[number];

const linesOf = (cluster: string, months: Counted): readonly EventCount[] =>
  [...months]
    .flatMap(([month, byPath]) =>
      [...byPath].map(([path, counts]) => {
        const [inside = "", name = ""] = path.split("/");
        return { month, cluster, namespace: inside, name, ...counts };
      }),
    )
    .sort(inOrder);

const order = (one: string, other: string): number => (one < other ? -1 : one > other ? 1 : 0);
const inOrder = (one: EventCountCursor, other: EventCountCursor): number =>
  order(one.cluster, other.cluster) ||
  order(one.month ?? "", other.month ?? "") ||
  order(one.namespace ?? "", other.namespace ?? "") ||
  order(one.name ?? "", other.name ?? "");

/** Without a month the cursor is after all of its cluster. */
const isUpTo = (one: EventCount, after: EventCountCursor | undefined): boolean =>
  after?.month !== undefined && inOrder(one, after) <= 0;

const isLeft = (cluster: string, after: EventCountCursor): boolean =>
  after.month === undefined ? cluster > after.cluster : cluster >= after.cluster;
