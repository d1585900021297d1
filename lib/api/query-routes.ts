import * as z from "zod";
import { OPEN_METRICS_TYPE, openMetricsText } from "../report/open-metrics.ts";
import { labelNames } from "../service/series/labels-info.ts";
import type { AutoscalerCursor, ChangeCursor, EventQuery, QueryService } from "../service/service.ts";
import { eventsPage } from "./events-page.ts";
import { AUTOSCALER, AUTOSCALER_AT, CHANGES, CLUSTER, CLUSTERS, EVENTS, FILTER, NOTHING, PARTITION, SERIES } from "./input-schemas.ts";
import { json, type Reply } from "./messages.ts";
import { Page } from "./page.ts";
import { cursorIn } from "./page-cursor.ts";
import { pageToken } from "./page-token.ts";
import { getRoute, type Route, type RouteContext } from "./route.ts";
import { seriesJson } from "./series-json.ts";

const AUTOSCALER_CURSOR: z.ZodType<AutoscalerCursor> = z.strictObject({
  cluster: z.string().min(1),
  namespace: z.string().min(1),
  name: z.string().min(1),
});
const CHANGE_CURSOR: z.ZodType<ChangeCursor> = z.strictObject({ atMs: z.number(), id: z.string() });
const CLUSTER_CURSOR = z.strictObject({ name: z.string() });

interface List<Item, Place extends object> {
  readonly question: object;
  readonly place: z.ZodType<Place>;
  readonly token: string | undefined;
  readonly items: (after: Place | undefined) => AsyncIterable<Item>;
  readonly placeOf: (item: Item) => Place;
}

const listPage = async <Item, Place extends object>(
  { question, place, token, items, placeOf }: List<Item, Place>,
  edge: RouteContext,
): Promise<Reply> => {
  const after = token === undefined ? undefined : cursorIn(place, question, token);
  const page = new Page<Place>(edge.limits, edge.clock);
  const left = await page.fill(items(after), placeOf);
  return page.reply(left && pageToken(question, left));
};

const timesOf = (since: number | undefined, until: number | undefined): Pick<EventQuery, "sinceMs" | "untilMs"> => ({
  ...(since !== undefined && { sinceMs: since }),
  ...(until !== undefined && { untilMs: until }),
});

/** What can be looked at: a route for each verb. Everything about a request is checked here, so that the service gets what it takes. */
export const QUERY_ROUTES: Readonly<Record<keyof QueryService, Route<QueryService>>> = {
  autoscalers: getRoute("lists autoscalers, a page at a time", FILTER, (service, { page: token, ...filter }, edge) =>
    listPage(
      {
        question: filter,
        place: AUTOSCALER_CURSOR,
        token,
        items: (after) => service.autoscalers(filter, after),
        placeOf: ({ cluster, namespace, name }) => ({ cluster, namespace, name }),
      },
      edge,
    ),
  ),
  get: getRoute("one autoscaler", AUTOSCALER, async (service, query) => json(await service.get(query))),
  describe: getRoute("everything about one autoscaler", AUTOSCALER, async (service, query) => json(await service.describe(query))),
  explain: getRoute("why an autoscaler is at its count, now or at a time", AUTOSCALER_AT, async (service, { at, ...query }) =>
    json(await service.explain(query, at)),
  ),
  events: getRoute("lists scale events, oldest first, a page at a time", EVENTS, (service, { page: token, since, until, ...query }, edge) =>
    eventsPage(service, { ...query, ...timesOf(since, until) }, token, edge),
  ),
  changes: getRoute("lists edits by people, oldest first, a page at a time", CHANGES, (service, { page: token, since, ...query }, edge) => {
    const question = { ...query, ...timesOf(since, undefined) };
    return listPage(
      {
        question,
        place: CHANGE_CURSOR,
        token,
        items: (after) => service.changes({ ...question, ...(after && { after }) }),
        placeOf: ({ at, id }) => ({ atMs: Date.parse(at), id }),
      },
      edge,
    );
  }),
  series: getRoute("the series of every autoscaler", SERIES, async (service, { labels }) =>
    json(seriesJson(await service.series(labelNames(labels)))),
  ),
  clusters: getRoute("lists clusters, a page at a time", CLUSTERS, (service, { page: token }, edge) =>
    listPage(
      {
        question: {},
        place: CLUSTER_CURSOR,
        token,
        items: (after) => service.clusters(after?.name),
        placeOf: ({ name }) => ({ name }),
      },
      edge,
    ),
  ),
  cluster: getRoute("one cluster", CLUSTER, async (service, { name }) => json(await service.cluster(name))),
  partition: getRoute("what a partition stores, and what of it cannot be read", PARTITION, async (service, { name }) =>
    json(await service.partition(name)),
  ),
  fleet: getRoute("whether the fleet is frozen", NOTHING, async (service) => json(await service.fleet())),
};

/** No verb of its own: the series in the words of scrapers. */
export const METRICS_ROUTE: Route<QueryService> = getRoute(
  "the series of every autoscaler as OpenMetrics text",
  SERIES,
  async (service, { labels }) => ({
    type: OPEN_METRICS_TYPE,
    text: openMetricsText(await service.series(labelNames(labels))),
  }),
);
