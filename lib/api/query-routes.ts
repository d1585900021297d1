import * as z from "zod";
import { OPEN_METRICS_TYPE, openMetricsText } from "../report/open-metrics.ts";
import type { OverrideCursor } from "../service/requests.ts";
import { labelNames } from "../service/series/autoscaler-series.ts";
import type { AutoscalerCursor, ChangeCursor, EventQuery, QueryService } from "../service/service.ts";
import { eventCountsPage, eventsPage, rowsPage } from "./fleet-pages.ts";
import {
  AUTOSCALER,
  AUTOSCALER_AT,
  AUTOSCALER_HISTORY,
  AUTOSCALER_SINCE,
  CAN_I,
  CHANGES,
  CLUSTER,
  CLUSTERS,
  EVENTS,
  FILTER,
  NOTHING,
  OVERRIDES,
  PARTITION,
  ROWS,
  SERIES,
} from "./input-schemas.ts";
import { Page, cursorIn, pageToken } from "./list-page.ts";
import { TAG_HEADER } from "./paths.ts";
import { json, type Reply, taggedJson, seriesJson, weakTag } from "./request-and-answer.ts";
import { getRoute, type Route, type RouteContext } from "./route.ts";

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
  readonly items: (after: Cursor | undefined) => AsyncIterable<Item>;
  readonly cursorOf: (item: Item) => Cursor;
}

const listPage = async <Item, Cursor extends object>(
  { question, cursor, token, items, cursorOf }: List<Item, Cursor>,
  context: RouteContext,
): Promise<Reply> => {
  const after = token === undefined ? undefined : cursorIn(cursor, question, token);
  const page = new Page<Cursor>(context.limits, context.clock);
  const left = await page.fill(items(after), cursorOf);
  return page.reply(left && pageToken(question, left));
};

const timesOf = (since: number | undefined, until: number | undefined): Pick<EventQuery, "sinceMs" | "untilMs"> => ({
  ...(since !== undefined && { sinceMs: since }),
  ...(until !== undefined && { untilMs: until }),
});

const SECOND_MS = 1_000;

const NARROWER_SERIES = { narrower: 'one cluster or one namespace at a time, with the parameters "cluster" and "namespace"' };

/** One route per query. A route checks the whole request, so that the service gets valid input. */
export const QUERY_ROUTES: Readonly<Record<keyof QueryService, Route<QueryService>>> = {
  autoscalers: getRoute("lists autoscalers, a page at a time", FILTER, (service, { page: token, ...filter }, context) =>
    listPage(
      {
        question: filter,
        cursor: AUTOSCALER_CURSOR,
        token,
        items: (after) => service.autoscalers(filter, after),
        cursorOf: ({ cluster, namespace, name }) => ({ cluster, namespace, name }),
      },
      context,
    ),
  ),
  rows: getRoute("lists autoscalers as tables show them, cluster by cluster, a page at a time", ROWS, rowsPage),
  get: getRoute("one autoscaler", AUTOSCALER, async (service, query) => {
    const view = await service.get(query);
    return taggedJson(view, view);
  }),
  describe: getRoute("one autoscaler with its windows, conditions and events", AUTOSCALER, async (service, query) =>
    json(await service.describe(query)),
  ),
  explain: getRoute("why an autoscaler is at its count, now or at a time", AUTOSCALER_AT, async (service, { at, ...query }) =>
    json(await service.explain(query, at)),
  ),
  shadow: getRoute(
    "what an autoscaler decided beside another controller, compared with that one",
    AUTOSCALER_SINCE,
    async (service, { since, until, ...query }) => json(await service.shadow({ ...query, ...timesOf(since, until) })),
  ),
  history: getRoute(
    "what an autoscaler measured and decided over time, one point a step",
    AUTOSCALER_HISTORY,
    async (service, { since, until, step, ...query }) =>
      json(await service.history({ ...query, ...timesOf(since, until), ...(step !== undefined && { stepMs: step * SECOND_MS }) })),
  ),
  events: getRoute("lists scale events, oldest first, a page at a time", EVENTS, (service, { page: token, since, until, ...query }, context) =>
    eventsPage(service, { ...query, ...timesOf(since, until) }, token, context),
  ),
  eventCounts: getRoute(
    "counts scale events by autoscaler and month, a page at a time",
    EVENTS,
    (service, { page: token, since, until, ...query }, context) => eventCountsPage(service, { ...query, ...timesOf(since, until) }, token, context),
  ),
  changes: getRoute("lists edits, oldest first, a page at a time", CHANGES, (service, { page: token, since, ...query }, context) => {
    const question = { ...query, ...timesOf(since, undefined) };
    return listPage(
      {
        question,
        cursor: CHANGE_CURSOR,
        token,
        items: (after) => service.changes({ ...question, ...(after && { after }) }),
        cursorOf: ({ at, id }) => ({ atMs: Date.parse(at), id }),
      },
      context,
    );
  }),
  series: getRoute("the series of every autoscaler", SERIES, async (service, { labels, ...filter }) => ({
    ...json(seriesJson(await service.series({ ...filter, labels: labelNames(labels) }))),
    ...NARROWER_SERIES,
  })),
  clusters: getRoute("lists clusters, a page at a time", CLUSTERS, (service, { page: token }, context) =>
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
  cluster: getRoute("one cluster", CLUSTER, async (service, { name }) => json(await service.cluster(name))),
  partition: getRoute("the pages and intents of a partition, and which of them cannot be read", PARTITION, async (service, { name }) =>
    json(await service.partition(name)),
  ),
  fleet: getRoute("whether the fleet is frozen", NOTHING, async (service) => json(await service.fleet())),
  overrides: getRoute("lists overrides, a page at a time", OVERRIDES, (service, { page: token, ...query }, context) =>
    listPage(
      {
        question: query,
        cursor: OVERRIDE_CURSOR,
        token,
        items: (after) => service.overrides(query, after),
        cursorOf: ({ cluster, namespace, name, id }) => ({
          ...(cluster !== undefined && { cluster }),
          ...(namespace !== undefined && { namespace }),
          ...(name !== undefined && { name }),
          id,
        }),
      },
      context,
    ),
  ),
  calendars: getRoute("the calendars of dates that schedules name", NOTHING, async (service) => json({ calendars: await service.calendars() })),
  status: getRoute("whether everything works, and what to look at", NOTHING, async (service) => {
    const view = await service.status();
    const { at: _now, ...shown } = view;
    return { ...json(view), headers: { [TAG_HEADER]: weakTag(JSON.stringify(shown)) } };
  }),
  sources: getRoute("the registered metric sources", NOTHING, async (service) => json({ sources: await service.sources() })),
  access: getRoute("who has which grant", NOTHING, async (service) => json(await service.access())),
  canI: getRoute("whether the caller may look at a namespace, a cluster or the fleet, or edit it", CAN_I, async (service, query) =>
    json(await service.canI(query)),
  ),
};

/** The series in the format of scrapers. It is not a method of the service. */
export const METRICS_ROUTE: Route<QueryService> = getRoute(
  "the series of every autoscaler as OpenMetrics text",
  SERIES,
  async (service, { labels, ...filter }) => ({
    type: OPEN_METRICS_TYPE,
    text: openMetricsText(await service.series({ ...filter, labels: labelNames(labels) })),
    ...NARROWER_SERIES,
  }),
);
