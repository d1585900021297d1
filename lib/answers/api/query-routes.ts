import * as z from "zod";
import { OPEN_METRICS_TYPE, openMetricsText } from "../../stack/report/open-metrics.ts";
import { present } from "../../rules/model/json.ts";
import type { OverrideCursor } from "../service/requests.ts";
import { labelNames } from "../service/series/autoscaler-series.ts";
import type {
  AutoscalerCursor,
  ChangeCursor,
  EventQuery,
  QueryService,
} from "../service/service.ts";
import { doctorPage, eventCountsPage, eventsPage, rowsPage } from "./fleet-pages.ts";
import * as input from "./input-schemas.ts";
import { AnswerPage, cursorIn, pageToken } from "./list-page.ts";
import { TAG_HEADER } from "./paths.ts";
import { json, type Reply, taggedJson, seriesJson, weakTag } from "./request-and-answer.ts";
import { getJson, getRoute, withFleet, ofOne, type Route, type RouteContext } from "./route.ts";
import { SECOND_MS } from "../../rules/model/time-text.ts";

const AUTOSCALER_CURSOR: z.ZodType<AutoscalerCursor> = z.strictObject({
  cluster: z.string().min(1),
  namespace: z.string().min(1),
  name: z.string().min(1),
});
const CHANGE_CURSOR: z.ZodType<ChangeCursor> = z.strictObject({ atMs: z.number(), id: z.string() });
const OVERRIDE_CURSOR: z.ZodType<OverrideCursor> = z.strictObject({
  cluster: z.string().exactOptional(),
  namespace: z.string().exactOptional(),
  name: z.string().exactOptional(),
  id: z.string().min(1),
});
const CLUSTER_CURSOR = z.strictObject({ name: z.string() });

interface List<Item, Cursor extends object> {
  readonly question: object;
  readonly cursor: z.ZodType<Cursor>;
  readonly token: string | undefined;
  readonly items: (after: Cursor | undefined, room: () => number) => AsyncIterable<Item>;
  readonly cursorOf: (item: Item) => Cursor;
  /** How much more than other pages a page holds, because it compresses so well. */
  readonly factor?: number;
}

/**
 * Autoscalers with their manifests compress to a tenth, so that a page has more of them: 10,000
 * take eight pages. As text within the JSON of a function's answer they stay below its 6 MB.
 */
const AUTOSCALERS_FACTOR = 4.5;

const listPage = async <Item, Cursor extends object>(
  { question, cursor, token, items, cursorOf, factor = 1 }: List<Item, Cursor>,
  context: RouteContext,
): Promise<Reply> => {
  const after = token === undefined ? undefined : cursorIn(cursor, question, token);
  const limits = { ...context.limits, bytes: factor * context.limits.bytes };
  const page = new AnswerPage<Cursor>(limits, context.clock);
  const left = await page.fill(items(after, page.room), cursorOf);
  return page.reply(left && pageToken(question, left));
};

/**
 * Edits compress to less than a tenth. Each page asks every cluster and scope again, so that few
 * large pages of a year take a quarter of the requests.
 */
const CHANGES_FACTOR = 4;

const timesOf = (
  since: number | undefined,
  until?: number,
): Pick<EventQuery, "sinceMs" | "untilMs"> => present({ sinceMs: since, untilMs: until });

const NARROWER_SERIES = {
  narrower: 'one cluster or one namespace at a time, with the parameters "cluster" and "namespace"',
};

/** One route per query. A route checks the whole request, so that the service gets valid input. */
export const QUERY_ROUTES: Readonly<Record<keyof QueryService, Route<QueryService>>> = {
  autoscalers: withFleet(
    getRoute(
      "visible",
      "lists autoscalers, a page at a time",
      input.FILTER,
      (service, { page: token, ...filter }, context) =>
        listPage(
          {
            question: filter,
            cursor: AUTOSCALER_CURSOR,
            token,
            items: (after, room) => service.autoscalers({ ...filter, room }, after),
            cursorOf: ({ cluster, namespace, name }) => ({ cluster, namespace, name }),
            factor: AUTOSCALERS_FACTOR,
          },
          context,
        ),
    ),
  ),
  rows: withFleet(
    getRoute(
      "visible",
      "lists autoscalers as tables show them, cluster by cluster, a page at a time",
      input.ROWS,
      rowsPage,
    ),
  ),
  get: ofOne(
    getRoute("visible", "one autoscaler", input.AUTOSCALER, async (service, query) => {
      const view = await service.get(query);
      return taggedJson(view, view);
    }),
  ),
  describe: ofOne(
    getJson(
      "visible",
      "one autoscaler with its windows, conditions and events",
      input.AUTOSCALER,
      (service, query) => service.describe(query),
    ),
  ),
  explain: ofOne(
    getJson(
      "visible",
      "why an autoscaler is at its count, now or at a time",
      input.AUTOSCALER_AT,
      (service, { at, ...query }) => service.explain(query, at),
    ),
  ),
  schedule: ofOne(
    getJson(
      "visible",
      "the bounds of an autoscaler at a time, and what its schedule will come to",
      input.AUTOSCALER_SCHEDULE,
      (service, { at, until, next, ...query }) =>
        service.schedule({
          ...query,
          ...present({ fromMs: at, untilMs: until, most: next }),
        }),
    ),
  ),
  doctor: getRoute(
    "visible",
    "what is wrong with an autoscaler, or with each, and what to change, a page at a time",
    input.DOCTOR,
    doctorPage,
  ),
  shadow: ofOne(
    getJson(
      "visible",
      "what an autoscaler decided beside another controller, compared with that one",
      input.AUTOSCALER_SINCE,
      (service, { since, until, ...query }) =>
        service.shadow({ ...query, ...timesOf(since, until) }),
    ),
  ),
  history: ofOne(
    getJson(
      "visible",
      "what an autoscaler measured and decided over time, one point a step",
      input.AUTOSCALER_HISTORY,
      (service, { since, until, step, why, ...query }) =>
        service.history({
          ...query,
          ...timesOf(since, until),
          ...(step !== undefined && { stepMs: step * SECOND_MS }),
          ...(why !== undefined && { why: true }),
        }),
    ),
  ),
  sparklines: getJson(
    "visible",
    "load and count of the last hour of up to a hundred autoscalers, to be drawn small",
    input.SPARKLINES,
    (service, query) => service.sparklines(query),
  ),
  schedules: getJson(
    "visible",
    "the changes of up to 25 schedules, to be drawn on one axis; 1,000 together",
    input.SCHEDULES,
    (service, { names, at, until, next }) =>
      service.schedules({ names, ...present({ fromMs: at, untilMs: until, most: next }) }),
  ),
  events: getRoute(
    "visible",
    "lists scale events, oldest first, a page at a time",
    input.PAST_EVENTS,
    (service, { page: token, since, until, ...query }, context) =>
      eventsPage(service, { ...query, ...timesOf(since, until) }, token, context),
  ),
  eventCounts: getRoute(
    "visible",
    "counts scale events by autoscaler and month, a page at a time",
    input.EVENTS,
    (service, { page: token, since, until, ...query }, context) =>
      eventCountsPage(service, { ...query, ...timesOf(since, until) }, token, context),
  ),
  changes: withFleet(
    getRoute(
      "visible",
      "lists edits, oldest first, a page at a time",
      input.CHANGES,
      (service, { page: token, since, ...query }, context) => {
        const question = { ...query, ...timesOf(since) };
        return listPage(
          {
            question,
            cursor: CHANGE_CURSOR,
            token,
            items: (after) => service.changes({ ...question, ...(after && { after }) }),
            cursorOf: ({ at, id }) => ({ atMs: Date.parse(at), id }),
            factor: CHANGES_FACTOR,
          },
          context,
        );
      },
    ),
  ),
  series: withFleet(
    getRoute(
      "visible",
      "the series of every autoscaler",
      input.SERIES,
      async (service, { labels, ...filter }) => ({
        ...json(seriesJson(await service.series({ ...filter, labels: labelNames(labels) }))),
        ...NARROWER_SERIES,
      }),
    ),
  ),
  clusters: getRoute(
    "visible",
    "lists clusters, a page at a time",
    input.CLUSTERS,
    (service, { page: token }, context) =>
      listPage(
        {
          question: {},
          cursor: CLUSTER_CURSOR,
          token,
          items: (after) => service.clusters(after?.name),
          cursorOf: ({ name }) => ({ name }),
        },
        context,
      ),
  ),
  cluster: getJson("visible", "one cluster", input.CLUSTER, (service, { name }) =>
    service.cluster(name),
  ),
  partition: getJson(
    "cluster",
    "the pages and intents of a partition, and which of them cannot be read",
    input.PARTITION,
    (service, { name }) => service.partition(name),
  ),
  fleet: getJson("visible", "whether the fleet is frozen", input.NO_FIELDS, (service) =>
    service.fleet(),
  ),
  measuredSyncs: getJson(
    "visible",
    "what the syncs of the last day had and changed, from samples of the journal, for the bill",
    input.NO_FIELDS,
    (service) => service.measuredSyncs(),
  ),
  overrides: getRoute(
    "visible",
    "lists overrides, a page at a time",
    input.OVERRIDES,
    (service, { page: token, ...query }, context) =>
      listPage(
        {
          question: query,
          cursor: OVERRIDE_CURSOR,
          token,
          items: (after) => service.overrides(query, after),
          cursorOf: ({ cluster, namespace, name, id }) => present({ cluster, namespace, name, id }),
        },
        context,
      ),
  ),
  calendars: getJson(
    "visible",
    "the calendars of dates that schedules name",
    input.NO_FIELDS,
    async (service) => ({
      calendars: await service.calendars(),
    }),
  ),
  status: withFleet(
    getRoute(
      "visible",
      "whether everything works, and what to look at",
      input.NO_FIELDS,
      async (service) => {
        const view = await service.status();
        const { at: _now, ...shown } = view;
        return { ...json(view), headers: { [TAG_HEADER]: weakTag(JSON.stringify(shown)) } };
      },
    ),
  ),
  sources: getJson("fleet", "the registered metric sources", input.NO_FIELDS, async (service) => ({
    sources: await service.sources(),
  })),
  wakes: getJson("visible", "the registered wakes", input.NO_FIELDS, async (service) => ({
    wakes: await service.wakes(),
  })),
  access: getJson("fleet", "who has which grant", input.NO_FIELDS, (service) => service.access()),
  canI: getJson(
    "caller",
    "whether the caller may look at a namespace, a cluster or the fleet, or edit it",
    input.CAN_I,
    (service, query) => service.canI(query),
  ),
};

/** The series in the format of scrapers. It is not a method of the service. */
export const METRICS_ROUTE: Route<QueryService> = withFleet(
  getRoute(
    "visible",
    "the series of every autoscaler as OpenMetrics text",
    input.SERIES,
    async (service, { labels, ...filter }) => ({
      type: OPEN_METRICS_TYPE,
      text: openMetricsText(await service.series({ ...filter, labels: labelNames(labels) })),
      ...NARROWER_SERIES,
    }),
  ),
);
