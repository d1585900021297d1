import type { ClusterName } from "../../model/ids.ts";
import type { ScaleEventRecord } from "../../model/records.ts";
import { eachInGroups } from "../table/all-done.ts";
import { readAll } from "../table/read-all.ts";
import type { Tables } from "../table/tables.ts";
import { eventOf } from "./event-codec.ts";
import { DAY_MS, dayEventsParams, daysOf, isEmptyStretch, type Stretch } from "./events.ts";
import { historyItemOf } from "./item.ts";
import { addedMs } from "./scope-changes.ts";

/** Scale events of a whole cluster in order of time, day by day and page by page. */
export async function* eventsOfCluster(tables: Tables, cluster: ClusterName, stretch: Stretch): AsyncGenerator<ScaleEventRecord> {
  if (isEmptyStretch(stretch)) return;
  const open = async (day: string) => {
    const items = readAll(tables, `read the events of cluster "${cluster}"`, dayEventsParams(tables.historyTable, cluster, day, stretch));
    return { items, first: await items.next() };
  };
  for await (const { items, first } of eachInGroups(daysOf(await sinceAdded(tables, cluster, stretch)), DAYS_TOGETHER, open)) {
    if (first.done) continue;
    yield eventOf(historyItemOf(first.value));
    for await (const item of items) yield eventOf(historyItemOf(item));
  }
}

/** Days whose first page is asked for together: most days of most clusters have no event or one page. */
const DAYS_TOGETHER = 2;

/** For so few days, reading the time when the cluster was added costs more than it saves. */
const FEW_DAYS = 3;

/** The stretch without the days before the cluster was added. Where the history no longer holds that time, all days of thirteen months are read. */
const sinceAdded = async (tables: Tables, cluster: ClusterName, stretch: Stretch): Promise<Stretch> => {
  if (stretch.untilMs - stretch.sinceMs <= FEW_DAYS * DAY_MS) return stretch;
  const firstMs = await addedMs(tables, cluster);
  return firstMs === undefined ? stretch : { ...stretch, sinceMs: Math.max(stretch.sinceMs, firstMs) };
};
