import type { ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  MAX_ANSWER_BYTES,
  MAX_FLOW_CALLS,
  MAX_IDLE_SOCKETS,
  MAX_SOCKETS,
} from "../../lib/stack/cluster/request-limits.ts";
import type { Transport } from "../../lib/stack/cluster/transport/transport.ts";
import { budgetOf, transportTo } from "./stand-in/connected.ts";
import { inTurn, json, type StandIn, standIn, status } from "./stand-in/server.ts";

let server: StandIn;
let transport: Transport;
beforeEach(async () => {
  server = await standIn();
  transport = transportTo(server);
});
afterEach(async () => {
  transport.close();
  await server.close();
});

const pods = { path: "/api/v1/pods", resource: "pods" };
const scale = {
  path: "/apis/apps/v1/namespaces/shop/deployments/web/scale",
  resource: "deployments.apps",
  body: { spec: { replicas: 3 } },
};
const get = (budget = budgetOf()) => transport.get(pods, budget);

describe("get()", () => {
  it("sends token, deadline and accepted encodings, and gives the object", async () => {
    server.answer = json(200, { items: [] });
    expect(
      await transport.get({ ...pods, query: { labelSelector: "app in (a,b)" } }, budgetOf(2_000)),
    ).toMatchObject({
      kind: "read",
      body: { items: [] },
    });
    const [call] = server.seen;
    expect(call?.headers).toMatchObject({
      authorization: "Bearer open-sesame",
      accept: "application/json",
      "accept-encoding": "gzip",
      "user-agent": "tidemark",
    });
    expect(call?.url.searchParams.get("labelSelector")).toBe("app in (a,b)");
    expect(Number.parseInt(call?.url.searchParams.get("timeout") ?? "", 10)).toBeGreaterThan(1_000);
    expect(call?.url.searchParams.get("timeout")).toMatch(/^\d+ms$/);
  });

  it("keeps the path in front of the server", async () => {
    transport = transportTo(server, { server: new URL(`${server.url}/k8s/clusters/c-1/`) });
    await get();
    expect(server.seen[0]?.url.pathname).toBe("/k8s/clusters/c-1/api/v1/pods");
  });

  it("unpacks gzip and counts the bytes on the wire", async () => {
    const text = JSON.stringify({ items: Array.from({ length: 1_000 }, () => ({ name: "web" })) });
    server.answer = (_seen, response) => {
      response.writeHead(200, { "content-encoding": "gzip" }).end(gzipSync(text));
    };
    const budget = budgetOf();
    expect(await get(budget)).toMatchObject({ kind: "read", body: JSON.parse(text) });
    expect(budget.spent().bytes).toBeLessThan(text.length / 10);
  });

  it("carries many calls over one connection", async () => {
    for (let call = 0; call < 20; call++) await get();
    expect(server.seen).toHaveLength(20);
    expect(server.connections()).toBe(1);
  });

  it("opens no more connections than the pool may hold", async () => {
    server.answer = (_seen, response) => {
      setTimeout(() => response.end("{}"), 5);
    };
    await Promise.all(Array.from({ length: 2 * MAX_SOCKETS }, () => get()));
    expect(server.connections()).toBeLessThanOrEqual(MAX_SOCKETS + MAX_FLOW_CALLS);
  });

  it.each([
    [400, "BadRequest"],
    [401, "Unauthorized"],
    [403, "Forbidden"],
    [404, "NotFound"],
    [409, "Conflict"],
    [410, "Expired"],
    [422, "Invalid"],
    [429, "TooManyRequests"],
    [500, "InternalError"],
    [503, "ServiceUnavailable"],
  ])("gives the Status object of a %i as it came", async (code, reason) => {
    server.answer = status(code, reason, `words of the server for ${code}`);
    expect(await get()).toEqual({
      kind: "failed",
      failure: { code, reason, message: `words of the server for ${code}` },
    });
  });

  it.each([
    [404, "NotFound", "the server could not find the requested resource (get pods)"],
    [503, "ServiceUnavailable", "the server is currently unable to handle the request (get pods)"],
    [502, "InternalError", "the server answered 502 and said no more (get pods)"],
    [302, "Unknown", "the server answered 302 and said no more (get pods)"],
  ])("finds words for a %i without a Status object", async (code, reason, message) => {
    server.answer = (_seen, response) => {
      response.writeHead(code).end("<html>not for machines</html>");
    };
    expect(await get()).toEqual({ kind: "failed", failure: { code, reason, message } });
  });

  it("refuses a 2xx that is no JSON object", async () => {
    server.answer = (_seen, response) => {
      response.end("<html>please sign in</html>");
    };
    const message =
      'Cannot GET pods of cluster "eu-1": the server answered 200 without a JSON object that can be read: an object is expected at byte 0';
    expect(await get()).toEqual({
      kind: "failed",
      failure: { code: 0, reason: "MalformedAnswer", message },
    });
  });

  it("gives up on a server that does not answer, at its deadline", async () => {
    server.answer = () => undefined;
    const before = performance.now();
    const answer = await get(budgetOf(200));
    expect(performance.now() - before).toBeLessThan(1_000);
    expect(answer).toMatchObject({
      kind: "failed",
      failure: {
        code: 0,
        reason: "Timeout",
        message: expect.stringMatching(
          /^Cannot GET pods of cluster "eu-1": no answer within \d+ ms$/,
        ),
      },
    });
  });

  it("gives up on a body that trickles, at its deadline", async () => {
    server.answer = (_seen, response) => {
      response.writeHead(200);
      const drip = setInterval(() => response.write(" "), 20);
      response.on("close", () => clearInterval(drip));
    };
    const message = expect.stringContaining("the answer was not complete within");
    expect(await get(budgetOf(200))).toMatchObject({
      kind: "failed",
      failure: { reason: "Timeout", message },
    });
  });

  it("reports a connection that broke inside the answer, and does not repeat the call", async () => {
    server.answer = (_seen, response, socket) => {
      response.writeHead(200, { "content-length": "1000" });
      response.write("{");
      setTimeout(() => socket.destroy(), 10);
    };
    expect(await get()).toMatchObject({
      kind: "failed",
      failure: { code: 0, reason: "ConnectionReset" },
    });
    expect(server.seen).toHaveLength(1);
  });

  it("reports a gzip body that is cut or no gzip at all", async () => {
    server.answer = (_seen, response) => {
      response.writeHead(200, { "content-encoding": "gzip" }).end("not gzip");
    };
    expect(await get()).toMatchObject({ kind: "failed", failure: { code: 0 } });
  });

  it("unpacks an answer of several parts, each of them small or large", async () => {
    const items = Array.from({ length: 199_000 }, (_, at) => at);
    const text = JSON.stringify({ items });
    const cuts = [0, 10, 1_200_000, text.length];
    const parts = cuts.slice(1).map((end, at) => gzipSync(text.slice(cuts[at], end)));
    server.answer = (_seen, response) => {
      response.writeHead(200, { "content-encoding": "gzip" }).end(Buffer.concat(parts));
    };
    expect(await get()).toMatchObject({ kind: "read", body: { items } });
  });

  it.each([0, 100, 0xff_ff_ff_ff])(
    "reports a gzip body that tells a wrong size: %d",
    async (wrongBytes) => {
      const packed = gzipSync(
        JSON.stringify({ items: Array.from({ length: 10_000 }, () => "web") }),
      );
      packed.writeUInt32LE(wrongBytes, packed.length - 4);
      server.answer = (_seen, response) => {
        response.writeHead(200, { "content-encoding": "gzip" }).end(packed);
      };
      expect(await get()).toMatchObject({ kind: "failed", failure: { code: 0 } });
    },
  );

  it("stops reading an answer that unpacks to more than the limit", async () => {
    const bomb = gzipSync(Buffer.alloc(MAX_ANSWER_BYTES + 1));
    server.answer = (_seen, response) => {
      response.writeHead(200, { "content-encoding": "gzip" }).end(bomb);
    };
    expect(await get()).toMatchObject({
      kind: "failed",
      failure: { code: 0, reason: "AnswerTooLarge" },
    });
  });

  it("leaves no timer behind: a frozen function would wake up to it", async () => {
    const timers = () =>
      process.getActiveResourcesInfo().filter((resource) => resource === "Timeout").length;
    await get();
    const before = timers();
    await Promise.all(Array.from({ length: 200 }, () => get(budgetOf(60_000))));
    // Connections, also the server's, have timers of their own; 200 calls would have 200.
    expect(timers()).toBeLessThan(before + 100);
  });

  it("hangs up on an answer that does not end", async () => {
    let hungUp: () => void = () => undefined;
    const closed = new Promise<void>((resolve) => {
      hungUp = resolve;
    });
    server.answer = (_seen, response, socket) => {
      socket.on("close", hungUp);
      const chunk = Buffer.alloc(1024 * 1024, " ");
      const more = (): void => {
        while (!response.destroyed && response.write(chunk));
      };
      response.writeHead(200).on("drain", more);
      more();
    };
    expect(await get(budgetOf(20_000))).toMatchObject({
      kind: "failed",
      failure: { code: 0, reason: "AnswerTooLarge" },
    });
    await closed;
    server.answer = json(200, { items: [] });
    expect(await get()).toMatchObject({ kind: "read", body: { items: [] } });
  });

  it("refuses a server whose certificate another CA has signed", async () => {
    const other = await standIn();
    transport = transportTo({ url: server.url, ca: other.ca });
    expect(await get()).toMatchObject({
      kind: "failed",
      failure: { code: 0, reason: "TlsVerificationFailed" },
    });
    expect(server.seen).toHaveLength(0);
    await other.close();
  });

  it("refuses a certificate made for another host, unless that name is the one expected", async () => {
    const elsewhere = await standIn({ host: "kubernetes.example" });
    transport = transportTo(elsewhere);
    expect(await get()).toMatchObject({
      kind: "failed",
      failure: { reason: "TlsVerificationFailed" },
    });
    transport = transportTo(elsewhere, { servername: "kubernetes.example" });
    expect(await get()).toMatchObject({ kind: "read" });
    await elsewhere.close();
  });

  it("says that no server listens", async () => {
    await server.close();
    expect(await get()).toMatchObject({
      kind: "failed",
      failure: { code: 0, reason: "ConnectionRefused" },
    });
  });

  it("says that a name does not resolve", async () => {
    transport = transportTo(server, { server: new URL("https://no-such-cluster.invalid") });
    expect(await get()).toMatchObject({
      kind: "failed",
      failure: { code: 0, reason: "UnknownHost" },
    });
  });

  it("shows a client certificate, and the new one after rotation", async () => {
    const identities = [
      await server.authority.issue("tidemark-1"),
      await server.authority.issue("tidemark-2"),
    ];
    transport = transportTo(server, {
      credentials: async () => ({
        headers: {},
        ...(server.seen.length === 0 ? identities[0] : identities[1]),
      }),
    });
    await get();
    await get();
    expect(server.seen.map(({ clientName }) => clientName)).toEqual(["tidemark-1", "tidemark-2"]);
  });

  it("waits as Retry-After asks and then reads", async () => {
    server.answer = inTurn(
      status(429, "TooManyRequests", "slow down", { "retry-after": "1" }),
      json(200, { items: [] }),
    );
    const before = performance.now();
    expect(await get()).toMatchObject({ kind: "read" });
    expect(performance.now() - before).toBeGreaterThan(900);
  });

  it.each([429, 503])(
    "gives up at once when a %i asks for more time than is left",
    async (code) => {
      server.answer = status(code, "Busy", "come back later", { "retry-after": "10" });
      expect(await get(budgetOf(2_000))).toMatchObject({
        kind: "failed",
        failure: { code, message: "come back later" },
      });
      expect(server.seen).toHaveLength(1);
    },
  );

  it("waits at most three times", async () => {
    server.answer = status(429, "TooManyRequests", "slow down", { "retry-after": "0" });
    expect(await get()).toMatchObject({ kind: "failed", failure: { code: 429 } });
    expect(server.seen).toHaveLength(4);
  });

  it("does not repeat a 500", async () => {
    server.answer = status(500, "InternalError", "etcd has no leader");
    await get();
    expect(server.seen).toHaveLength(1);
  });

  it("asks for a fresh token after a 401, once", async () => {
    let token = 1;
    transport = transportTo(server, {
      credentials: async () => ({ headers: { authorization: `Bearer ${token}` } }),
      forget: () => void token++,
    });
    server.answer = (seen, response, socket) =>
      (seen.headers.authorization === "Bearer 2"
        ? json(200, {})
        : status(401, "Unauthorized", "Unauthorized"))(seen, response, socket);
    expect(await get()).toMatchObject({ kind: "read" });
    server.answer = status(401, "Unauthorized", "Unauthorized");
    expect(await get()).toMatchObject({ kind: "failed", failure: { code: 401 } });
    expect(server.seen).toHaveLength(4);
  });

  it("repeats on a new connection when the idle one was closed by the server", async () => {
    await get();
    // The server reads the second request and hangs up without a word: what a client sees whose
    // request crossed the server's close.
    let hangUps = 0;
    server.answer = (seen, response, socket) => {
      if (hangUps++ === 0) socket.destroy();
      else json(200, { items: [] })(seen, response, socket);
    };
    expect(await get()).toMatchObject({ kind: "read" });
    expect(server.seen).toHaveLength(3);
    expect(server.connections()).toBe(2);
  });

  it("repeats on a new connection, not on another that lay idle as long", async () => {
    const waiting: ServerResponse[] = [];
    server.answer = (_seen, response) => {
      waiting.push(response);
      if (waiting.length === 3) for (const one of waiting) one.end("{}");
    };
    await Promise.all([get(), get(), get()]);
    // A connection is idle only some turns of the event loop after its answer was read.
    await sleep(20);
    const old = server.connections();
    expect(old).toBe(3);
    const sockets = new Set<unknown>();
    server.answer = (seen, response, socket) => {
      sockets.add(socket);
      if (server.connections() === old) socket.destroy();
      else json(200, {})(seen, response, socket);
    };
    expect(await get()).toMatchObject({ kind: "read" });
    expect(sockets.size).toBe(2);
  });

  it("opens a new connection after a minute of silence", async () => {
    let now = 1_000_000;
    transport = transportTo(server, { clock: () => now });
    await get();
    now += 60_000;
    await get();
    expect(server.connections()).toBe(1);
    now += 60_001;
    await get();
    expect(server.connections()).toBe(2);
  });

  it("does not repeat on a connection that was new", async () => {
    server.answer = (_seen, _response, socket) => socket.destroy();
    expect(await get()).toMatchObject({ kind: "failed", failure: { reason: "ConnectionReset" } });
    expect(server.seen).toHaveLength(1);
  });

  it("stops when calls, bytes or time of the budget are spent", async () => {
    const calls = budgetOf(5_000, { maxCalls: 1 });
    await get(calls);
    const message = "Cannot call the cluster: the calls for this sync are spent, 1";
    expect(await get(calls)).toEqual({
      kind: "failed",
      failure: { code: 0, reason: "BudgetExhausted", message },
    });
    const bytes = budgetOf(5_000, { maxBytes: 1 });
    await get(bytes);
    expect(await get(bytes)).toMatchObject({
      kind: "failed",
      failure: { reason: "BudgetExhausted", message: expect.stringContaining("bytes") },
    });
    expect(await get(budgetOf(0))).toMatchObject({
      kind: "failed",
      failure: { reason: "BudgetExhausted", message: expect.stringContaining("time") },
    });
    expect(server.seen).toHaveLength(2);
  });
});

describe("put()", () => {
  it("sends the body once and gives the object that came back", async () => {
    server.answer = json(200, { metadata: { resourceVersion: "8" } });
    expect(await transport.put(scale, 1_000)).toEqual({
      kind: "written",
      body: { metadata: { resourceVersion: "8" } },
    });
    expect(server.seen[0]).toMatchObject({ method: "PUT", body: '{"spec":{"replicas":3}}' });
    expect(server.seen[0]?.headers["content-type"]).toBe("application/json");
  });

  it.each([
    ["429 with Retry-After", status(429, "TooManyRequests", "slow down", { "retry-after": "0" })],
    ["401", status(401, "Unauthorized", "Unauthorized")],
    ["503 with Retry-After", status(503, "ServiceUnavailable", "starting", { "retry-after": "0" })],
    ["409", status(409, "Conflict", "the object has been modified")],
  ])("does not repeat after a %s", async (_name, answer) => {
    server.answer = answer;
    expect(await transport.put(scale, 1_000)).toMatchObject({ kind: "failed", sent: true });
    expect(server.seen).toHaveLength(1);
  });

  it("has as many writes at the server at once as a burst may have, and then keeps few connections", async () => {
    const held: (() => void)[] = [];
    server.answer = (_seen, response) => {
      held.push(() => response.end("{}"));
      if (held.length === MAX_SOCKETS) for (const answer of held) answer();
    };
    await Promise.all(Array.from({ length: MAX_SOCKETS }, () => transport.put(scale, 5_000)));
    expect(server.seen).toHaveLength(MAX_SOCKETS);
    await expect.poll(server.open).toBe(MAX_IDLE_SOCKETS);
  });

  it("does not repeat when its keep-alive connection is reset", async () => {
    await get();
    server.answer = (_seen, _response, socket) => socket.destroy();
    expect(await transport.put(scale, 1_000)).toMatchObject({
      kind: "failed",
      sent: true,
      failure: { code: 0, reason: "ConnectionReset" },
    });
    expect(server.seen).toHaveLength(2);
    expect(server.connections()).toBe(1);
  });

  it("uses a connection that has just answered, but none that lay idle for longer", async () => {
    let now = 1_000_000;
    transport = transportTo(server, { clock: () => now });
    await get();
    now += 4_000;
    await transport.put(scale, 1_000);
    expect(server.connections()).toBe(1);
    now += 6_000;
    await transport.put(scale, 1_000);
    expect(server.connections()).toBe(2);
  });

  it("does not trust the age of a connection when the clock was set back", async () => {
    let now = 1_000_000;
    transport = transportTo(server, { clock: () => now });
    await get();
    now -= 3_600_000;
    await transport.put(scale, 1_000);
    expect(server.connections()).toBe(2);
  });

  it("asks for fresh credentials next time when its own were refused", async () => {
    let forgotten = 0;
    transport = transportTo(server, { forget: () => void forgotten++ });
    server.answer = status(401, "Unauthorized", "Unauthorized");
    await transport.put(scale, 1_000);
    expect(forgotten).toBe(1);
  });

  it("counts the time that credentials take", async () => {
    const credentials = async () => {
      await sleep(150);
      return { headers: {} };
    };
    transport = transportTo(server, { credentials });
    await transport.put(scale, 400);
    expect(Number.parseInt(server.seen[0]?.url.searchParams.get("timeout") ?? "", 10)).toBeLessThan(
      260,
    );
  });

  it("notices that the server closed the idle connection and takes a new one", async () => {
    await get();
    server.closeIdle();
    await sleep(20);
    expect(await transport.put(scale, 1_000)).toMatchObject({ kind: "written" });
    expect(server.connections()).toBe(2);
  });

  it("tells a timeout after sending from one before", async () => {
    server.answer = () => undefined;
    expect(await transport.put(scale, 100)).toMatchObject({
      kind: "failed",
      sent: true,
      failure: { reason: "Timeout" },
    });
    transport = transportTo(server, { credentials: () => new Promise(() => undefined) });
    expect(await transport.put(scale, 100)).toMatchObject({
      kind: "failed",
      sent: false,
      failure: { reason: "AccessFailed" },
    });
  });

  it("proves that nothing was sent when nothing listens or the certificate is wrong", async () => {
    const other = await standIn();
    expect(await transportTo({ url: server.url, ca: other.ca }).put(scale, 1_000)).toMatchObject({
      sent: false,
    });
    await other.close();
    expect(await transportTo(other).put(scale, 1_000)).toMatchObject({
      sent: false,
      failure: { reason: "ConnectionRefused" },
    });
    expect(server.seen).toHaveLength(0);
  });
});

describe("close()", () => {
  it("lets calls in flight end and keeps no connection", async () => {
    server.answer = (_seen, response) => {
      setTimeout(() => response.end("{}"), 50);
    };
    const flying = get();
    await sleep(20);
    transport.close();
    expect(await flying).toMatchObject({ kind: "read" });
    await get();
    expect(server.connections()).toBe(2);
  });
});
