import fc from "fast-check";
import * as z from "zod";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { apiHandler } from "../../functions/api.ts";
import type { FunctionUrlHandler } from "../../lib/lambda/function-url.ts";
import { ANSWERS } from "../../lib/answers/api/answers.ts";
import { QUERY_PATHS } from "../../lib/answers/api/paths.ts";
import { QUERY_ROUTES } from "../../lib/answers/api/query-routes.ts";
import { requestSender } from "../../lib/answers/remote/send-request.ts";
import { remoteService } from "../../lib/answers/remote/service.ts";
import { stackUrl } from "../../lib/answers/remote/find-stack.ts";
import type { ServiceContext } from "../../lib/answers/service/context.ts";
import type { QueryService } from "../../lib/answers/service/service.ts";
import { insertByStatement } from "../../lib/stack/store/history/item.ts";
import { startInProcess, startMemory } from "../contracts/engines.ts";
import { NOON } from "../noon.ts";
import { type FunctionUrl, startFunctionUrl } from "../remote/stand-in/function-url.ts";
import { callerOf, IDENTITIES } from "../remote/world.ts";
import { testTables } from "../sync/world.ts";
import { ask } from "./world.ts";
import {
  ADDING,
  type AnswerPage,
  eventStoryOf,
  type Fields,
  type Item,
  type ListName,
  PARTS,
  STORIES,
  type Story,
} from "./list-stories.ts";
import { runs } from "../runs.ts";
import { DAY_MS } from "../../lib/rules/model/time-text.ts";

const PATIENCE_MS = 180_000;

let url: FunctionUrl;
let current: FunctionUrlHandler;
beforeAll(async () => {
  url = await startFunctionUrl(
    (each) => current(each),
    IDENTITIES,
    () => NOON,
  );
});
afterAll(() => url.close());

const usualPage = ({
  items,
  next,
}: {
  readonly items: readonly unknown[];
  readonly next?: string;
}): AnswerPage => ({
  items,
  ...(next !== undefined && { next: { page: next } }),
});

/** Reads a list to its end through the handler, request by request. */
const readByPages = async (
  path: string,
  { fields, pageIn = usualPage }: Story,
): Promise<readonly unknown[]> => {
  const items: unknown[] = [];
  for (let page: Fields | undefined = {}; page; ) {
    const { status, json } = await ask(current, {
      path,
      query: new URLSearchParams({ ...fields, ...page }).toString(),
    });
    expect(status).toBe(200);
    const answer = pageIn(json as never);
    items.push(...answer.items);
    page = answer.next;
  }
  return items;
};

/** The client of the command, over a socket and with signatures. */
const client = (): QueryService => {
  const sender = requestSender({
    stack: stackUrl(url.url, "--stack"),
    caller: callerOf("ADA"),
    clock: () => NOON,
    wait: async () => {},
    random: () => 0.5,
  });
  return remoteService(sender, () => "no edit is made");
};

const check = async (
  name: ListName,
  story: Story,
  through: "handler" | "client",
  start = startMemory,
): Promise<void> => {
  const engine = await start();
  try {
    let nowMs = NOON;
    let uids = 0;
    const tables = testTables(engine.client, engine.tables, () => nowMs);
    const context: ServiceContext = {
      tables,
      insert: insertByStatement(tables),
      clock: () => NOON,
      by: "ada",
      newUid: () => `uid-${++uids}`,
    };
    await story.fill(context);
    const clock = (): number => (nowMs += story.stepMs);
    const api = apiHandler({
      ...context,
      clock,
      reporter: { line: () => {} },
      connecting: { kind: "here" },
    });
    const between = [...story.between];
    current = async (asked) => {
      const answer = await api(asked);
      await between.shift()?.(context);
      return answer;
    };
    const items = await (through === "client"
      ? Array.fromAsync(story.throughClient(client()))
      : readByPages(QUERY_PATHS[name], story));
    const places = items
      .flatMap((item) => story.itemsIn?.(item) ?? [item as Item])
      .map((item) => story.placeOf(item))
      .filter((one) => one !== ADDING);
    expect(places, "in order, none twice").toEqual([...new Set(places)].toSorted());
    const before = new Set(story.wanted);
    expect(
      places.filter((one) => before.has(one)),
      "none lost",
    ).toEqual(story.wanted.toSorted());
    expect(
      places.filter((one) => !story.possible.includes(one)),
      "none that was not asked for",
    ).toEqual([]);
  } finally {
    await engine.close();
  }
};

describe("a list of the API", () => {
  it("has a story here, for each route that takes a page", () => {
    const paged = Object.entries(QUERY_ROUTES).flatMap(([name, { schema }]) =>
      "shape" in schema && Object.hasOwn(schema.shape as object, "page") ? [name] : [],
    );
    expect(Object.keys(STORIES)).toEqual(expect.arrayContaining(paged));
    expect([...Object.keys(STORIES), ...Object.keys(PARTS)].toSorted()).toEqual(
      Object.keys(QUERY_ROUTES).toSorted(),
    );
  });

  it("is named here where it is a part of an answer about one thing", () => {
    const listsIn = (verb: string): readonly string[] => {
      const { properties = {} } = z.toJSONSchema(ANSWERS[verb as keyof typeof ANSWERS], {
        io: "output",
        unrepresentable: "any",
      });
      return Object.entries(properties).flatMap(([field, schema]) =>
        typeof schema === "object" && schema.type === "array" ? [field] : [],
      );
    };
    expect(Object.fromEntries(Object.keys(PARTS).map((verb) => [verb, listsIn(verb)]))).toEqual(
      PARTS,
    );
  });

  it.each(Object.entries(STORIES) as [ListName, (typeof STORIES)[ListName]][])(
    "%s always returns what is stored, once and in order, at the shipped limits",
    async (name, { story, runs: times }) => {
      const property = fc.asyncProperty(
        story,
        fc.constantFrom("handler", "client"),
        async (one, through) => {
          fc.pre(one.wanted.length > 0);
          await check(name, one, through);
        },
      );
      await fc.assert(property, runs(times));
    },
    PATIENCE_MS,
  );

  it("of events goes on after its last event, also where a page spans more days than are searched first", async () => {
    const thin = {
      agoMs: 20 * DAY_MS,
      count: 40,
      spacingMs: 10 * 3_600_000,
      cluster: "eu-1",
      inside: "shop",
      pad: "x".repeat(60_000),
    };
    const asked = {
      later: [],
      name: undefined,
      cluster: undefined,
      namespace: undefined,
      since: 60 * DAY_MS,
      until: undefined,
      stepMs: 0,
    };
    await check(
      "events",
      eventStoryOf({ ...asked, first: [thin] }).story,
      "client",
      startInProcess,
    );
  });
});
