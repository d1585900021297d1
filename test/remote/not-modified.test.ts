import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { METRICS_PATH, QUERY_PATHS } from "../../lib/answers/api/paths.ts";
import { stackUrl } from "../../lib/answers/remote/find-stack.ts";
import { signedHeaders } from "../../lib/answers/remote/send-request.ts";
import { openCommands } from "../../lib/answers/service/open.ts";
import { NOON } from "../noon.ts";
import { credentialsOf, type RemoteWorld, remoteWorld } from "./world.ts";

let world: RemoteWorld;
beforeAll(async () => {
  world = await remoteWorld();
});
afterAll(() => world.close());

const NAMED = { name: "eu-1/shop/web" };
/**
 * What is asked of each route. The answer of one autoscaler has a strong tag, which is for If-Match
 * (if-match.test.ts).
 */
const QUERIES: Readonly<
  Record<Exclude<keyof typeof QUERY_PATHS, "get">, Readonly<Record<string, string>>>
> = {
  ...{ autoscalers: {}, rows: {}, describe: NAMED, explain: NAMED, shadow: NAMED, history: NAMED },
  ...{
    schedule: { ...NAMED, at: "2026-03-01T12:00:00Z" },
    doctor: {},
    schedules: { names: "eu-1/shop/web", at: "2026-03-01T12:00:00Z" },
    sparklines: { names: "eu-1/shop/web" },
    events: {},
    eventCounts: {},
    changes: {},
    series: {},
    clusters: {},
    cluster: { name: "eu-1" },
    partition: { name: "eu-1" },
  },
  ...{
    fleet: {},
    measuredSyncs: {},
    overrides: {},
    calendars: {},
    status: {},
    sources: {},
    wakes: {},
    access: {},
    canI: { verb: "view" },
  },
};
const ASKED = [
  ...Object.entries(QUERIES).map(
    ([verb, query]) => [QUERY_PATHS[verb as keyof typeof QUERIES], query] as const,
  ),
  [METRICS_PATH, {}] as const,
];

/** A request over a socket, signed as any program signs it. */
const get = async (path: string, query: Readonly<Record<string, string>>, held?: string) => {
  const stack = stackUrl(world.viewUrl.url, "--stack");
  const unsigned = {
    method: "GET" as const,
    path,
    query,
    headers: held === undefined ? {} : { "if-none-match": held },
  };
  const headers = await signedHeaders(unsigned, stack, credentialsOf("ADA"), NOON);
  const parameters = new URLSearchParams(query).toString();
  const answer = await fetch(`${stack.origin}${path}${parameters === "" ? "" : `?${parameters}`}`, {
    headers,
  });
  return {
    status: answer.status,
    tag: answer.headers.get("etag") ?? "",
    text: await answer.text(),
  };
};

describe("a GET of a stack over HTTP", () => {
  it.each(ASKED)(
    "%s has a weak tag, and is a 304 without a body while the answer would show the same",
    async (path, query) => {
      const first = await get(path, query);
      expect(first).toMatchObject({ status: 200, tag: expect.stringMatching(/^W\/"[\w-]{22}"$/) });
      expect(first.text).not.toBe("");
      expect(await get(path, query, `"other", ${first.tag}`)).toEqual({
        status: 304,
        tag: first.tag,
        text: "",
      });
      expect((await get(path, query, 'W/"other"')).status).toBe(200);
    },
  );

  it("goes by what is shown and not by ages: after a while the clusters are the same, and after an edit they are not", async () => {
    const lists = [
      QUERY_PATHS.clusters,
      QUERY_PATHS.status,
      QUERY_PATHS.changes,
      QUERY_PATHS.rows,
    ] as const;
    const before = await Promise.all(lists.map((path) => get(path, {})));
    world.set(NOON + 1_000);
    const later = await Promise.all(lists.map((path, at) => get(path, {}, before[at]?.tag)));
    expect(later.map(({ status }) => status)).toEqual(lists.map(() => 304));
    await openCommands(world.context).pauseCluster("eu-1");
    const edited = await Promise.all(lists.map((path, at) => get(path, {}, before[at]?.tag)));
    expect(edited.map(({ status }) => status)).toEqual(lists.map(() => 200));
  });
});
