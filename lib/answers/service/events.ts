import { isTidemarkError } from "../../rules/model/errors.ts";
import { type AutoscalerRef, autoscalerName, namespace } from "../../rules/model/ids.ts";
import {
  EVENT_DAYS_KEPT,
  eventsOfAutoscaler,
  type Stretch,
} from "../../stack/store/history/events.ts";
import {
  eventsOfAutoscalers,
  eventsOfFleet,
  monthlyCounts,
} from "../../stack/store/history/fleet-events.ts";
import type { EventView, EventCount } from "../views/event.ts";
import { type QueryContext, sees } from "./context.ts";
import { clustersNamed, findAutoscaler, fleetNamed, splitName } from "./find-autoscaler.ts";
import { knownNames } from "./known-partitions.ts";
import type {
  AutoscalerQuery,
  EventCursor,
  EventQuery,
  EventCountCursor,
  EventCountQuery,
} from "./service.ts";
import { refuseEmptyRange } from "./times.ts";
import { eventView } from "./views/event-view.ts";
import type { EventRecord } from "../../rules/model/scale-records.ts";
import { DAY_MS } from "../../rules/model/time-text.ts";

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

/**
 * True for events that are not after the cursor. The time range starts at the cursor's own instant,
 * so it contains them again.
 */
const wasTold = ({ atMs, cluster, id }: EventRecord, after: EventCursor | undefined): boolean =>
  after !== undefined &&
  atMs === after.atMs &&
  (cluster < after.cluster || (cluster === after.cluster && id <= after.id));

async function* untold(
  records: AsyncIterable<EventRecord>,
  after: EventCursor | undefined,
): AsyncGenerator<EventRecord> {
  for await (const event of records) if (!wasTold(event, after)) yield event;
}

async function* ofAll(
  context: QueryContext,
  { cluster, namespace: inside, part }: Pick<EventQuery, "cluster" | "namespace" | "part">,
  wanted: Wanted,
): AsyncGenerator<EventRecord> {
  const clusters = (await clustersNamed(context, cluster)).map(({ name }) => name);
  yield* eventsOfFleet(context.tables, clusters, restOf(wanted), {
    isTold: (event) => wasTold(event, wanted.after),
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
 * Events of a deleted autoscaler: reads the key of its name in the given namespace, or in each that
 * has autoscalers.
 */
async function* ofDeleted(
  context: QueryContext,
  query: AutoscalerQuery,
  wanted: Wanted,
): AsyncGenerator<EventRecord> {
  const refs: AutoscalerRef[] = [];
  const { clusters, isEdited } = await fleetNamed(context, query.cluster);
  const known =
    query.namespace === undefined
      ? await knownNames(context, clusters, { consistent: isEdited })
      : [];
  for (const { name: cluster } of clusters) {
    const namespaces =
      query.namespace === undefined
        ? known.flatMap((ref) => (ref.cluster === cluster ? [ref.namespace] : []))
        : [query.namespace];
    for (const inside of new Set(namespaces))
      if (sees(context, cluster, inside))
        refs.push({ cluster, namespace: namespace(inside), name: autoscalerName(query.name) });
  }
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
