import { isTidemarkError } from "../../rules/model/errors.ts";
import type { Service } from "../../answers/service/service.ts";
import type { AutoscalerView } from "../../answers/views/autoscaler.ts";
import type { EventView } from "../../answers/views/event.ts";
import type { AutoscalerRow } from "../../answers/views/row.ts";
import type { NamedAutoscaler } from "../folder/names.ts";

/** Reads the tables, as the command of a person does. */
export interface StackReader {
  /**
   * At most this many of them, first what needs a person, then in order of name; without a number
   * all of them.
   */
  readonly autoscalers: (most?: number) => Promise<readonly AutoscalerView[]>;
  /** How many autoscalers the last sync of each partition had; 0 before the first sync. */
  readonly total: () => number;
  /** Events that earlier calls did not return, in order of time; none while a sync is at work. */
  readonly newEvents: () => Promise<readonly EventView[]>;
  /** All events returned so far. */
  readonly seen: () => readonly EventView[];
  /** All events from this time on, also of earlier starts. */
  readonly eventsSince: (sinceMs: number) => Promise<readonly EventView[]>;
}

/**
 * An attempt that is settled late is stored under the time of its decision. A look back of this
 * length finds it.
 */
const LOOK_BACK_MS = 10 * 60_000;

/**
 * Earlier events than `sinceMs` are left out. Without a write since the last read the tables are
 * not read again.
 */
export const stackReader = (
  service: Service,
  sinceMs: number,
  news: News & Pick<StackReader, "total"> & { readonly clock: () => number },
): StackReader => {
  const seen = new Map<string, EventView>();
  let newestMs = sinceMs;
  const fresh: EventView[] = [];
  const readEvents = async (): Promise<void> => {
    for await (const event of service.events({
      // A clock that was set back is before the newest event, and asks for no future.
      sinceMs: Math.min(Math.max(sinceMs, newestMs - LOOK_BACK_MS), news.clock() - LOOK_BACK_MS),
    })) {
      newestMs = Math.max(newestMs, Date.parse(event.at));
      if (seen.has(event.id)) continue;
      seen.set(event.id, event);
      fresh.push(event);
    }
  };
  const eventsRead = onNews(news, readEvents);
  const urgentFirst = urgentReader(service);
  // Kept apart from the few that a picture shows: all of them come in order of name.
  const all = onNews(news, (most) => firstOf(service, most));
  const first = onNews(news, (most) =>
    news.total() > most ? urgentFirst(most) : firstOf(service, most),
  );
  return {
    autoscalers: (most) => (most === undefined ? all() : first(most)),
    total: news.total,
    newEvents: async () => {
      await eventsRead();
      return fresh.splice(0);
    },
    seen: () => [...seen.values()],
    eventsSince: (fromMs) => Array.fromAsync(service.events({ sinceMs: fromMs })),
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

type UrgentRow = Partial<
  Pick<AutoscalerRow, "state" | "missingMetrics" | "currentReplicas" | "maxReplicas" | "maxInForce">
>;

const inState =
  (word: string) =>
  ({ state }: UrgentRow) =>
    state?.startsWith(word) === true;
/** Its metrics may ask for more than it may have. */
const atMaximum = ({
  state,
  currentReplicas,
  maxReplicas,
  maxInForce = maxReplicas,
}: UrgentRow): boolean =>
  state === "limited" &&
  currentReplicas !== undefined &&
  maxInForce !== undefined &&
  currentReplicas >= maxInForce;

/** What a person must look at, the worst first. What works comes after all of it. */
const URGENT: readonly ((row: UrgentRow) => boolean)[] = [
  inState("invalid"),
  inState("forbidden"),
  inState("failing"),
  ({ missingMetrics = 0 }) => missingMetrics > 0,
  atMaximum,
  inState("frozen"),
  inState("paused"),
  inState("held"),
  inState("waiting"),
];

/**
 * How long the order of the rows is kept: reading thousands of them at each look would slow the run
 * down.
 */
const ORDER_MS = 5_000;

/**
 * Of more autoscalers than fit: those that need a person first. Where all of them work, the first
 * ones by name.
 */
const urgentReader = (service: Service) => {
  let kept: { readonly urgent: readonly NamedAutoscaler[]; readonly readMs: number } | undefined;
  return async (most: number): Promise<readonly AutoscalerView[]> => {
    if (!kept || performance.now() - kept.readMs >= ORDER_MS)
      kept = { urgent: await urgentOf(service), readMs: performance.now() };
    const named = await Promise.all(kept.urgent.slice(0, most).map((one) => there(service, one)));
    const first = named.filter((one) => one !== undefined);
    if (first.length >= most) return first;
    const uids = new Set(first.map(({ uid }) => uid));
    const others = await firstOf(service, most);
    return [...first, ...others.filter(({ uid }) => !uids.has(uid))].slice(0, most);
  };
};

/** In order of urgency, and of name within it, so that the picture does not jump. */
const urgentOf = async (service: Service): Promise<readonly NamedAutoscaler[]> => {
  const urgent: (NamedAutoscaler & { readonly rank: number })[] = [];
  for await (const { cluster, rows } of service.rows({
    fields: ["state", "missingMetrics", "currentReplicas", "maxReplicas", "maxInForce"],
  }))
    for (const row of rows) {
      const rank = URGENT.findIndex((isSo) => isSo(row));
      if (rank >= 0) urgent.push({ cluster, namespace: row.namespace, name: row.name, rank });
    }
  return urgent.toSorted((one, other) => one.rank - other.rank);
};

/** Undefined for one that was deleted since the order was read. */
const there = async (
  service: Service,
  query: NamedAutoscaler,
): Promise<AutoscalerView | undefined> => {
  try {
    return await service.get(query);
  } catch (error) {
    if (isTidemarkError(error, "service.unknown")) return undefined;
    throw error;
  }
};

/**
 * Says whether anything may have changed since the last look, so that unchanged data is not read
 * again.
 */
interface News {
  /** Writes that the tables have answered so far, of every client. */
  readonly writes: () => number;
  /**
   * True while a sync is at work. Its writes are not complete yet, and a read would slow it down.
   */
  readonly syncing: () => boolean;
}

/** During a long sync the data is read again after this time. */
const PATIENCE_MS = 5_000;

/**
 * Reads only after something was written, or when it is asked for more than it read last. During a
 * sync it returns the earlier value until the sync ends or the patience ends.
 */
export const onNews = <Value>(
  news: News,
  read: (most: number) => Promise<Value>,
  elapsed: () => number = () => performance.now(),
): ((most?: number) => Promise<Value>) => {
  let last:
    | {
        readonly value: Value;
        readonly most: number;
        readonly writes: number;
        readonly readMs: number;
      }
    | undefined;
  return async (most = Number.POSITIVE_INFINITY) => {
    const writes = news.writes();
    const waits =
      news.syncing() && elapsed() - (last?.readMs ?? Number.NEGATIVE_INFINITY) < PATIENCE_MS;
    if (last && last.most >= most && (last.writes === writes || waits)) return last.value;
    // The count is taken before the read, so that the next call reads a write that comes meanwhile.
    last = { value: await read(most), most, writes, readMs: elapsed() };
    return last.value;
  };
};
