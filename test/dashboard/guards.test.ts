import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { COMMAND_PATHS, QUERY_PATHS } from "../../lib/answers/api/paths.ts";
import { GUARDS, type GuardName, SECURITY_HEADERS } from "../../lib/dashboard/serve/guards.ts";
import { EDITS } from "../../lib/dashboard/serve/routes.ts";
import { type ServiceWorld, serviceWorld } from "../service/world/context.ts";
import { fillShop } from "../service/world/shop.ts";
import { localSource, type Sent, send, type Served, served } from "./world.ts";

let world: ServiceWorld;
/** One that only reads, and one that edits. */
let reads: Served;
let edits: Served;
beforeAll(async () => {
  world = await serviceWorld();
  await fillShop(world);
  reads = await served(localSource(world));
  edits = await served(localSource(world), true);
});
afterAll(async () => {
  await reads.close();
  await edits.close();
  await world.close();
});

const ROWS = "/v1/rows";
const JSON_TYPE = { "content-type": "application/json" };
const FREEZE: Sent = {
  method: "POST",
  path: COMMAND_PATHS.freeze,
  headers: JSON_TYPE,
  body: '{"reason":"no"}',
};
const NAVIGATION = { "sec-fetch-mode": "navigate", "sec-fetch-dest": "document" };
const port = (): string => new URL(reads.origin).port;

interface Wrong extends Sent {
  readonly status?: number;
}

/** What each guard refuses. A guard without a line here does not compile. */
const REFUSED: Readonly<Record<GuardName, () => readonly Wrong[]>> = {
  host: () =>
    [
      `evil.example:${port()}`,
      "evil.example",
      "127.0.0.1",
      `127.0.0.1:${Number(port()) + 1}`,
      `localhost:${port()}`,
      `127.0.0.1.evil.example:${port()}`,
      `127.0.0.1:${port()}.evil.example`,
      `user@127.0.0.1:${port()}`,
      "",
    ].flatMap((host) => [
      { path: ROWS, headers: { host } },
      { path: "/", headers: { host } },
    ]),
  origin: () =>
    [
      "http://evil.example",
      "null",
      `https://${reads.host}`,
      `http://localhost:${port()}`,
      `${reads.origin}/`,
      `http://127.0.0.1:${Number(port()) + 1}`,
      "",
    ].flatMap((origin) => [
      { path: ROWS, headers: { origin } },
      { path: "/page.js", headers: { origin } },
      { ...FREEZE, headers: { ...JSON_TYPE, origin } },
    ]),
  fetchSite: () => [
    ...["cross-site", "same-site", "none", "odd"].flatMap((site) => [
      { path: ROWS, headers: { "sec-fetch-site": site } },
      { path: ROWS, headers: { ...NAVIGATION, "sec-fetch-site": site } },
      { path: "/page.js", headers: { "sec-fetch-site": site } },
      { path: "/", headers: { "sec-fetch-site": site, "sec-fetch-mode": "no-cors" } },
      { path: "/", headers: { ...NAVIGATION, "sec-fetch-dest": "iframe", "sec-fetch-site": site } },
    ]),
    { ...FREEZE, path: "/", headers: { ...NAVIGATION, "sec-fetch-site": "cross-site" } },
  ],
  token: () =>
    [undefined, "", edits.token, `${reads.token}x`, reads.token.slice(1), reads.token.toUpperCase()]
      .flatMap((token) =>
        ["/v1/rows", "/v1/dashboard", "/v1/nothing", "/etc/passwd", "/v1/fleet/freeze"].map(
          (path) => ({ path, headers: { "x-tidemark-token": token } }),
        ),
      )
      .concat({ path: ROWS, headers: { "x-tidemark-token": [reads.token, reads.token] } } as never)
      .concat({ path: `/v1/rows?token=${reads.token}`, headers: { "x-tidemark-token": undefined } })
      .concat({
        path: ROWS,
        headers: { "x-tidemark-token": undefined, cookie: `x-tidemark-token=${reads.token}` },
      } as never),
  path: () =>
    [
      "//v1/rows",
      "/v1/rows/",
      "/v1//rows",
      "/v1/./rows",
      "/page/../v1/rows",
      "/v1/%72ows",
      "/V1/rows",
      "/v1/rows;x",
      "/v1/rows%00",
      "/v1/rows%3Fname=web",
      `${reads.origin}/v1/rows`,
      "http://evil.example/v1/rows",
      "/index.html",
      "/page.css/../../../etc/passwd",
      "/..%2f..%2fpackage.json",
      "/package.json",
      "/metrics",
      "/v1",
      "*",
    ].map((path) => ({ path })),
  method: () => [
    ...["HEAD", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "POST"].flatMap((method) =>
      ["/", ROWS].map((path) => ({ method, path })),
    ),
    ...EDITS.map((verb) => ({ path: `${COMMAND_PATHS[verb]}?reason=no` })),
    { method: "PUT", path: COMMAND_PATHS.freeze },
  ],
  edits: () => EDITS.map((verb) => ({ ...FREEZE, path: COMMAND_PATHS[verb] })),
  body: () => [
    { path: ROWS, headers: { "content-length": "2" }, body: "{}", status: 400 },
    { path: ROWS, headers: { "transfer-encoding": "chunked" }, body: "{}", status: 400 },
  ],
};

const STATUS: Readonly<Record<GuardName, number>> = {
  ...{ host: 421, origin: 403, fetchSite: 403, token: 403, path: 404, method: 405 },
  ...{ edits: 403, body: 415 },
};

/** The changes that people made, by which an edit would be seen. */
const changes = async (): Promise<string> =>
  (await send(reads, { path: QUERY_PATHS.changes })).text;

describe("the page's server", () => {
  it.each(Object.keys(GUARDS) as GuardName[])(
    "refuses what its guard %s is for, says so, changes nothing, and sends every protecting header",
    async (guard) => {
      const before = await changes();
      const wrong = REFUSED[guard]();
      expect(wrong.length).toBeGreaterThan(1);
      for (const { status = STATUS[guard], ...sent } of wrong) {
        const answer = await send(reads, sent);
        const named = JSON.stringify(sent);
        // Node itself refuses a Host that no URL can hold.
        if (guard === "host" && answer.status === 400) continue;
        expect(answer.status, named).toBe(status);
        if (sent.method !== "HEAD")
          expect(answer.json, named).toMatchObject({ status, code: `dashboard.${guard}` });
        expect(answer.headers, named).toMatchObject(SECURITY_HEADERS);
        expect(answer.headers, named).not.toHaveProperty("access-control-allow-origin");
      }
      expect(await changes()).toBe(before);
    },
  );

  it("takes an edit as JSON only, so that no form of another page can send one", async () => {
    const before = await changes();
    for (const type of ["text/plain", "application/x-www-form-urlencoded", undefined]) {
      const answer = await send(edits, { ...FREEZE, headers: { "content-type": type } });
      expect([answer.status, answer.json]).toMatchObject([415, { code: "dashboard.body" }]);
    }
    expect(await changes()).toBe(before);
  });

  it("answers what its page asks, with the protecting headers and without a cookie", async () => {
    const paths = ["/", "/page.js", "/page.css", "/icon.svg", "/v1/dashboard", ROWS];
    const own = { origin: reads.origin, "sec-fetch-site": "same-origin" };
    for (const path of paths) {
      const answer = await send(reads, { path, headers: own });
      expect(answer.status, path).toBe(200);
      expect(answer.headers, path).toMatchObject(SECURITY_HEADERS);
      expect(answer.headers, path).not.toHaveProperty("set-cookie");
    }
    expect(reads.failures).toEqual([]);
  });

  it("opens the document from anywhere, because a person follows links, and nothing else", async () => {
    for (const site of ["none", "cross-site", "same-site"])
      expect(
        (await send(reads, { path: "/", headers: { ...NAVIGATION, "sec-fetch-site": site } }))
          .status,
        site,
      ).toBe(200);
  });

  it("closes a connection whose request comes too slowly", async () => {
    const slow = await served(localSource(world), true, 100);
    const head = `POST ${COMMAND_PATHS.freeze} HTTP/1.1\r\nhost: ${slow.host}\r\nx-tidemark-token: ${slow.token}\r\ncontent-type: application/json\r\ncontent-length: 20\r\n\r\n`;
    for (const part of [`${head}{"rea`, "GET /v1/rows HT"]) {
      const socket = connect({ host: "127.0.0.1", port: Number(slow.host.split(":")[1]) });
      socket.write(part);
      expect(await text(socket)).toMatch(/^HTTP\/1\.1 408 /);
    }
    await slow.close();
  });

  it("has another token of 32 bytes at each start", () => {
    expect(reads.token).not.toBe(edits.token);
    for (const { token } of [reads, edits])
      expect(Buffer.from(token, "base64url")).toHaveLength(32);
  });

  it("answers each read of the API, and no edit beside those of the page", async () => {
    for (const path of Object.values(QUERY_PATHS)) {
      const { status } = await send(edits, { path });
      // 400: a name is wanted. The service has answered.
      expect([200, 400], path).toContain(status);
    }
    const others = Object.entries(COMMAND_PATHS).filter(
      ([verb]) => !EDITS.some((edit) => edit === verb),
    );
    expect(others.length).toBeGreaterThan(10);
    for (const [, path] of others)
      expect((await send(edits, { ...FREEZE, path })).status, path).toBe(404);
  });

  it("refuses huge headers, and bodies that are too long", async () => {
    const huge = { "x-much": "x".repeat(20_000) };
    expect((await send(reads, { path: ROWS, headers: huge })).status).toBe(431);
    const body = JSON.stringify({ reason: "x".repeat(70_000) });
    const long = await send(edits, { ...FREEZE, body });
    expect([long.status, long.json]).toMatchObject([413, { code: "dashboard.body" }]);
  });

  it("closes a connection that comes with a body which it did not read", async () => {
    const hidden = `GET /v1/fleet HTTP/1.1\r\nhost: ${reads.host}\r\nx-tidemark-token: ${reads.token}\r\n\r\n`;
    const first = [
      "GET /v1/rows HTTP/1.1",
      `host: ${reads.host}`,
      `x-tidemark-token: ${reads.token}`,
      `content-length: ${hidden.length + 1}`,
    ];
    const socket = connect({ host: "127.0.0.1", port: Number(port()) });
    socket.write(`${first.join("\r\n")}\r\n\r\n${hidden}`);
    const answers = await text(socket);
    expect(answers.match(/^HTTP\/1\.1 .*$/gm)).toHaveLength(1);
  });
});
