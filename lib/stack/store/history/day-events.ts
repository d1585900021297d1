import type { ClusterName } from "../../../rules/model/ids.ts";
import type { EventRecord } from "../../../rules/model/scale-records.ts";
import { MINUTE_MS } from "../../../rules/model/time-text.ts";
import { dayEventKey, utcDate } from "../table/keys.ts";
import { readAll } from "../table/read-many.ts";
import type { Tables } from "../table/tables.ts";
import { dayEventsParams, daysOf, eventOf, type Stretch } from "./events.ts";
import { historyItemOf } from "./item.ts";

/** Every scale event of one cluster in a short stretch, in order of time. */
export async function* eventsOfDays(
  tables: Tables,
  cluster: ClusterName,
  stretch: Stretch,
): AsyncGenerator<EventRecord> {
  for (const day of daysOf(stretch)) {
    const params = dayEventsParams(tables.historyTable, cluster, day, stretch);
    for await (const item of readAll(tables, `read the events of "${cluster}"`, params))
      yield eventOf(historyItemOf(item));
  }
}

/**
 * Says of events whether so many others of their cluster and minute come before them. One request
 * for each cluster and minute; an event that is stored late may be one of the first, too.
 */
export const comesAfter = (
  tables: Tables,
  most: number,
): ((event: Pick<EventRecord, "cluster" | "atMs" | "id">) => Promise<boolean>) => {
  const minutes = new Map<string, Promise<readonly string[]>>();
  const firstOf = async (cluster: ClusterName, minuteMs: number): Promise<readonly string[]> => {
    const stretch = { sinceMs: minuteMs, untilMs: minuteMs + MINUTE_MS - 1, pageSize: most };
    const day = utcDate(minuteMs);
    const params = dayEventsParams(tables.historyTable, cluster, day, stretch);
    const first: string[] = [];
    for await (const item of readAll(tables, `read the first events of "${cluster}"`, params)) {
      first.push(historyItemOf(item).sk);
      if (first.length === most) break;
    }
    return first;
  };
  return async (event) => {
    const minuteMs = Math.floor(event.atMs / MINUTE_MS) * MINUTE_MS;
    const minute = `${event.cluster} ${minuteMs}`;
    const reading = minutes.get(minute) ?? firstOf(event.cluster, minuteMs);
    minutes.set(minute, reading);
    const first = await reading;
    const { sk } = dayEventKey(event.cluster, event);
    return first.length === most && first.every((key) => key < sk);
  };
};
