import * as z from "zod";
import type { EventCursor, EventQuery, QueryService } from "../service/service.ts";
import { refuseEmptyRange } from "../service/time-range.ts";
import { DAY_MS, EVENT_DAYS_KEPT } from "../store/history/events.ts";
import type { EventView } from "../views/event.ts";
import { Page } from "./list-page.ts";
import { cursorIn } from "./page-cursor.ts";
import { pageToken } from "./page-cursor.ts";
import type { Reply } from "./request-and-answer.ts";
import type { RouteContext } from "./route.ts";

const instant = z.int().min(0).max(8_640_000_000_000_000);
/**
 * Where a page ended: `untilMs` is the end of the whole list, as the first page set it; `fromMs` is where the search goes on, and `after` the last event of the page. The search goes on
 * at the instant of that event: the first stretch of the next page is short again, and must contain the cursor.
 */
const CURSOR = z.strictObject({
  untilMs: instant,
  fromMs: instant,
  after: z.strictObject({ cluster: z.string(), atMs: instant, id: z.string() }).exactOptional(),
});
type Cursor = z.infer<typeof CURSOR>;

/** Days that are searched before the elapsed time is checked. Each day costs one request per cluster, with or without events. The stretch doubles after each search, so no search takes much longer than all before it. */
const FIRST_STRETCH_MS = 4 * DAY_MS;

/**
 * One page of scale events. A fleet is searched in stretches of days, so that a large fleet with few events is answered in bounded time.
 * A page may be empty and still not be the last.
 */
export const eventsPage = async (service: QueryService, query: EventQuery, token: string | undefined, context: RouteContext): Promise<Reply> => {
  const nowMs = context.clock();
  refuseEmptyRange("list the events", query, nowMs);
  const start = startCursor(query, nowMs);
  const cursor = token === undefined ? start : clamped(start, cursorIn(CURSOR, query, token));
  const page = new Page<EventCursor>(context.limits, context.clock);
  const next = await fillPage(service, query, cursor, page);
  return page.reply(next && pageToken(query, next));
};

const startCursor = ({ sinceMs = 0, untilMs }: EventQuery, nowMs: number): Cursor => ({
  untilMs: Math.min(untilMs ?? nowMs, nowMs),
  fromMs: Math.max(sinceMs, nowMs - EVENT_DAYS_KEPT * DAY_MS, 0),
});

/** Clamps a cursor to the range of the request, because a caller can make up a token. */
const clamped = (start: Cursor, { fromMs, untilMs, ...after }: Cursor): Cursor => ({
  fromMs: Math.max(fromMs, start.fromMs),
  untilMs: Math.min(untilMs, start.untilMs),
  ...after,
});

const fillPage = async (service: QueryService, query: EventQuery, cursor: Cursor, page: Page<EventCursor>): Promise<Cursor | undefined> => {
  let { fromMs, after } = cursor;
  const { untilMs } = cursor;
  // Nothing of what is kept lies in the range.
  if (fromMs > untilMs) return undefined;
  const { request, isWanted } = filterOf(query);
  for (let stretchMs = FIRST_STRETCH_MS; ; stretchMs *= 2) {
    const endMs = query.name === undefined ? Math.min(untilMs, fromMs + stretchMs) : untilMs;
    const stretch = { ...request, sinceMs: fromMs, untilMs: endMs, ...(after && { after }) };
    const left = await page.fill(service.events(stretch), cursorOf, isWanted);
    if (left) return { untilMs, fromMs: left.atMs, after: left };
    if (endMs >= untilMs) return undefined;
    fromMs = endMs + 1;
    after = undefined;
    if (page.isLate) return { untilMs, fromMs };
  }
};

/** Filters the namespace of a fleet here, so that the time limit is checked at every event. An autoscaler's own query filters by namespace itself. */
const filterOf = ({ namespace, ...query }: EventQuery): { readonly request: EventQuery; readonly isWanted: (event: EventView) => boolean } =>
  query.name !== undefined || namespace === undefined
    ? { request: { ...query, ...(namespace !== undefined && { namespace }) }, isWanted: () => true }
    : { request: query, isWanted: (event) => event.namespace === namespace };

const cursorOf = ({ cluster, at, id }: EventView): EventCursor => ({ cluster, atMs: Date.parse(at), id });
