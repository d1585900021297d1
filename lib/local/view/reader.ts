import type { Service } from "../../service/service.ts";
import type { AutoscalerView } from "../../views/autoscaler.ts";
import type { EventView } from "../../views/event.ts";

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

/** Says whether anything may have changed since the last look, so that unchanged data is not read again. */
interface News {
  /** Writes that the tables have answered so far, of every client. */
  readonly writes: () => number;
  /** True while a sync is at work. Its writes are not complete yet, and a read would slow it down. */
  readonly syncing: () => boolean;
}

/** During a long sync the data is read again after this time. */
const PATIENCE_MS = 5_000;

/**
 * Reads only after something was written, or when it is asked for more than it read last. During a sync it returns the earlier value until the sync ends or the patience ends.
 */
export const onNews = <Value>(
  news: News,
  read: (most: number) => Promise<Value>,
  elapsed: () => number = () => performance.now(),
): ((most?: number) => Promise<Value>) => {
  let last: { readonly value: Value; readonly most: number; readonly writes: number; readonly readMs: number } | undefined;
  return async (most = Number.POSITIVE_INFINITY) => {
    const writes = news.writes();
    const waits = news.syncing() && elapsed() - (last?.readMs ?? Number.NEGATIVE_INFINITY) < PATIENCE_MS;
    if (last && last.most >= most && (last.writes === writes || waits)) return last.value;
    // The count is taken before the read, so that the next call reads a write that comes meanwhile.
    last = { value: await read(most), most, writes, readMs: elapsed() };
    return last.value;
  };
};
