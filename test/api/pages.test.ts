import { Readable } from "node:stream";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ApiContext, answerRequest } from "../../lib/answers/api/answer-request.ts";
import { PAGE_LIMITS, pageToken } from "../../lib/answers/api/list-page.ts";
import { QUERY_PATHS } from "../../lib/answers/api/paths.ts";
import { QUERY_ROUTES } from "../../lib/answers/api/query-routes.ts";
import {
  autoscalerName,
  autoscalerUid,
  clusterName,
  namespace,
} from "../../lib/rules/model/ids.ts";
import { openCommands, openQueries } from "../../lib/answers/service/open.ts";
import type { EventQuery, QueryService } from "../../lib/answers/service/service.ts";
import { EVENT_DAYS_KEPT, insertEvents } from "../../lib/stack/store/history/events.ts";
import { NOON } from "../noon.ts";
import { event } from "../store/records.ts";
import { ADA, type ApiWorld, apiWorld, openTo } from "./world.ts";
import { DAY_MS } from "../../lib/rules/model/time-text.ts";

const EVENTS = 30;
let world: ApiWorld;
let reading: QueryService;
beforeAll(async () => {
  world = await apiWorld();
  reading = openQueries(world.context);
  // Clusters have no events from before they were added.
  world.set(NOON - 8 * DAY_MS);
  for (const name of ["eu-8", "us-8"])
    await openCommands(world.context).addCluster({
      name,
      connection: { kind: "secret", secretId: `prod/${name}` },
    });
  world.set(NOON);
  const events = Array.from({ length: EVENTS }, (_, at) =>
    event({
      id: `uid-9:${at}`,
      uid: autoscalerUid("uid-9"),
      cluster: clusterName(at % 3 === 0 ? "us-8" : "eu-8"),
      namespace: namespace("lab"),
      name: autoscalerName("many"),
      // Several at one instant, over six days.
      atMs: NOON - 6 * DAY_MS + Math.floor(at / 4) * 19 * 3_600_000,
      settledMs: NOON,
    }),
  );
  await insertEvents(world.context.insert, events);
});
afterAll(() => world.close());

interface Limits {
  readonly bytes: number;
  readonly ms: number;
}
interface PageJson {
  readonly items: readonly unknown[];
  readonly next?: string;
}

/** One page, under other limits than those of the function. */
const page = async (path: string, query: string, limits: Limits, clock = () => NOON) => {
  const context: ApiContext = { ...openTo(reading), clock, log: () => {}, limits };
  const request = {
    method: "GET",
    path,
    query,
    headers: {},
    body: new Uint8Array(),
    by: ADA,
    id: "r",
  };
  const { status, body } = await answerRequest(context, request);
  return { status, json: JSON.parse(String(body)) as PageJson, bytes: Buffer.byteLength(body) };
};

/** Every page of a list, in turn. */
const pages = async (
  path: string,
  query: string,
  limits: Limits,
  clock?: () => number,
): Promise<readonly PageJson[]> => {
  const all: PageJson[] = [];
  for (let token: string | undefined = ""; token !== undefined; token = all.at(-1)?.next) {
    const { status, json } = await page(
      path,
      `${query}${token === "" ? "" : `&page=${token}`}`,
      limits,
      clock,
    );
    expect(status).toBe(200);
    all.push(json);
  }
  return all;
};
const itemsOf = (all: readonly PageJson[]): readonly unknown[] => all.flatMap(({ items }) => items);
const carried = (value: unknown): unknown => JSON.parse(JSON.stringify(value));
const SINCE = `since=${new Date(NOON - 7 * DAY_MS).toISOString()}`;

describe("a list", () => {
  it.each<readonly [path: string, query: string, wanted: () => Promise<readonly unknown[]>]>([
    [QUERY_PATHS.autoscalers, "", () => Array.fromAsync(reading.autoscalers({}))],
    [
      QUERY_PATHS.autoscalers,
      "namespace=shop",
      () => Array.fromAsync(reading.autoscalers({ namespace: "shop" })),
    ],
    [QUERY_PATHS.clusters, "", () => Array.fromAsync(reading.clusters())],
    [
      QUERY_PATHS.events,
      SINCE,
      () => Array.fromAsync(reading.events({ sinceMs: NOON - 7 * DAY_MS })),
    ],
    [
      QUERY_PATHS.events,
      `${SINCE}&namespace=lab`,
      () => Array.fromAsync(reading.events({ sinceMs: NOON - 7 * DAY_MS, namespace: "lab" })),
    ],
    [
      QUERY_PATHS.events,
      "name=lab/many&cluster=eu-8",
      () => Array.fromAsync(reading.events({ name: "lab/many", cluster: "eu-8" })),
    ],
  ])("%s?%s is the same however it is cut", async (path, query, wanted) => {
    const whole = carried(await wanted());
    expect(
      itemsOf(await pages(path, query, { bytes: Number.POSITIVE_INFINITY, ms: 60_000 })),
    ).toEqual(whole);
    const single = await pages(path, query, { bytes: 1, ms: 60_000 });
    expect(itemsOf(single)).toEqual(whole);
    expect(Math.max(...single.map(({ items }) => items.length))).toBe(1);
    expect(itemsOf(await pages(path, query, { bytes: 2_500, ms: 60_000 }))).toEqual(whole);
  });

  it("ends a page when its bytes are used up, at most one item later", async () => {
    const longest = Math.max(
      ...(await Array.fromAsync(reading.events({ sinceMs: NOON - 7 * DAY_MS }))).map(
        (one) => JSON.stringify(one).length,
      ),
    );
    const { bytes, json } = await page(QUERY_PATHS.events, SINCE, { bytes: 3_000, ms: 60_000 });
    expect(json.items.length).toBeGreaterThan(1);
    expect(bytes).toBeLessThan(4 * 3_000 + longest + 600);
  });

  it("ends a page where its time is over, and goes on from there though nothing was found", async () => {
    // Each look at the clock takes a second.
    let nowMs = NOON;
    const clock = (): number => (nowMs += 1_000);
    const slow = await pages(
      QUERY_PATHS.events,
      "since=2025-06-01T00:00:00Z",
      { bytes: 1_000_000, ms: 1 },
      clock,
    );
    expect(slow.some(({ items, next }) => items.length === 0 && next !== undefined)).toBe(true);
    expect(itemsOf(slow)).toEqual(
      carried(
        await Array.fromAsync(reading.events({ sinceMs: Date.parse("2025-06-01T00:00:00Z") })),
      ),
    );
  });

  it("ends a page where its time is over, though events were passed over and none was of the namespace", async () => {
    const late = await pages(QUERY_PATHS.events, "since=2025-06-01T00:00:00Z&namespace=nowhere", {
      bytes: 1_000_000,
      ms: 0,
    });
    expect(itemsOf(late)).toEqual([]);
    expect(late.length).toBeGreaterThan(1);
  });

  it("shows no event that came after its first page", async () => {
    const first = await page(QUERY_PATHS.events, SINCE, { bytes: 1, ms: 60_000 });
    world.set(NOON + 60_000);
    await insertEvents(world.context.insert, [
      event({
        id: "later:1",
        cluster: clusterName("eu-1"),
        atMs: NOON + 30_000,
        settledMs: NOON + 30_000,
      }),
    ]);
    const rest = await pages(QUERY_PATHS.events, `${SINCE}&page=${first.json.next}`, {
      bytes: 1_000_000,
      ms: 60_000,
    });
    expect(JSON.stringify(rest)).not.toContain("later:1");
    world.set(NOON);
  });
});

describe("the token of a page", () => {
  const place = { cluster: "eu-1", namespace: "shop", name: "api" };
  const detail =
    'Cannot read the request: "page" is not a page of this list; use "next" of the previous answer with the same other parameters';

  it.each([
    ["made for another question", "namespace=shop", pageToken({}, place)],
    ["made for another list", "", pageToken({}, { name: "eu-1" })],
    ["with more in it", "", pageToken({}, { ...place, more: 1 })],
    ["that is no token", "", "nonsense"],
    ["that is empty", "", ""],
    ["of another version", "", Buffer.from(JSON.stringify([2, "[]", place])).toString("base64url")],
  ])("%s is refused", async (_what, query, token) => {
    const { status, json } = await page(QUERY_PATHS.autoscalers, `${query}&page=${token}`, {
      bytes: 1,
      ms: 1,
    });
    expect([status, json]).toMatchObject([400, { code: "api.invalid", detail }]);
  });

  it("is good for the same question in any order", async () => {
    const token = pageToken({ namespace: "shop", cluster: "eu-1" }, place);
    const { json } = await page(
      QUERY_PATHS.autoscalers,
      `cluster=eu-1&page=${token}&namespace=shop`,
      { bytes: 1_000_000, ms: 60_000 },
    );
    expect(json.items).toMatchObject([{ name: "late" }, { name: "web" }]);
  });

  it("reaches no further than what is kept", async () => {
    const asked: EventQuery[] = [];
    const empty: QueryService = {
      ...reading,
      events: (query) => {
        asked.push(query);
        return Readable.from([]);
      },
    };
    const far = { untilMs: 8_640_000_000_000_000, fromMs: 0 };
    const request = {
      method: "GET",
      path: QUERY_PATHS.events,
      query: `page=${pageToken({}, far)}`,
      headers: {},
      body: new Uint8Array(),
      by: ADA,
      id: "r",
    };
    const { status } = await answerRequest(
      { ...openTo(empty), clock: () => NOON, log: () => {} },
      request,
    );
    expect([status, asked[0]?.sinceMs, asked.at(-1)?.untilMs]).toEqual([
      200,
      NOON - EVENT_DAYS_KEPT * DAY_MS,
      NOON,
    ]);
    expect(asked).toHaveLength(1);
  });
});

describe("a range that holds nothing whatever is stored", () => {
  const later = new Date(NOON + 3_600_000).toISOString();
  const [early, late] = [
    new Date(NOON - 2 * DAY_MS).toISOString(),
    new Date(NOON - DAY_MS).toISOString(),
  ];
  const taking = Object.entries(QUERY_ROUTES).flatMap(([name, { schema }]) =>
    "shape" in schema ? [{ name, fields: Object.keys(schema.shape as object) }] : [],
  );
  const withSince = taking
    .filter(({ fields }) => fields.includes("since"))
    .map(({ name }) => name as keyof typeof QUERY_PATHS);
  const nameOf = (name: string): string =>
    ["shadow", "history"].includes(name) ? "name=eu-1/shop/web&" : "";

  it("can be asked of these routes", () => {
    expect(withSince).toEqual(["shadow", "history", "events", "eventCounts", "changes"]);
  });

  it.each(withSince)("is refused by %s where it begins in the future", async (name) => {
    const { status, json } = await page(
      QUERY_PATHS[name],
      `${nameOf(name)}since=${later}`,
      PAGE_LIMITS,
    );
    expect([status, json]).toMatchObject([
      400,
      {
        code: "service.invalid",
        detail: expect.stringMatching(
          new RegExp(
            `^Cannot .* since ${later}: that is a future time; it is now ${new Date(NOON).toISOString()}$`,
          ),
        ),
      },
    ]);
  });

  it.each(
    taking
      .filter(({ fields }) => fields.includes("until") && fields.includes("since"))
      .map(({ name }) => name as keyof typeof QUERY_PATHS),
  )("is refused by %s where it ends before it begins", async (name) => {
    const { status, json } = await page(
      QUERY_PATHS[name],
      `${nameOf(name)}since=${late}&until=${early}`,
      PAGE_LIMITS,
    );
    expect([status, json]).toMatchObject([
      400,
      {
        code: "service.invalid",
        detail: expect.stringMatching(
          new RegExp(`^Cannot .* since ${late}: it is after the end of the range, ${early}$`),
        ),
      },
    ]);
  });
});
