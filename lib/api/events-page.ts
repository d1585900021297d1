import * as z from "zod";
import type { EventCursor, EventQuery, QueryService } from "../service/service.ts";
import type { EventView } from "../service/views/autoscaler.ts";
import { DAY_MS, EVENT_DAYS_KEPT } from "../store/history/events.ts";
import type { Reply } from "./messages.ts";
import { Page } from "./page.ts";
import { cursorIn } from "./page-cursor.ts";
import { pageToken } from "./page-token.ts";
import type { RouteContext } from "./route.ts";

const instant = z.int().min(0).max(8_640_000_000_000_000);
/** Where an answer was left: the end of the whole list, as the first answer found it, and the last event told or the time from where nothing was looked for yet. */
const CURSOR = z.strictObject({
  untilMs: instant,
  fromMs: instant,
  after: z.strictObject({ cluster: z.string(), namespace: z.string(), atMs: instant, id: z.string() }).exactOptional(),
});
type Cursor = z.infer<typeof CURSOR>;

/** Days of many clusters that are looked through before the time is looked at: each costs a request per cluster, whether it has events or not. Twice as many after each look: no step is much longer than all before it. */
const FIRST_STRETCH_MS = 4 * DAY_MS;

/**
 * One page of the scale events. Where those of a fleet are asked for, a stretch of days is looked through at a time, so that a fleet of any size in which little happens is answered in
 * bounded time; a page may then be empty and still not be the last.
 */
export const eventsPage = async (service: QueryService, query: EventQuery, token: string | undefined, edge: RouteContext): Promise<Reply> => {
  const start = startCursor(query, edge.clock());
  const place = token === undefined ? start : clamped(start, cursorIn(CURSOR, query, token));
  const page = new Page<EventCursor>(edge.limits, edge.clock);
  const next = await fillPage(service, query, place, page);
  return page.reply(next && pageToken(query, next));
};

const startCursor = ({ sinceMs = 0, untilMs }: EventQuery, nowMs: number): Cursor => ({
  untilMs: Math.min(untilMs ?? nowMs, nowMs),
  fromMs: Math.max(sinceMs, nowMs - EVENT_DAYS_KEPT * DAY_MS, 0),
});

/** A token may be anyone's invention: it never reaches beyond what there is to look through. */
const clamped = (start: Cursor, { fromMs, untilMs, ...after }: Cursor): Cursor => ({
  fromMs: Math.max(fromMs, start.fromMs),
  untilMs: Math.min(untilMs, start.untilMs),
  ...after,
});

const fillPage = async (service: QueryService, query: EventQuery, place: Cursor, page: Page<EventCursor>): Promise<Cursor | undefined> => {
  let { fromMs, after } = place;
  const { untilMs } = place;
  const { request, isWanted } = filterOf(query);
  for (let stretchMs = FIRST_STRETCH_MS; ; stretchMs *= 2) {
    const endMs = query.name === undefined ? Math.min(untilMs, fromMs + stretchMs) : untilMs;
    const stretch = { ...request, sinceMs: fromMs, untilMs: endMs, ...(after && { after }) };
    const left = await page.fill(service.events(stretch), cursorOf, isWanted);
    if (left) return { untilMs, fromMs, after: left };
    if (endMs >= untilMs) return undefined;
    fromMs = endMs + 1;
    after = undefined;
    if (page.isLate) return { untilMs, fromMs };
  }
};

/** A namespace of a fleet is sifted here, where every event that is passed over shows how late it is; an autoscaler is found by its namespace. */
const filterOf = ({ namespace, ...query }: EventQuery): { readonly request: EventQuery; readonly isWanted: (event: EventView) => boolean } =>
  query.name !== undefined || namespace === undefined
    ? { request: { ...query, ...(namespace !== undefined && { namespace }) }, isWanted: () => true }
    : { request: query, isWanted: (event) => event.namespace === namespace };

const cursorOf = ({ cluster, namespace, at, id }: EventView): EventCursor => ({ cluster, namespace, atMs: Date.parse(at), id });
