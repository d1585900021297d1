import type { ClusterName } from "../../model/ids.ts";
import { dayOf, monthOf } from "../table/keys.ts";
import { readAll } from "../table/read-all.ts";
import type { Tables } from "../table/tables.ts";
import { mapWithLimit } from "../table/wait-for-all.ts";
import { eventCalendar, type KnownDay, type Range } from "./event-calendar.ts";
import { eventOf } from "./event-codec.ts";
import { type CountsByPath, CountsSum } from "./event-counts.ts";
import { DAY_MS, dayEventsParams } from "./events.ts";
import { historyItemOf } from "./item.ts";

/** Days of one cluster whose events are counted at the same time. */
const DAYS_AT_ONCE = 8;

/**
 * The scale events of a cluster in a range, both ends inclusive, by month and autoscaler. Closed months are one request and the closed days outside of them another one; of other days, and of the parts
 * of a day at the ends, the events are read.
 */
export const monthlyCounts = async (tables: Tables, cluster: ClusterName, range: Range): Promise<ReadonlyMap<string, CountsByPath>> => {
  const { months, days } = await eventCalendar(tables, cluster, range, { isWhole: true });
  const counted = await mapWithLimit(days, DAYS_AT_ONCE, (day) => countsOfDay(tables, cluster, { day, range }));
  const sums = new Map<string, CountsSum>();
  const add = (month: string, counts: CountsByPath): void => {
    const sum = sums.get(month) ?? new CountsSum();
    sums.set(month, sum);
    sum.add(counts);
  };
  for (const [month, { counts }] of months) add(month, counts);
  for (const [at, { day }] of days.entries()) add(monthOf(day), counted[at] ?? new Map());
  return new Map([...sums].map(([month, { byPath }]) => [month, byPath]));
};

const countsOfDay = async (
  tables: Tables,
  cluster: ClusterName,
  { day: { day, counts }, range }: { readonly day: KnownDay; readonly range: Range },
): Promise<CountsByPath> => {
  const fromMs = Date.parse(day);
  const isWhole = fromMs >= range.sinceMs && fromMs + DAY_MS - 1 <= range.untilMs;
  if (counts && isWhole) return counts;
  const sum = new CountsSum();
  const params = dayEventsParams(tables.historyTable, cluster, dayOf(fromMs), range);
  for await (const item of readAll(tables, `count the events of cluster "${cluster}"`, params)) sum.addEvent(eventOf(historyItemOf(item)));
  return sum.byPath;
};
