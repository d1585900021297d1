import { DAY_MS, EVENT_DAYS_KEPT } from "../store/history/events.ts";
import { monthlyCounts } from "../store/history/fleet-events.ts";
import { mapWithLimit } from "../store/table/wait-for-all.ts";
import type { EventCount } from "../views/event.ts";
import { type QueryContext, sees } from "./context.ts";
import { clustersNamed, findAutoscaler, splitName } from "./find-autoscaler.ts";
import type { AutoscalerQuery, EventCountCursor, EventCountQuery } from "./service.ts";
import { refuseEmptyRange } from "./time-range.ts";

/** Clusters whose counts are in memory at once. */
const CLUSTERS_TOGETHER = 50;

/** Counts scale events by autoscaler and month, in order of cluster, month, namespace and name. An autoscaler without an event in a month has no line. Those that were deleted are counted too. */
export async function* eventCounts(
  context: QueryContext,
  { name, sinceMs, untilMs, onPart, ...filter }: EventCountQuery,
  after?: EventCountCursor,
): AsyncGenerator<EventCount> {
  const nowMs = context.clock();
  refuseEmptyRange("count the events", { sinceMs, untilMs }, nowMs);
  const range = rangeOf(nowMs, sinceMs, untilMs);
  if (range.untilMs < range.sinceMs) return;
  const wanted: Partial<AutoscalerQuery> = name === undefined ? filter : splitName({ ...filter, name });
  const isWanted = (one: EventCount): boolean =>
    (wanted.namespace ?? one.namespace) === one.namespace &&
    (wanted.name ?? one.name) === one.name &&
    sees(context, one.cluster, one.namespace) &&
    !wasTold(one, after);
  const clusters = (await clustersNamed(context, wanted.cluster)).filter(({ name: cluster }) => !after || isLeft(cluster, after));
  let isEmpty = after === undefined;
  for (let at = 0; at < clusters.length; at += CLUSTERS_TOGETHER) {
    const together = clusters.slice(at, at + CLUSTERS_TOGETHER);
    const counted = await mapWithLimit(together, CLUSTERS_TOGETHER, (cluster) => monthlyCounts(context.tables, cluster.name, range));
    const lines = together.flatMap((cluster, of) => linesOf(cluster.name, counted[of] ?? new Map()).filter(isWanted));
    isEmpty &&= lines.length === 0;
    yield* lines;
    const last = together.at(-1);
    if (last && at + CLUSTERS_TOGETHER < clusters.length && onPart?.({ cluster: last.name })) return;
  }
  // A name that nothing ever had is refused, as everywhere.
  if (isEmpty && name !== undefined) await findAutoscaler(context, { ...filter, name });
}

const rangeOf = (nowMs: number, sinceMs = 0, untilMs = nowMs) => ({
  sinceMs: Math.max(sinceMs, nowMs - EVENT_DAYS_KEPT * DAY_MS),
  untilMs: Math.min(untilMs, nowMs),
});

type Counted = Awaited<ReturnType<typeof monthlyCounts>>;

const linesOf = (cluster: string, months: Counted): readonly EventCount[] =>
  [...months]
    .flatMap(([month, byPath]) =>
      [...byPath].map(([path, counts]) => {
        const [namespace = "", name = ""] = path.split("/");
        return { month, cluster, namespace, name, ...counts };
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
const wasTold = (one: EventCount, after: EventCountCursor | undefined): boolean => after?.month !== undefined && inOrder(one, after) <= 0;

const isLeft = (cluster: string, after: EventCountCursor): boolean =>
  after.month === undefined ? cluster > after.cluster : cluster >= after.cluster;
