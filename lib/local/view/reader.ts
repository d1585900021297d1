import type { Service } from "../../service/service.ts";
import type { AutoscalerView, EventView } from "../../service/views/autoscaler-view.ts";
import { type News, onNews } from "./news.ts";

/** Reads the tables, as the command of a person does. */
export interface StackReader {
  /** The first of them, at most this many; without a number all of them. */
  readonly autoscalers: (most?: number) => Promise<readonly AutoscalerView[]>;
  /** How many autoscalers the last sync of each partition had; 0 before the first sync. */
  readonly total: () => number;
  /** Events that earlier calls did not return, in order of time; none while a sync is at work. */
  readonly newEvents: () => Promise<readonly EventView[]>;
  /** All events returned so far. */
  readonly seen: () => readonly EventView[];
}

/** An attempt that is settled late is stored under the time of its decision. A look back of this length finds it. */
const LOOK_BACK_MS = 10 * 60_000;

/** Earlier events than `sinceMs` are left out. Without a write since the last read the tables are not read again. */
export const stackReader = (service: Service, sinceMs: number, news: News & Pick<StackReader, "total">): StackReader => {
  const seen = new Map<string, EventView>();
  let newestMs = sinceMs;
  const fresh: EventView[] = [];
  const readEvents = async (): Promise<void> => {
    for await (const event of service.events({ sinceMs: Math.max(sinceMs, newestMs - LOOK_BACK_MS) })) {
      newestMs = Math.max(newestMs, Date.parse(event.at));
      if (seen.has(event.id)) continue;
      seen.set(event.id, event);
      fresh.push(event);
    }
  };
  const eventsRead = onNews(news, readEvents);
  return {
    autoscalers: onNews(news, (most) => firstOf(service, most)),
    total: news.total,
    newEvents: async () => {
      await eventsRead();
      return fresh.splice(0);
    },
    seen: () => [...seen.values()],
  };
};

/** A request that wants more takes as many as fit into an answer. */
const PAGE_MAX = 100;

const firstOf = async (service: Service, most: number): Promise<readonly AutoscalerView[]> => {
  const first: AutoscalerView[] = [];
  for await (const autoscaler of service.autoscalers(most <= PAGE_MAX ? { pageSize: most } : {})) {
    if (first.push(autoscaler) >= most) break;
  }
  return first;
};
