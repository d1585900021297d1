import { request } from "node:http";
import { setTimeout as wait } from "node:timers/promises";
import { afterAll, beforeAll, expect, it } from "vitest";
import { openService } from "../../lib/answers/service/open.ts";
import type { ServedService } from "../../lib/dashboard/serve/answer-by-service.ts";
import { folderLayout } from "../../lib/embedded/layout.ts";
import { startRunPage } from "../../lib/embedded/run/run-page.ts";
import { startSeriesServer } from "../../lib/embedded/run/series-server.ts";
import { startWakeServer } from "../../lib/embedded/run/wake-server.ts";
import { type ServiceWorld, serviceWorld } from "../service/world/context.ts";
import { fillShop } from "../service/world/shop.ts";

let world: ServiceWorld;
beforeAll(async () => {
  world = await serviceWorld();
  await fillShop(world);
});
afterAll(() => world.close());

interface Door {
  readonly name: string;
  /** Opens it in front of work that begins by `begin` and ends when `begin` settles. */
  readonly open: (begin: () => Promise<never>) => Promise<{
    readonly url: string;
    readonly send: { readonly headers?: Record<string, string>; readonly body?: string };
    readonly close: () => Promise<void>;
  }>;
}

const servedWith = (service: Partial<ServedService["service"]>): ServedService => {
  const { context, tables } = world;
  const { insert, clock } = context;
  return { service: { ...openService(context), ...service }, tables, insert, clock, by: "ada" };
};

const DOORS: readonly Door[] = [
  {
    name: "page",
    open: async (begin) => {
      const page = await startRunPage(folderLayout("data"), { dashboardPort: 0 });
      page.serve(servedWith({ fleet: begin }), () => {});
      const { origin, hash } = new URL(page.url);
      const headers = { "x-tidemark-token": hash.replace("#token=", "") };
      return { url: `${origin}/v1/fleet`, send: { headers }, close: page.close };
    },
  },
  {
    name: "series",
    open: async (begin) => {
      const { url, close } = await startSeriesServer(begin, 0);
      return { url, send: {}, close };
    },
  },
  {
    name: "wakes",
    open: async (begin) => {
      const wakes = await startWakeServer(0);
      wakes.serve(servedWith({ wake: begin }), () => {});
      const headers = { "content-type": "application/json" };
      const body = JSON.stringify({ cluster: "eu-1", reason: "a test" });
      return { url: wakes.url ?? "", send: { headers, body }, close: wakes.close };
    },
  },
];

it.each(DOORS)(
  "the server of $name of a run is closed once no answer of it is being made, also where its client is gone",
  async ({ open }) => {
    const [begun, work] = [Promise.withResolvers<void>(), Promise.withResolvers<never>()];
    const { url, send, close } = await open(() => {
      begun.resolve();
      return work.promise;
    });
    const { headers = {}, body } = send;
    const gone = new Promise((resolve) => {
      request(url, { headers, method: body === undefined ? "GET" : "POST", agent: false })
        .on("error", resolve)
        .end(body);
    });
    await begun.promise;
    let isClosed = false;
    const closing = close().then(() => {
      isClosed = true;
    });
    // The client is cut off, and what it asked for is still being read.
    await gone;
    await wait(20);
    expect(isClosed).toBe(false);
    work.reject(new Error("the tables were slow"));
    await closing;
    expect(isClosed).toBe(true);
  },
);

it("the door of wakes names what it takes, to a request of another method and of another type", async () => {
  const wakes = await startWakeServer(0);
  wakes.serve(servedWith({}), () => {});
  const asked = async (method: string, headers: Record<string, string> = {}) => {
    const answer = await fetch(wakes.url ?? "", { method, headers });
    return [answer.status, await answer.text()];
  };
  expect(await asked("GET")).toEqual([405, expect.stringContaining("it takes POST")]);
  expect(await asked("PUT")).toEqual([405, expect.stringContaining("it takes POST")]);
  expect(await asked("POST", { "content-type": "text/plain" })).toEqual([
    415,
    expect.stringContaining("send it as application/json"),
  ]);
  await wakes.close();
});
