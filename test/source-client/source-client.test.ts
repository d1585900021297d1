import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { MetricSourceRecord } from "../../lib/rules/model/metric-source.ts";
import { sourceClient, type SourceClient } from "../../lib/stack/source-client/source-client.ts";
import { HOSTILE, SECRET } from "./hostile-deeds.ts";
import {
  ask,
  keyOf,
  oneSeries,
  type PrometheusServer,
  prometheusServer,
  sourceRecord,
} from "./scene.ts";

let server: PrometheusServer;
let client: SourceClient;
beforeEach(async () => {
  server = await prometheusServer();
  client = sourceClient({ clock: Date.now, ownAddresses: true });
});
afterEach(async () => {
  client.close();
  await server.close();
});

const LEFT = { cluster: "eu-1", leftMs: () => 5_000 };
const one = async (source: MetricSourceRecord, of: SourceClient = client, query = "up") =>
  (await of.ask(source, [ask(query)], LEFT)).get(keyOf(query));
const messageOf = (answer: Awaited<ReturnType<typeof one>>): string =>
  answer?.kind === "failed" ? answer.failure.message : `it was ${answer?.kind}`;

describe("a source client", () => {
  it("asks each different question once, with the fixed parameters and headers of the source", async () => {
    const source = sourceRecord({
      url: `${server.url}/prometheus/`,
      parameters: { tenant: "shop", timeout: "1s" },
      headers: { "x-scope-orgid": "shop" },
    });
    const answers = await client.ask(
      source,
      [ask("up"), ask("up"), ask("sum(x)&tenant=bank")],
      LEFT,
    );
    expect([...answers.keys()]).toEqual([keyOf("up"), keyOf("sum(x)&tenant=bank")]);
    expect(server.seen.map(({ url }) => url.pathname)).toEqual([
      "/prometheus/api/v1/query",
      "/prometheus/api/v1/query",
    ]);
    for (const { url, headers } of server.seen) {
      expect(url.searchParams.getAll("tenant")).toEqual(["shop"]);
      expect(url.searchParams.get("timeout")).toBe("1s");
      expect(headers["x-scope-orgid"]).toBe("shop");
    }
  });

  it("has at most eight questions of a source in flight", async () => {
    let [inFlight, most] = [0, 0];
    server.answer = (query, response) => {
      most = Math.max(most, ++inFlight);
      setTimeout(() => {
        inFlight--;
        oneSeries("1")(query, response);
      }, 5);
    };
    await client.ask(
      sourceRecord({ url: server.url }),
      Array.from({ length: 40 }, (_, at) => ask(`x${at}`)),
      LEFT,
    );
    expect(most).toBe(8);
  });

  it("asks nothing where no time is left", async () => {
    const answers = await client.ask(sourceRecord({ url: server.url }), [ask("a")], {
      ...LEFT,
      leftMs: () => 0,
    });
    expect(messageOf(answers.get(keyOf("a")))).toContain(
      "the time for reading in this sync is spent",
    );
    expect(server.seen).toEqual([]);
  });

  it("asks a source that failed in three syncs in one of four, and always again once it answers", async () => {
    const source = sourceRecord({ url: server.url });
    server.answer = (_query, response) => void response.writeHead(503).end("busy");
    const asked: number[] = [];
    for (let sync = 0; sync < 11; sync++) {
      if (sync === 7) server.answer = oneSeries("1");
      const before = server.seen.length;
      const answer = await one(source);
      asked.push(server.seen.length - before);
      if (sync === 3)
        expect(messageOf(answer)).toMatch(
          /"main" is asked in one of 4 syncs, or after 60 s, since it failed 3 times in a row; the last error: .*status 503/,
        );
    }
    expect(asked).toEqual([1, 1, 1, 0, 0, 0, 1, 0, 0, 0, 1]);
    expect((await one(source))?.kind).toBe("answered");
  });

  it("asks a failed source a minute after its last error, also where the environment had no sync meanwhile", async () => {
    let nowMs = Date.now();
    const seldom = sourceClient({ clock: () => nowMs, ownAddresses: true });
    const source = sourceRecord({ url: server.url });
    server.answer = (_query, response) => void response.writeHead(503).end("busy");
    for (let sync = 0; sync < 3; sync++) await one(source, seldom);
    server.answer = oneSeries("1");
    nowMs += 59_000;
    expect(messageOf(await one(source, seldom))).toContain("status 503");
    nowMs += 1_000;
    expect((await one(source, seldom))?.kind).toBe("answered");
    expect((await one(source, seldom))?.kind).toBe("answered");
    seldom.close();
  });

  it("keeps asking a source that refuses one query: the query is at fault, not the source", async () => {
    server.answer = (_query, response) =>
      void response
        .writeHead(400)
        .end(JSON.stringify({ status: "error", errorType: "bad_data", error: "parse error" }));
    for (let sync = 0; sync < 6; sync++)
      expect(messageOf(await one(sourceRecord({ url: server.url })))).toContain(
        "bad_data: parse error",
      );
    expect(server.seen).toHaveLength(6);
  });
});

describe("a hostile source", () => {
  it.each(Object.entries(HOSTILE))(
    "that %s gives no value, in time, and its content is not shown",
    async (_deed, [answer, words]) => {
      server.answer = (_query, response) => void answer(response);
      const startMs = performance.now();
      const message = messageOf(await one(sourceRecord({ url: server.url })));
      expect(message).toMatch(words);
      expect(message).not.toContain(SECRET);
      expect(message).not.toContain("127.0.0.1");
      expect(performance.now() - startMs).toBeLessThan(6_000);
      expect(server.seen.filter(({ url }) => url.pathname !== "/api/v1/query")).toEqual([]);
    },
  );
});

describe("the address of a source", () => {
  let inFunction: SourceClient;
  beforeEach(() => {
    inFunction = sourceClient({ clock: Date.now, ownAddresses: false });
  });
  afterEach(() => inFunction.close());

  it.each([
    "https://127.0.0.1",
    "https://localhost",
    "https://2130706433",
    "https://0x7f.1",
    "https://0177.0.0.1",
    "https://[::1]",
    "https://[::ffff:127.0.0.1]",
    "https://[64:ff9b::7f00:1]",
    "https://169.254.169.254",
    "https://[::ffff:a9fe:a9fe]",
    "https://[fd00:ec2::254]",
    "https://0.0.0.0",
    "https://224.0.0.1",
    "https://100.100.100.200",
    "https://[fe80::1]",
    "https://api.localhost",
  ])("%s is one of this machine, and refused also where it is private", async (url) => {
    expect(messageOf(await one(sourceRecord({ url, private: true }), inFunction))).toMatch(
      /its address is one of this machine/,
    );
  });

  it.each([
    "https://10.0.0.5",
    "https://172.16.3.4",
    "https://192.168.1.1",
    "https://100.64.0.1",
    "https://[fd12::1]",
    "https://[::ffff:10.0.0.5]",
    "https://[64:ff9b::a00:5]",
    "https://167772165",
  ])("%s is in a private network, and refused unless the source says private", async (url) => {
    expect(messageOf(await one(sourceRecord({ url }), inFunction))).toContain(
      "in a private network, and the source does not say private",
    );
  });

  it("is checked after its name is resolved, on each connection", async () => {
    const port = new URL(server.url).port;
    // The name resolves to this machine by /etc/hosts or the resolver, and has no dot-localhost in
    // it.
    const { hostname } = await import("node:os");
    const message = messageOf(
      await one(sourceRecord({ url: `https://${hostname()}:${port}`, private: false }), inFunction),
    );
    expect(message).toMatch(
      /resolves to an address of this machine|private network|does not resolve/,
    );
    expect(server.seen).toEqual([]);
  });

  it.each([
    ["http://prometheus.example.com", /must begin with https/],
    ["https://user:pass@prometheus.example.com", /has a user or a password/],
    ["ftp://prometheus.example.com", /must begin with https/],
    ["prometheus", /is no URL/],
  ])("%s is refused", async (url, words) => {
    const message = messageOf(await one(sourceRecord({ url }), inFunction));
    expect(message).toMatch(words);
    expect(message).not.toContain("pass@");
  });
});
