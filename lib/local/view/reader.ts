import type { Service } from "../../service/service.ts";
import { toArray } from "../../service/to-array.ts";
import type { AutoscalerView, EventView } from "../../service/views/autoscaler.ts";
import { type News, onNews } from "./news.ts";

/** Reads what the stack stored, as a person with the command would. */
export interface StackReader {
  readonly autoscalers: () => Promise<readonly AutoscalerView[]>;
  /** Events that were not given before, in order of time; none while a sync is at work. */
  readonly newEvents: () => Promise<readonly EventView[]>;
  /** All that were given so far. */
  readonly seen: () => readonly EventView[];
}

/** An attempt that is settled late is stored under the time of its decision: looking back this far finds it. */
const LOOK_BACK_MS = 10 * 60_000;

/** `sinceMs`: events from before are old news. Where nothing was written since, the tables are not asked again. */
export const stackReader = (service: Service, sinceMs: number, news: News): StackReader => {
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
    autoscalers: onNews(news, () => toArray(service.autoscalers({}))),
    newEvents: async () => {
      await eventsRead();
      return fresh.splice(0);
    },
    seen: () => [...seen.values()],
  };
};
