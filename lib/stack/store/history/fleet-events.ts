import type { AutoscalerRef, ClusterName } from "../../../rules/model/ids.ts";
import type { EventRecord } from "../../../rules/model/scale-records.ts";
import { DAY_MS } from "../../../rules/model/time-text.ts";
import { utcDate, monthOf } from "../table/keys.ts";
import { readAll } from "../table/read-many.ts";
import type { Tables } from "../table/tables.ts";
import { mapWithLimit, REQUESTS_AT_ONCE } from "../table/wait-for-all.ts";
import {
  type EventCalendar,
  eventCalendar,
  type KnownDay,
  openSinceMs,
  type Range,
} from "./event-calendar.ts";
import { type CountsByPath, CountsSum, eventsIn } from "./event-counts.ts";
import {
  autoscalerEventsParams,
  dayEventsParams,
  eventOf,
  isEmptyStretch,
  type Stretch,
} from "./events.ts";
import { historyItemOf } from "./item.ts";
import {
  placedBefore,
  type HistoryRead,
  ITEMS_IN_MEMORY,
  inOrder,
  mergedHistory,
  type SearchPause,
  type Placed,
  Rounds,
} from "./merged-history.ts";

/** What a day is taken for that nobody counted. */
const UNCOUNTED = 20;

type EventRead = HistoryRead<EventRecord>;

/** True for events that are not after a place. */
export const isTold = (event: Placed, place: Placed | undefined): boolean =>
  place !== undefined && placedBefore(event, place) <= 0;

/**
 * The stretch of one cluster after a place: of the instant of the place only clusters that come
 * after it in order have events left.
 */
const stretchAfter = (
  stretch: Stretch,
  cluster: ClusterName,
  place: Placed | undefined,
): Stretch =>
  place
    ? {
        ...stretch,
        sinceMs: Math.max(stretch.sinceMs, place.atMs + (cluster < place.cluster ? 1 : 0)),
      }
    : stretch;

/** Which events are searched, and where the search may stop. */
export interface EventSearch {
  /** False for autoscalers whose events are left out. */
  readonly wants?: (event: {
    readonly cluster: string;
    readonly namespace: string;
    readonly name: string;
  }) => boolean;
  /** The last event that an earlier part of the list gave: the search goes on after it. */
  readonly after?: Placed | undefined;
  /**
   * Asked before more requests: whether the search stops, when it would have sent so many one after
   * the other. It stops only where it has got on.
   */
  readonly stops?: (inRow: number) => boolean;
  /**
   * Called where the search stopped before its end: it goes on at this instant, after the last
   * wanted event of that instant.
   */
  readonly onStop?: (fromMs: number, after: EventRecord | undefined) => void;
}

/**
 * Scale events of many clusters in order of time. Events of one instant are in order of cluster,
 * then id. What is counted says which days of which clusters are read, and how many of them at
 * once: some 2,000 events. A day that has more is read page by page, of all clusters together.
 */
export async function* eventsOfFleet(
  tables: Tables,
  clusters: readonly ClusterName[],
  stretch: Stretch,
  { wants = () => true, after, stops = () => false, onStop }: EventSearch = {},
): AsyncGenerator<EventRecord> {
  const rounds = new Rounds();
  const isListed = (event: EventRecord): boolean => !isTold(event, after) && wants(event);
  let given: EventRecord | undefined;
  for await (const step of steps({ tables, clusters, stretch, wants, after }, rounds)) {
    if ("requests" in step) {
      const place = placeOf(step, stretch, given);
      if (place && stops(inRowBefore(step, rounds))) return onStop?.(...place);
    } else if (isListed(step)) {
      given = step;
      yield step;
    }
  }
}

/**
 * Where a search that stops here goes on; `undefined` where it has not got on. Only a listed event
 * may be named, because it goes into a page token.
 */
const placeOf = (
  { atMs }: SearchPause,
  { sinceMs }: Stretch,
  given: EventRecord | undefined,
): [number, EventRecord | undefined] | undefined => {
  const after = given?.atMs === atMs ? given : undefined;
  return after || atMs > sinceMs ? [atMs, after] : undefined;
};

const inRowBefore = ({ requests }: SearchPause, { used }: Rounds): number =>
  used + Math.ceil(requests / REQUESTS_AT_ONCE);

interface Searched extends Required<Pick<EventSearch, "wants">>, Pick<EventSearch, "after"> {
  readonly tables: Tables;
  readonly clusters: readonly ClusterName[];
  readonly stretch: Stretch;
}

async function* steps(
  searched: Searched,
  rounds: Rounds,
): AsyncGenerator<EventRecord | SearchPause> {
  if (isEmptyStretch(searched.stretch)) return;
  for (const part of partsOf(searched.stretch, searched.tables.clock())) {
    // The calendars, and at least one group of days.
    yield { atMs: part.sinceMs, requests: searched.clusters.length + REQUESTS_AT_ONCE };
    for (const { fromMs, reads } of groupsOf(await plannedDays(searched, part, rounds))) {
      yield { atMs: fromMs, requests: reads.length };
      yield* mergedHistory(searched.tables, reads, rounds);
    }
  }
}

/**
 * The months that may be closed, and the days after them: the calendar of these is read when the
 * search comes to them.
 */
const partsOf = ({ sinceMs, untilMs }: Stretch, nowMs: number): readonly Range[] => {
  const borderMs = openSinceMs(nowMs);
  if (sinceMs >= borderMs || untilMs < borderMs) return [{ sinceMs, untilMs }];
  return [
    { sinceMs, untilMs: borderMs - 1 },
    { sinceMs: borderMs, untilMs },
  ];
};

interface PlannedReads {
  readonly fromMs: number;
  readonly reads: readonly EventRead[];
}

const plannedDays = async (
  { tables, clusters, stretch, wants, after }: Searched,
  part: Range,
  rounds: Rounds,
): Promise<readonly PlannedReads[]> => {
  // Of more clusters a third request of each would be two more in a row.
  const asksAdded = clusters.length <= REQUESTS_AT_ONCE;
  const calendars = await rounds.all(
    clusters,
    (cluster) => eventCalendar(tables, cluster, part, { asksAdded }),
    ({ requests }) => requests,
  );
  const byDay = new Map<string, EventRead[]>();
  for (const [at, cluster] of clusters.entries()) {
    for (const [day, expected] of daysIn(calendars[at], part, (path) =>
      wants({ cluster, ...path }),
    )) {
      const reads = byDay.get(day) ?? [];
      byDay.set(day, reads);
      const own = stretchAfter(stretch, cluster, after);
      if (isEmptyStretch(own)) continue;
      const params = dayEventsParams(tables.historyTable, cluster, day, own);
      reads.push({ params, expected, itemOf: eventOf });
    }
  }
  const days = [...byDay].toSorted(([one], [other]) => inOrder(one, other));
  return days.map(([day, reads]) => ({ fromMs: Math.max(part.sinceMs, Date.parse(day)), reads }));
};

interface Path {
  readonly namespace: string;
  readonly name: string;
}
const pathIn = (text: string): Path => {
  const [namespace = "", name = ""] = text.split("/");
  return { namespace, name };
};

/** The days to read, with how many events each has. */
const daysIn = (
  calendar: EventCalendar | undefined,
  { sinceMs, untilMs }: Range,
  wants: (path: Path) => boolean,
): readonly (readonly [string, number])[] => {
  if (!calendar) return [];
  const [first, last] = [utcDate(Math.max(0, sinceMs)), utcDate(untilMs)];
  const hasWanted = (counts: ReadonlyMap<string, unknown>): boolean =>
    [...counts.keys()].some((text) => wants(pathIn(text)));
  const inMonths = [...calendar.months.values()].flatMap(({ counts, days }) =>
    hasWanted(counts) ? [...days] : [],
  );
  const others = calendar.days.flatMap(({ day, counts }) => {
    if (!counts) return [[day, UNCOUNTED] as const];
    return hasWanted(counts)
      ? [[day, [...counts.values()].reduce((sum, some) => sum + eventsIn(some), 0)] as const]
      : [];
  });
  return [...inMonths.filter(([day]) => day >= first && day <= last), ...others];
};

/** Days that are read together: so many that their events fit into memory, and at least one. */
function* groupsOf(days: readonly PlannedReads[]): Generator<PlannedReads> {
  let [group, expected, fromMs]: [EventRead[], number, number] = [[], 0, days[0]?.fromMs ?? 0];
  for (const day of days) {
    const more = day.reads.reduce((sum, read) => sum + read.expected, 0);
    if (
      group.length > 0 &&
      (expected + more > ITEMS_IN_MEMORY || group.length + day.reads.length > REQUESTS_AT_ONCE)
    ) {
      yield { fromMs, reads: group };
      [group, expected, fromMs] = [[], 0, day.fromMs];
    }
    group.push(...day.reads);
    expected += more;
  }
  if (group.length > 0) yield { fromMs, reads: group };
}

/** Scale events of some autoscalers by name, in order of time, then of cluster and id. */
export async function* eventsOfAutoscalers(
  tables: Tables,
  refs: readonly AutoscalerRef[],
  stretch: Stretch,
): AsyncGenerator<EventRecord> {
  if (isEmptyStretch(stretch)) return;
  const reads = refs.map((ref) => ({
    params: autoscalerEventsParams(tables.historyTable, ref, stretch),
    expected: UNCOUNTED,
    itemOf: eventOf,
  }));
  for await (const step of mergedHistory(tables, reads, new Rounds()))
    if (!("requests" in step)) yield step;
}

/** Days that are read of some clusters together: three rounds of requests. */
const DAYS_TOGETHER = 3 * REQUESTS_AT_ONCE;

type MonthlyCounts = ReadonlyMap<string, CountsByPath>;

/**
 * The scale events of clusters in a range, both ends inclusive, by month and autoscaler: of the
 * first of these clusters, one at least, so many as have few days that nobody counted. Closed
 * months of a cluster are one request and the closed days outside of them another one; of other
 * days, and of the parts of a day at the ends, the events are read.
 */
export const monthlyCounts = async (
  tables: Tables,
  clusters: readonly ClusterName[],
  range: Range,
): Promise<readonly MonthlyCounts[]> => {
  const calendars = await mapWithLimit(clusters, REQUESTS_AT_ONCE, (cluster) =>
    eventCalendar(tables, cluster, range, { isWhole: true }),
  );
  const counted = clusters.slice(0, fitting(calendars, range));
  const reads = counted.flatMap((cluster, at) =>
    (calendars[at]?.days ?? []).map((day) => ({ cluster, day })),
  );
  const ofDays = await mapWithLimit(reads, REQUESTS_AT_ONCE, ({ cluster, day }) =>
    countsOfDay(tables, cluster, { day, range }),
  );
  const byCluster = Map.groupBy(
    reads.map(({ cluster, day: { day } }, at) => ({
      cluster,
      day,
      counts: ofDays[at] ?? new Map(),
    })),
    ({ cluster }) => cluster,
  );
  return counted.map((cluster, at) => summed(calendars[at], byCluster.get(cluster) ?? []));
};

/** How many of the calendars have together so few days to read; one at least. */
const fitting = (calendars: readonly EventCalendar[], range: Range): number => {
  let days = 0;
  for (const [at, calendar] of calendars.entries()) {
    days += calendar.days.filter((day) => !isCounted(day, range)).length;
    if (days > DAYS_TOGETHER) return Math.max(1, at);
  }
  return calendars.length;
};

const summed = (
  calendar: EventCalendar | undefined,
  days: readonly { readonly day: string; readonly counts: CountsByPath }[],
): MonthlyCounts => {
  const sums = new Map<string, CountsSum>();
  const add = (month: string, counts: CountsByPath): void => {
    const sum = sums.get(month) ?? new CountsSum();
    sums.set(month, sum);
    sum.add(counts);
  };
  for (const [month, { counts }] of calendar?.months ?? []) add(month, counts);
  for (const { day, counts } of days) add(monthOf(day), counts);
  return new Map([...sums].map(([month, { byPath }]) => [month, byPath]));
};

/** True for a day whose counts are stored and lie in the range as a whole. */
const isCounted = ({ day, counts }: KnownDay, range: Range): boolean => {
  const fromMs = Date.parse(day);
  return counts !== undefined && fromMs >= range.sinceMs && fromMs + DAY_MS - 1 <= range.untilMs;
};

const countsOfDay = async (
  tables: Tables,
  cluster: ClusterName,
  { day, range }: { readonly day: KnownDay; readonly range: Range },
): Promise<CountsByPath> => {
  if (day.counts && isCounted(day, range)) return day.counts;
  const sum = new CountsSum();
  const params = dayEventsParams(tables.historyTable, cluster, day.day, range);
  for await (const item of readAll(tables, `count the events of cluster "${cluster}"`, params))
    sum.addEvent(eventOf(historyItemOf(item)));
  return sum.byPath;
};
