import * as z from "zod";
import { OPEN_METRICS_TYPE, openMetricsText } from "../report/open-metrics.ts";
import { labelNames } from "../service/series/labels-info.ts";
import type { AutoscalerPlace, ChangePlace, EventQuery, Reading } from "../service/service.ts";
import { eventsPage } from "./events-page.ts";
import { json, type Reply } from "./exchange.ts";
import { ASKED, ASKED_AT, CHANGES, EVENTS, FILTER, NAMED, NOTHING, PAGED, PARTITION, SERIES } from "./inputs.ts";
import { placeIn } from "./page-place.ts";
import { pageToken } from "./page-token.ts";
import { Page } from "./pages.ts";
import { asking, type Edge, type Route } from "./route.ts";
import { seriesJson } from "./series-json.ts";

const PLACE: z.ZodType<AutoscalerPlace> = z.strictObject({ cluster: z.string().min(1), namespace: z.string().min(1), name: z.string().min(1) });
const CHANGE_PLACE: z.ZodType<ChangePlace> = z.strictObject({ atMs: z.number(), id: z.string() });
const CLUSTER_PLACE = z.strictObject({ name: z.string() });

interface List<Item, Place extends object> {
  readonly question: object;
  readonly place: z.ZodType<Place>;
  readonly token: string | undefined;
  readonly items: (after: Place | undefined) => AsyncIterable<Item>;
  readonly placeOf: (item: Item) => Place;
}

const listed = async <Item, Place extends object>({ question, place, token, items, placeOf }: List<Item, Place>, edge: Edge): Promise<Reply> => {
  const after = token === undefined ? undefined : placeIn(place, question, token);
  const page = new Page<Place>(edge.limits, edge.clock);
  const left = await page.fill(items(after), placeOf);
  return page.reply(left && pageToken(question, left));
};

const timesOf = (since: number | undefined, until: number | undefined): Pick<EventQuery, "sinceMs" | "untilMs"> => ({
  ...(since !== undefined && { sinceMs: since }),
  ...(until !== undefined && { untilMs: until }),
});

/** What can be looked at: a route for each verb. Everything about a request is checked here, so that the service gets what it takes. */
export const READING_ROUTES: Readonly<Record<keyof Reading, Route<Reading>>> = {
  autoscalers: asking("lists autoscalers, a page at a time", FILTER, (service, { page: token, ...filter }, edge) =>
    listed(
      {
        question: filter,
        place: PLACE,
        token,
        items: (after) => service.autoscalers(filter, after),
        placeOf: ({ cluster, namespace, name }) => ({ cluster, namespace, name }),
      },
      edge,
    ),
  ),
  get: asking("one autoscaler", ASKED, async (service, asked) => json(await service.get(asked))),
  describe: asking("everything about one autoscaler", ASKED, async (service, asked) => json(await service.describe(asked))),
  explain: asking("why an autoscaler is at its count, now or at a time", ASKED_AT, async (service, { at, ...asked }) =>
    json(await service.explain(asked, at)),
  ),
  events: asking("lists scale events, oldest first, a page at a time", EVENTS, (service, { page: token, since, until, ...query }, edge) =>
    eventsPage(service, { ...query, ...timesOf(since, until) }, token, edge),
  ),
  changes: asking("lists edits by people, oldest first, a page at a time", CHANGES, (service, { page: token, since, ...query }, edge) => {
    const question = { ...query, ...timesOf(since, undefined) };
    return listed(
      {
        question,
        place: CHANGE_PLACE,
        token,
        items: (after) => service.changes({ ...question, ...(after && { after }) }),
        placeOf: ({ at, id }) => ({ atMs: Date.parse(at), id }),
      },
      edge,
    );
  }),
  series: asking("the series of every autoscaler", SERIES, async (service, { labels }) => json(seriesJson(await service.series(labelNames(labels))))),
  clusters: asking("lists clusters, a page at a time", PAGED, (service, { page: token }, edge) =>
    listed(
      {
        question: {},
        place: CLUSTER_PLACE,
        token,
        items: (after) => service.clusters(after?.name),
        placeOf: ({ name }) => ({ name }),
      },
      edge,
    ),
  ),
  cluster: asking("one cluster", NAMED, async (service, { name }) => json(await service.cluster(name))),
  partition: asking("what a partition stores, and what of it cannot be read", PARTITION, async (service, { name }) =>
    json(await service.partition(name)),
  ),
  fleet: asking("whether the fleet is frozen", NOTHING, async (service) => json(await service.fleet())),
};

/** No verb of its own: the series in the words of scrapers. */
export const METRICS_ROUTE: Route<Reading> = asking("the series of every autoscaler as OpenMetrics text", SERIES, async (service, { labels }) => ({
  type: OPEN_METRICS_TYPE,
  text: openMetricsText(await service.series(labelNames(labels))),
}));
