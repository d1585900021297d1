import * as z from "zod";
import type { EventPlace, EventQuery, Reading } from "../service/service.ts";
import type { EventView } from "../service/views/autoscaler.ts";
import { DAY_MS, EVENT_DAYS_KEPT } from "../store/history/events.ts";
import type { Reply } from "./exchange.ts";
import { placeIn } from "./page-place.ts";
import { pageToken } from "./page-token.ts";
import { Page } from "./pages.ts";
import type { Edge } from "./route.ts";

const instant = z.int().min(0).max(8_640_000_000_000_000);
/** Where an answer was left: the end of the whole list, as the first answer found it, and the last event told or the time from where nothing was looked for yet. */
const PLACE = z.strictObject({
  untilMs: instant,
  fromMs: instant,
  after: z.strictObject({ cluster: z.string(), namespace: z.string(), atMs: instant, id: z.string() }).exactOptional(),
});
type Place = z.infer<typeof PLACE>;

/** Days of many clusters that are looked through before the time is looked at: each costs a request per cluster, whether it has events or not. Twice as many after each look: no step is much longer than all before it. */
const FIRST_STRETCH_MS = 4 * DAY_MS;

/**
 * One page of the scale events. Where those of a fleet are asked for, a stretch of days is looked through at a time, so that a fleet of any size in which little happens is answered in
 * bounded time; a page may then be empty and still not be the last.
 */
export const eventsPage = async (service: Reading, query: EventQuery, token: string | undefined, edge: Edge): Promise<Reply> => {
  const start = startOf(query, edge.clock());
  const place = token === undefined ? start : inside(start, placeIn(PLACE, query, token));
  const page = new Page<EventPlace>(edge.limits, edge.clock);
  const next = await filled(service, query, place, page);
  return page.reply(next && pageToken(query, next));
};

const startOf = ({ sinceMs = 0, untilMs }: EventQuery, nowMs: number): Place => ({
  untilMs: Math.min(untilMs ?? nowMs, nowMs),
  fromMs: Math.max(sinceMs, nowMs - EVENT_DAYS_KEPT * DAY_MS, 0),
});

/** A token may be anyone's invention: it never reaches beyond what there is to look through. */
const inside = (start: Place, { fromMs, untilMs, ...after }: Place): Place => ({
  fromMs: Math.max(fromMs, start.fromMs),
  untilMs: Math.min(untilMs, start.untilMs),
  ...after,
});

const filled = async (service: Reading, query: EventQuery, place: Place, page: Page<EventPlace>): Promise<Place | undefined> => {
  let { fromMs, after } = place;
  const { untilMs } = place;
  const { asked, isWanted } = sifted(query);
  for (let stretchMs = FIRST_STRETCH_MS; ; stretchMs *= 2) {
    const endMs = query.name === undefined ? Math.min(untilMs, fromMs + stretchMs) : untilMs;
    const stretch = { ...asked, sinceMs: fromMs, untilMs: endMs, ...(after && { after }) };
    const left = await page.fill(service.events(stretch), placeOf, isWanted);
    if (left) return { untilMs, fromMs, after: left };
    if (endMs >= untilMs) return undefined;
    fromMs = endMs + 1;
    after = undefined;
    if (page.isLate) return { untilMs, fromMs };
  }
};

/** A namespace of a fleet is sifted here, where every event that is passed over shows how late it is; an autoscaler is found by its namespace. */
const sifted = ({ namespace, ...query }: EventQuery): { readonly asked: EventQuery; readonly isWanted: (event: EventView) => boolean } =>
  query.name !== undefined || namespace === undefined
    ? { asked: { ...query, ...(namespace !== undefined && { namespace }) }, isWanted: () => true }
    : { asked: query, isWanted: (event) => event.namespace === namespace };

const placeOf = ({ cluster, namespace, at, id }: EventView): EventPlace => ({ cluster, namespace, atMs: Date.parse(at), id });
