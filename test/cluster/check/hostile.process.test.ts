import { afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { checkConnection } from "../../../lib/stack/cluster/check/check-connection.ts";
import { clusterName } from "../../../lib/rules/model/ids.ts";
import { type Authority, authority } from "../stand-in/certificates.ts";
import { accessTo } from "../stand-in/connected.ts";
import { type Answer, json, standIn } from "../stand-in/server.ts";
import { type AskedServer, askedServer, look, pointOf, troubles } from "./looked-at.ts";

let server: AskedServer;
let other: Authority;
beforeAll(async () => {
  other = await authority();
});
beforeEach(async () => {
  server = await askedServer();
});
afterEach(() => server.close());

const USER = "/apis/authentication.k8s.io/v1/selfsubjectreviews";
const TOKEN = "open-sesame";
const override = (path: string, answer: Answer): void => {
  server.overrides.unshift({ match: ({ url }) => url.pathname === path, answer });
};

const hang: Answer = () => undefined;
const drip: Answer = (_seen, response) => {
  response.writeHead(200, { "content-type": "application/json" });
  const timer = setInterval(() => response.write(" "), 20);
  response.on("close", () => clearInterval(timer));
};
const endless: Answer = (_seen, response) => {
  response.writeHead(200, { "content-type": "application/json" });
  const chunk = Buffer.alloc(64 * 1024, " ");
  const pour = (): void => {
    while (!response.destroyed && response.write(chunk));
  };
  response.on("drain", pour);
  pour();
};
const html: Answer = (_seen, response) =>
  response.writeHead(200, { "content-type": "text/html" }).end("<html><body>Sign in</body></html>");
const reset: Answer = (_seen, _response, socket) => socket.destroy();

describe("a server that does not answer as an API server does", () => {
  it.each<readonly [string, Answer, string, string]>([
    ["hangs", hang, "failed reachable", "no answer within 5000 ms"],
    ["drips", drip, "failed reachable", "the answer was not complete within 5000 ms"],
    [
      "resets the connection",
      reset,
      "failed reachable",
      "the connection broke before the answer was complete: socket hang up",
    ],
    ["never ends its answer", endless, "failed api", "answer is larger than 2097152 bytes"],
    ["answers HTML", html, "failed api", "the server answered 200 without a JSON object"],
  ])("ends as a failed point in bounded time: %s", async (_name, answer, point, message) => {
    override("/version", answer);
    const startMs = performance.now();
    const report = await look(server);
    expect(performance.now() - startMs).toBeLessThan(15_000);
    expect([report.usable, troubles(report)]).toEqual([false, [point]]);
    expect(pointOf(report, point.split(" ")[1] ?? "").message).toBe(message);
    expect(server.seen.length).toBe(1);
  });

  it("is refused where the question about the user gets no clear answer", async () => {
    override(USER, reset);
    expect(troubles(await look(server))).toEqual(["failed user"]);
  });

  it("is asked nothing more after twenty seconds, and what was not asked is a warning", async () => {
    let aheadMs = 0;
    override(USER, (...call) => {
      aheadMs = 20_001;
      json(200, { status: { userInfo: { username: "tidemark" } } })(...call);
    });
    const trusted = {
      files: false,
      ownAddresses: true,
      kubeconfigFile: async () => accessTo(server),
    };
    const report = await checkConnection(
      { name: clusterName("eu-1"), connection: { kind: "kubeconfig", path: "/unused" } },
      { clock: Date.now, elapsed: () => performance.now() + aheadMs, trusted },
    );
    expect(server.paths()).toEqual(["GET /version", `POST ${USER}`]);
    expect(pointOf(report, "deployments.apps")).toMatchObject({
      result: "warning",
      message: "could not be asked: the check takes 20 s at most, and they are over",
    });
  });

  it("gives no credentials in time: the look ends", async () => {
    const report = await look(server, {
      access: { credentials: () => new Promise(() => undefined) },
    });
    expect(troubles(report)).toEqual(["failed credentials"]);
    expect(pointOf(report, "credentials").message).toBe(
      "Cannot authenticate: no credentials within 5000 ms",
    );
  });
});

describe("what a hostile server says", () => {
  it("is cut and escaped", async () => {
    const nasty = `\u001b[31mroot\n\u202e${"x".repeat(5_000)}`;
    override(
      USER,
      json(200, {
        status: { userInfo: { username: nasty, groups: Array.from({ length: 300 }, () => nasty) } },
      }),
    );
    override("/version", json(200, { gitVersion: nasty }));
    server.refuses = () => true;
    const report = await look(server);
    const texts = report.checks.flatMap(({ message, fix = "" }) => [message, fix]);
    expect(texts.filter((text) => /\p{Cc}|\p{Cf}/u.test(text))).toEqual([]);
    expect(texts.filter((text) => text.includes("\\u{1b}[31mroot\\n\\u{202e}")).length).toBe(2);
    expect(Math.max(...texts.map((text) => text.length))).toBeLessThan(4_000);
  });

  it("is not shown where it repeats the token of the request, in a name, a reason or an error", async () => {
    for (const [path, answer] of [
      [USER, json(200, { status: { userInfo: { username: `Bearer ${TOKEN}` } } })],
      ["/version", json(500, { kind: "Status", message: `no user for ${TOKEN}` })],
      ["/version", json(200, { gitVersion: TOKEN })],
    ] as const) {
      override(path, answer);
      const report = await look(server);
      expect(JSON.stringify(report)).not.toContain(TOKEN);
      expect(report.usable).toBe(false);
      server.overrides.shift();
    }
  });

  it.each([
    ["nulls", null],
    ["numbers", 7],
    ["nested lists", { status: [[[]]] }],
    [
      "wrong types",
      {
        status: { userInfo: { username: 7, groups: "tidemark" }, allowed: "yes" },
        groups: [1, null, { name: 7, versions: 7 }],
        gitVersion: [],
      },
    ],
  ])("is no error of the look: %s everywhere", async (_name, body) => {
    server.answer = json(200, body);
    const report = await look(server);
    expect(report.usable).toBe(false);
  });
});

describe("TLS and addresses", () => {
  it("refuse a certificate of another CA, and say that the server was reached", async () => {
    const report = await look({ url: server.url, ca: other.ca });
    expect([report.usable, troubles(report)]).toEqual([false, ["failed tls"]]);
    expect(pointOf(report, "reachable").result).toBe("passed");
    expect(server.seen).toEqual([]);
  });

  it("refuse a certificate for another name", async () => {
    const named = await standIn({ host: "elsewhere.example" });
    try {
      const report = await look({ url: named.url, ca: named.ca });
      expect([report.usable, troubles(report)]).toEqual([false, ["failed tls"]]);
      expect(named.seen).toEqual([]);
    } finally {
      await named.close();
    }
  });

  it("tell a port on which nothing listens", async () => {
    const report = await look({ url: "https://127.0.0.1:1", ca: other.ca });
    expect(pointOf(report, "reachable")).toEqual({
      check: "reachable",
      result: "failed",
      message: "nothing listens at the server's address (ECONNREFUSED)",
      fix: "check the port and that the API server runs",
    });
  });

  it("keep the rules of a sync for addresses: a name that leads to this machine is not called", async () => {
    const { port } = new URL(server.url);
    const report = await look(server, {
      access: { ownAddresses: false, server: new URL(`https://localhost:${port}`) },
    });
    expect(troubles(report)).toEqual(["failed reachable"]);
    expect(pointOf(report, "reachable").fix).toBe("give the cluster's own address");
    expect(server.connections()).toBe(0);
  });

  it("read no kubeconfig file in a function", async () => {
    const report = await checkConnection(
      { name: clusterName("eu-1"), connection: { kind: "kubeconfig", path: "/etc/passwd" } },
      { clock: Date.now },
    );
    expect(troubles(report)).toEqual(["failed credentials"]);
    expect(pointOf(report, "credentials").message).toContain(
      "a kubeconfig file is read only in the embedded run",
    );
  });
});
