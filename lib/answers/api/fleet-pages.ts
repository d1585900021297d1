import * as z from "zod";
import type {
  AutoscalerCursor,
  DoctorQuery,
  QueryService,
  EventCountCursor,
  EventCountQuery,
  EventCursor,
  EventPart,
  EventQuery,
} from "../service/service.ts";
import { withFields } from "../service/views/row-view.ts";
import type { ExaminationView } from "../views/doctor.ts";
import type { ClusterRows } from "../views/row.ts";
import { AnswerPage, cursorIn, pageToken } from "./list-page.ts";
import { TAG_HEADER } from "./paths.ts";
import { type Reply, weakTag } from "./request-and-answer.ts";
import type { RouteContext } from "./route.ts";
import { refuseEmptyRange } from "../service/times.ts";
import { EVENT_DAYS_KEPT } from "../../stack/store/history/events.ts";
import type { EventCount, EventView } from "../views/event.ts";
import { present } from "../../rules/model/json.ts";
import { DAY_MS } from "../../rules/model/time-text.ts";
import type { RowField, RowQuery } from "../service/requests.ts";

/** `firstMs`: when the first page was made, where there is one. */
const ROWS_CURSOR = z.strictObject({ cluster: z.string(), firstMs: z.number().exactOptional() });

/**
 * Rows compress to an eighth, so that a page has more of them: a fleet of 10,000 autoscalers takes
 * three pages.
 */
const PAGE_FACTOR = 2;

type RowsInput = RowQuery & { readonly page?: string };

/**
 * One page of rows, cluster by cluster. Its entity tag is weak, and stands for all that the rows
 * show but their ages: with If-None-Match, an answer that shows the same is a 304 without a body.
 */
export const rowsPage = async (
  service: QueryService,
  { page: token, fields, known, most, ...query }: RowsInput,
  context: RouteContext,
): Promise<Reply> => {
  // Neither the marks nor `most` is part of the question: a later page may have others.
  const question = { ...query, ...(fields && { fields }) };
  const { cluster: after, firstMs } =
    token === undefined ? {} : cursorIn(ROWS_CURSOR, question, token);
  const startMs = firstMs ?? context.clock();
  const limits = { ...context.limits, bytes: PAGE_FACTOR * context.limits.bytes };
  const page = new AnswerPage<z.infer<typeof ROWS_CURSOR>>(limits, context.clock);
  const marks: (string | undefined)[] = [];
  const read = service.rows({ ...question, ...present({ known, most }) }, after, firstMs);
  const left = await page.fill(
    chosen(read, fields, marks),
    ({ cluster }) => ({ cluster, firstMs: startMs }),
    enoughAt(most),
  );
  const reply = page.reply(left && pageToken(question, left));
  return markTagged(reply, question, marks);
};

/** True of the item with which a page has so many rows. */
const enoughAt = (most = Number.POSITIVE_INFINITY) => {
  let count = 0;
  return ({ rows = [] }: Shown): boolean => {
    count += rows.length;
    return count >= most;
  };
};

/** A cluster with the fields that were chosen. */
interface Shown {
  readonly cluster: string;
  readonly rows?: readonly object[];
}

async function* chosen(
  clusters: AsyncIterable<ClusterRows>,
  fields: readonly RowField[] | undefined,
  marks: (string | undefined)[],
): AsyncGenerator<Shown> {
  for await (const { rows, ...cluster } of clusters) {
    marks.push(
      ...cluster.partitions.map(({ mark }) => mark),
      ...rows.flatMap(({ partition }) => (partition === undefined ? [undefined] : [])),
    );
    yield {
      ...cluster,
      rows: fields ? rows.map((row) => withFields(row, fields)) : rows,
    };
  }
}

/** Without marks of all partitions the tag is made of the text, as for any answer. */
const markTagged = (
  reply: Reply,
  question: object,
  marks: readonly (string | undefined)[],
): Reply =>
  marks.includes(undefined)
    ? reply
    : {
        ...reply,
        headers: { ...reply.headers, [TAG_HEADER]: weakTag(JSON.stringify([question, marks])) },
      };

const DOCTOR_CURSOR: z.ZodType<AutoscalerCursor> = z.strictObject({
  cluster: z.string().min(1),
  namespace: z.string().min(1),
  name: z.string().min(1),
});

type DoctorInput = DoctorQuery & { readonly page?: string };

/** One page of examinations: of most fleets the only one, because most are short. */
export const doctorPage = async (
  service: QueryService,
  { page: token, ...query }: DoctorInput,
  context: RouteContext,
): Promise<Reply> => {
  const after = token === undefined ? undefined : cursorIn(DOCTOR_CURSOR, query, token);
  const limits = { ...context.limits, bytes: PAGE_FACTOR * context.limits.bytes };
  const page = new AnswerPage<AutoscalerCursor>(limits, context.clock);
  let stopped: AutoscalerCursor | undefined;
  const placeOf = ({ cluster, namespace, name }: ExaminationView): AutoscalerCursor => ({
    cluster,
    namespace,
    name,
  });
  const onPart = (last: AutoscalerCursor): boolean => {
    stopped = last;
    return true;
  };
  const next = (await page.fill(service.doctor({ ...query, onPart }, after), placeOf)) ?? stopped;
  return page.reply(next && pageToken(query, next));
};

const instant = z.int().min(0).max(8_640_000_000_000_000);
/**
 * Where a page ended: `untilMs` is the end of the whole list, as the first page set it; `fromMs` is
 * where the search goes on, and `after` the last event that was read, at that instant.
 */
const EVENTS_CURSOR = z.strictObject({
  untilMs: instant,
  fromMs: instant,
  after: z.strictObject({ cluster: z.string(), atMs: instant, id: z.string() }).exactOptional(),
});
type Cursor = z.infer<typeof EVENTS_CURSOR>;

/**
 * Requests of the tables one after the other, beside those that read the grants and the clusters: 8
 * in all.
 */
const IN_ROW_MAX = 6;

/**
 * Events compress to a sixteenth. Each page reads some events of every cluster again, so that few
 * large ones of a burst take a third of the units.
 */
const EVENTS_FACTOR = 4;

/**
 * One page of scale events. Of a fleet it ends before it would take too many requests one after the
 * other, so that a large fleet with few events is answered in bounded time. A page may be empty and
 * still not be the last.
 */
export const eventsPage = async (
  service: QueryService,
  query: EventQuery,
  token: string | undefined,
  context: RouteContext,
): Promise<Reply> => {
  const nowMs = context.clock();
  refuseEmptyRange("list the events", query, nowMs);
  const start = startCursor(query, nowMs);
  const cursor =
    token === undefined ? start : clamped(start, cursorIn(EVENTS_CURSOR, query, token));
  const page = new AnswerPage<EventCursor>(
    { ...context.limits, bytes: EVENTS_FACTOR * context.limits.bytes },
    context.clock,
  );
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

const COUNT_CURSOR: z.ZodType<EventCountCursor> = z.strictObject({
  cluster: z.string(),
  month: z.string().exactOptional(),
  namespace: z.string().exactOptional(),
  name: z.string().exactOptional(),
});

/** One page of counts: of fifty clusters at most, because those take six requests in a row. */
export const eventCountsPage = async (
  service: QueryService,
  query: EventCountQuery,
  token: string | undefined,
  context: RouteContext,
): Promise<Reply> => {
  const after = token === undefined ? undefined : cursorIn(COUNT_CURSOR, query, token);
  const page = new AnswerPage<EventCountCursor>(context.limits, context.clock);
  let stopped: EventCountCursor | undefined;
  const onPart = (last: EventCountCursor): boolean => {
    stopped = last;
    return true;
  };
  const cursorOfCount = ({ cluster, month, namespace, name }: EventCount): EventCountCursor => ({
    cluster,
    month,
    namespace,
    name,
  });
  const left = await page.fill(service.eventCounts({ ...query, onPart }, after), cursorOfCount);
  const next = left ?? stopped;
  return page.reply(next && pageToken(query, next));
};

const fillPage = async (
  service: QueryService,
  query: EventQuery,
  cursor: Cursor,
  page: AnswerPage<EventCursor>,
): Promise<Cursor | undefined> => {
  const { fromMs, untilMs, after } = cursor;
  // Nothing of what is kept lies in the range.
  if (fromMs > untilMs) return undefined;
  let stopped: Pick<Cursor, "fromMs" | "after"> | undefined;
  const part: EventPart = {
    stops: (inRow) => inRow > IN_ROW_MAX || page.isLate,
    onStop: (next) => {
      stopped = next;
    },
  };
  const left = await page.fill(
    service.events({ ...query, sinceMs: fromMs, untilMs, part, ...(after && { after }) }),
    cursorOf,
  );
  if (left) return { untilMs, fromMs: left.atMs, after: left };
  return stopped && { untilMs, ...stopped };
};

const cursorOf = ({ cluster, at, id }: EventView): EventCursor => ({
  cluster,
  atMs: Date.parse(at),
  id,
});
