import { randomBytes } from "node:crypto";
import { gunzipSync } from "node:zlib";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { apiHandler } from "../../functions/api.ts";
import type { FunctionUrlHandler } from "../../lib/lambda/function-url.ts";
import { answerRequest, ALL_ROUTES } from "../../lib/answers/api/answer-request.ts";
import {
  COMMAND_PATHS,
  KEY_HEADER,
  METRICS_PATH,
  QUERY_PATHS,
} from "../../lib/answers/api/paths.ts";
import { OPEN_METRICS_TYPE, openMetricsText } from "../../lib/stack/report/open-metrics.ts";
import { openQueries, openService } from "../../lib/answers/service/open.ts";
import type { SeriesQuery, Service } from "../../lib/answers/service/service.ts";
import { changesOf } from "../../lib/stack/store/history/changes.ts";
import type { Tables } from "../../lib/stack/store/table/tables.ts";
import { NOON } from "../noon.ts";
import { hpa } from "../service/world/manifests.ts";
import { recordOf } from "../service/world/shop.ts";
import { ADA, type ApiWorld, apiWorld, ask, eventOf, GRACE, openTo } from "./world.ts";

let world: ApiWorld;
let service: Service;
beforeAll(async () => {
  world = await apiWorld();
  service = openService(world.context);
});
afterAll(() => world.close());
beforeEach(() => {
  world.lines.length = 0;
});

const get = (path: string, query = "") => ask(world.view, { path, query });
const CONNECTING: readonly string[] = [COMMAND_PATHS.addCluster, COMMAND_PATHS.replaceCluster];
const post = (path: string, body: unknown, by = ADA) =>
  ask(CONNECTING.includes(path) ? world.connect : world.api, {
    path,
    body: JSON.stringify(body),
    by,
  });
/** As JSON carries it. */
const carried = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

describe("the routes that show", () => {
  it.each<readonly [path: string, query: string, wanted: () => Promise<unknown>]>([
    [QUERY_PATHS.get, "name=shop%2Fweb", () => service.get({ name: "shop/web" })],
    [
      QUERY_PATHS.get,
      "name=web&namespace=shop&cluster=eu-1",
      () => service.get({ name: "web", namespace: "shop", cluster: "eu-1" }),
    ],
    [QUERY_PATHS.describe, "name=shop%2Fweb", () => service.describe({ name: "shop/web" })],
    [QUERY_PATHS.explain, "name=shop%2Fweb", () => service.explain({ name: "shop/web" })],
    [
      QUERY_PATHS.explain,
      "name=shop%2Fweb&at=2026-03-01T11:59:40Z",
      () => service.explain({ name: "shop/web" }, Date.parse("2026-03-01T11:59:40Z")),
    ],
    [
      QUERY_PATHS.autoscalers,
      "",
      async () => ({ items: await Array.fromAsync(service.autoscalers({})) }),
    ],
    [
      QUERY_PATHS.autoscalers,
      "namespace=shop",
      async () => ({ items: await Array.fromAsync(service.autoscalers({ namespace: "shop" })) }),
    ],
    [
      QUERY_PATHS.events,
      "since=2026-02-20T00:00:00Z",
      async () => ({
        items: await Array.fromAsync(
          service.events({ sinceMs: Date.parse("2026-02-20T00:00:00Z") }),
        ),
      }),
    ],
    [
      QUERY_PATHS.events,
      "name=shop%2Fweb",
      async () => ({ items: await Array.fromAsync(service.events({ name: "shop/web" })) }),
    ],
    [
      QUERY_PATHS.events,
      "since=2026-03-01T12:59:00%2B01:00",
      async () => ({
        items: await Array.fromAsync(
          service.events({ sinceMs: Date.parse("2026-03-01T11:59:00Z") }),
        ),
      }),
    ],
    [QUERY_PATHS.changes, "", async () => ({ items: await Array.fromAsync(service.changes({})) })],
    [
      QUERY_PATHS.changes,
      "name=shop%2Fweb",
      async () => ({ items: await Array.fromAsync(service.changes({ name: "shop/web" })) }),
    ],
    [QUERY_PATHS.clusters, "", async () => ({ items: await Array.fromAsync(service.clusters()) })],
    [QUERY_PATHS.cluster, "name=eu-1", () => service.cluster("eu-1")],
    [QUERY_PATHS.partition, "name=eu-1%2Fdefault", () => service.partition("eu-1/default")],
    [QUERY_PATHS.fleet, "", () => service.fleet()],
    [QUERY_PATHS.series, "", async () => ({ families: await service.series() })],
  ])("answer %s?%s with what the service says", async (path, query, wanted) => {
    const said = carried(await wanted());
    for (const handler of [world.view, world.api]) {
      const { status, headers, json } = await ask(handler, { path, query });
      expect([status, headers["content-type"], headers["cache-control"]]).toEqual([
        200,
        "application/json",
        "no-store",
      ]);
      expect(json).toEqual(said);
    }
  });

  it("answer /metrics as scrapers want it", async () => {
    const { status, headers, text } = await get("/metrics");
    expect([status, headers["content-type"]]).toEqual([200, OPEN_METRICS_TYPE]);
    expect(text).toBe(openMetricsText(await service.series()));
    expect(text).toContain("tidemark_current_replicas");
  });

  it("compress long answers for callers that accept gzip, and for no other caller", async () => {
    const asked = { path: QUERY_PATHS.autoscalers };
    const plain = await ask(world.view, asked);
    const packed = await ask(world.view, {
      ...asked,
      headers: { "accept-encoding": "gzip, deflate, br" },
    });
    expect(packed.headers).toMatchObject({ "content-encoding": "gzip", vary: "accept-encoding" });
    const result = await world.view(eventOf({ ...asked, headers: { "accept-encoding": "gzip" } }));
    const body = typeof result === "string" ? "" : (result.body ?? "");
    expect(gunzipSync(Buffer.from(body, "base64")).toString()).toBe(plain.text);
    for (const none of ["identity", "br", "gzip;q=0", ""]) {
      expect(
        (await ask(world.view, { ...asked, headers: { "accept-encoding": none } })).headers[
          "content-encoding"
        ],
      ).toBeUndefined();
    }
  });
});

describe("times that lie elsewhere", () => {
  it.each([
    "name=shop/web&until=2020-01-01T00:00:00Z",
    "name=shop/web&until=0001-01-01T00:00:00Z",
    "until=2020-01-01T00:00:00Z",
    "since=2019-01-01T00:00:00Z&until=2020-01-01T00:00:00Z",
  ])("hold no events: %s", async (query) => {
    const { status, json } = await get(QUERY_PATHS.events, query);
    expect([status, json]).toEqual([200, { items: [] }]);
  });

  it.each([
    "name=shop/web&since=2027-01-01T00:00:00Z",
    "name=shop/web&since=2026-03-01T11:00:00Z&until=2026-03-01T10:00:00Z",
    "since=2026-03-01T11:00:00Z&until=2026-03-01T10:00:00Z",
    "since=9999-12-31T23:59:59Z",
  ])("are refused where they can hold nothing, whatever is stored: %s", async (query) => {
    expect((await get(QUERY_PATHS.events, query)).json).toMatchObject({
      status: 400,
      code: "service.invalid",
    });
  });

  it("are not explained when they have not come, nor when nothing was evaluated by then", async () => {
    expect(
      (await get(QUERY_PATHS.explain, "name=shop/web&at=9999-12-31T23:59:59Z")).json,
    ).toMatchObject({
      status: 400,
      code: "service.invalid",
      detail: expect.stringMatching(
        /^Cannot explain "shop\/web" at 9999-12-31T23:59:59.000Z: that is a future time; /,
      ),
    });
    expect(
      (await get(QUERY_PATHS.explain, "name=shop/web&at=2026-02-30T00:00:00Z")).json,
    ).toMatchObject({
      errors: [{ field: "at", message: "must be an RFC 3339 time such as 2026-03-01T12:00:00Z" }],
    });
    expect(
      (await get(QUERY_PATHS.explain, "name=shop/web&at=0001-01-01T00:00:00Z")).json,
    ).toMatchObject({
      status: 404,
      code: "service.not-evaluated",
    });
  });
});

describe("the routes that edit", () => {
  it("record the caller that the platform verified, whatever the request claims", async () => {
    const sources = [{ file: "one.yaml", text: hpa("edited", { namespace: "lab" }) }];
    const applied = await ask(world.api, {
      path: COMMAND_PATHS.apply,
      body: Buffer.from(JSON.stringify({ sources, cluster: "eu-1" })),
      by: GRACE,
      headers: { "x-amzn-caller": "root", from: "root@example.com" },
    });
    expect([applied.status, applied.json]).toEqual([
      200,
      {
        applied: [
          {
            cluster: "eu-1",
            namespace: "lab",
            name: "edited",
            kind: "HorizontalPodAutoscaler",
            outcome: "created",
            uid: expect.any(String),
            generation: 1,
            warnings: [],
          },
        ],
      },
    ]);
    expect(
      (await post(COMMAND_PATHS.pause, { name: "lab/edited", until: "2026-03-01T14:00:00Z" })).json,
    ).toMatchObject({ changed: true });
    expect((await get(QUERY_PATHS.get, "name=lab/edited")).json).toMatchObject({
      updatedBy: ADA,
      paused: { by: ADA, until: "2026-03-01T14:00:00.000Z" },
    });
    const record = await recordOf(world.context, "edited", "lab");
    const changes = await Array.fromAsync(changesOf(world.tables, record));
    expect(changes.map(({ verb, by }) => [verb, by])).toEqual([
      ["apply", GRACE],
      ["pause", ADA],
    ]);
    expect((await post(COMMAND_PATHS.resume, { name: "edited" })).json).toMatchObject({
      changed: true,
    });
    expect((await post(COMMAND_PATHS.delete, { name: "edited" })).json).toEqual({
      cluster: "eu-1",
      namespace: "lab",
      name: "edited",
      changed: true,
    });
  });

  it("check without storing anything in a dry run", async () => {
    const { json } = await post(COMMAND_PATHS.apply, {
      sources: [{ file: "a", text: hpa("dry") }],
      cluster: "eu-1",
      dryRun: true,
    });
    expect(json).toMatchObject({ applied: [{ name: "dry", outcome: "created", generation: 0 }] });
    expect((await get(QUERY_PATHS.get, "name=dry")).status).toBe(404);
  });

  it("add, replace, pause, resume and remove a cluster", async () => {
    const eks = {
      kind: "eks",
      clusterId: "c",
      endpoint: "https://c",
      caData: "Q0E=",
      region: "eu-central-1",
    };
    const secret = { kind: "secret", secretId: "tidemark-prod/new" };
    expect(
      (
        await post(COMMAND_PATHS.addCluster, {
          name: "new",
          connection: secret,
          partitions: [{ name: "rest" }],
        })
      ).json,
    ).toMatchObject({
      name: "new",
      connection: secret,
      partitions: [{ name: "rest", namespaces: "all others" }],
    });
    const replaced = {
      name: "new",
      connection: eks,
      syncPeriodMs: 30_000,
      settings: { tolerance: 0.2 },
    };
    expect((await post(COMMAND_PATHS.replaceCluster, replaced)).json).toMatchObject({
      connection: eks,
      syncPeriodSeconds: 30,
      settings: { tolerance: 0.2 },
    });
    expect((await post(COMMAND_PATHS.pauseCluster, { name: "new" })).json).toMatchObject({
      paused: { by: ADA },
    });
    expect((await post(COMMAND_PATHS.resumeCluster, { name: "new" })).json).not.toHaveProperty(
      "paused",
    );
    expect((await post(COMMAND_PATHS.removeCluster, { name: "new" })).json).toEqual({
      name: "new",
    });
  });

  it.each([
    [
      COMMAND_PATHS.resetWindows,
      { name: "eu-1", page: 0 },
      409,
      'Cannot reset windows page 0 of "eu-1/default": it can be read, so no reset is needed',
    ],
    [
      COMMAND_PATHS.resetIntent,
      { name: "eu-1", intent: "a:1" },
      404,
      'Cannot reset intent "a:1" of "eu-1/default": no open intent has this id; see tidemark partition describe',
    ],
    [
      COMMAND_PATHS.resetTime,
      { name: "eu-1" },
      409,
      'Cannot reset the time of "eu-1/default": no time in it is more than 4 s ahead of this clock',
    ],
    [COMMAND_PATHS.resetWindows, { name: "eu-1", page: -1 }, 400, expect.stringContaining("page")],
  ])("reset by %s only what needs it: %j is %i", async (path, body, status, detail) => {
    expect((await post(path, body)).json).toMatchObject({ status, detail });
  });

  it("freeze and thaw the fleet", async () => {
    expect((await post(COMMAND_PATHS.freeze, { reason: "drill" }, GRACE)).json).toMatchObject({
      frozen: { by: GRACE, reason: "drill" },
    });
    expect((await post(COMMAND_PATHS.freeze, { reason: "another" })).json).toMatchObject({
      changed: false,
      frozen: { by: GRACE, reason: "drill" },
    });
    expect((await get(QUERY_PATHS.fleet)).json).toMatchObject({ frozen: { by: GRACE } });
    expect((await post(COMMAND_PATHS.freeze, { reason: " " })).json).toMatchObject({
      status: 400,
      errors: [{ field: "reason", message: "must have a word" }],
    });
    expect((await post(COMMAND_PATHS.thaw, {})).json).toEqual({ changed: true });
  });

  it("connect no cluster at the URL that edits, and say where that is a right", async () => {
    const secret = { kind: "secret", secretId: "prod/other" };
    const asked: readonly (readonly [path: string, body: object])[] = [
      [COMMAND_PATHS.addCluster, { name: "other", connection: secret }],
      [
        COMMAND_PATHS.replaceCluster,
        { name: "eu-1", connection: { ...secret, secretId: "prod/eu-1" } },
      ],
      [COMMAND_PATHS.replaceCluster, { name: "eu-1", recommenderHosts: ["10.0.3.7"] }],
    ];
    for (const [path, body] of asked) {
      const headers = { [KEY_HEADER]: "0123456789abcdef0123" };
      const { status, json } = await ask(world.api, { path, body: JSON.stringify(body), headers });
      expect([status, json]).toEqual([
        403,
        {
          status: 403,
          code: "api.connects-elsewhere",
          detail: `Cannot connect a cluster at this URL: it takes a right of its own; send the request to ${world.elsewhere.url}`,
          url: world.elsewhere.url,
        },
      ]);
    }
    expect((await get(QUERY_PATHS.cluster, "name=other")).status).toBe(404);
    expect((await get(QUERY_PATHS.cluster, "name=eu-1")).json).toMatchObject({
      connection: { kind: "kubeconfig" },
    });
    // Period, settings and partitions are edits like any other.
    const { json } = await ask(world.api, {
      path: COMMAND_PATHS.replaceCluster,
      body: JSON.stringify({ name: "eu-1", syncPeriodMs: 15_000 }),
    });
    expect(json).toMatchObject({ name: "eu-1", syncPeriodSeconds: 15 });
  });

  it("are not there at the URL that only shows", async () => {
    for (const { path } of ALL_ROUTES.filter(({ kind }) => kind === "editing")) {
      const { status, json } = await ask(world.view, {
        path,
        body: JSON.stringify({ name: "shop/web", reason: "x" }),
      });
      expect([status, json]).toEqual([
        403,
        {
          status: 403,
          code: "api.read-only",
          detail: `Cannot POST "${path}": this URL is read-only; edits go to the URL of the function api`,
        },
      ]);
    }
    expect(await service.get({ name: "shop/web" })).not.toHaveProperty("paused");
  });
});

describe("refusals", () => {
  const source = (text: string) => ({ sources: [{ file: "a.yaml", text }], cluster: "eu-1" });

  it.each<
    readonly [
      what: string,
      path: string,
      body: unknown,
      status: number,
      code: string,
      detail: string | RegExp,
    ]
  >([
    [
      "an unknown name",
      COMMAND_PATHS.pause,
      { name: "wbe", namespace: "shop" },
      404,
      "service.unknown",
      /: the nearest name is "web"$/,
    ],
    [
      "a name in two places",
      COMMAND_PATHS.pause,
      { name: "web" },
      400,
      "service.ambiguous",
      /^Cannot choose autoscaler "web": /,
    ],
    [
      "a wrong manifest",
      COMMAND_PATHS.apply,
      source(hpa("x", { max: 1 })),
      400,
      "manifest.invalid",
      /^Cannot accept "a\.yaml", line \d+: spec\.maxReplicas /,
    ],
    [
      "no manifest",
      COMMAND_PATHS.apply,
      source("a: [1"),
      400,
      "manifest.unreadable",
      /^Cannot read "a\.yaml", line 1/,
    ],
    [
      "a cluster that is there",
      COMMAND_PATHS.addCluster,
      { name: "eu-1", connection: { kind: "secret", secretId: "prod/eu-1" } },
      409,
      "service.exists",
      'Cannot add cluster "eu-1": a cluster of that name exists; change it with --replace',
    ],
    [
      "a cluster in use",
      COMMAND_PATHS.removeCluster,
      { name: "eu-1" },
      409,
      "service.in-use",
      /^Cannot remove cluster "eu-1": it still has autoscalers/,
    ],
    [
      "a period out of bounds",
      COMMAND_PATHS.addCluster,
      { name: "x", connection: { kind: "secret", secretId: "prod/x" }, syncPeriodMs: 1 },
      400,
      "service.invalid",
      'Cannot add cluster "x": its sync period is 0.001 s, must be 5 s to 15 min',
    ],
  ])(
    "of %s have the status, code and sentence of their error",
    async (_what, path, body, status, code, detail) => {
      const { json, headers, ...answered } = await post(path, body);
      expect([answered.status, headers["content-type"]]).toEqual([
        status,
        "application/problem+json",
      ]);
      expect(json).toEqual({
        status,
        code,
        detail: typeof detail === "string" ? detail : expect.stringMatching(detail),
      });
    },
  );

  it.each<
    readonly [
      path: string,
      body: unknown,
      errors: readonly (readonly [field: string, message: string])[],
    ]
  >([
    [COMMAND_PATHS.pause, {}, [["name", "is missing"]]],
    [
      COMMAND_PATHS.pause,
      { name: "" },
      [["name", "must be printable ASCII without blanks, and not empty"]],
    ],
    [
      COMMAND_PATHS.pause,
      { name: "a b" },
      [["name", "must be printable ASCII without blanks, and not empty"]],
    ],
    [
      COMMAND_PATHS.pause,
      { name: "a".repeat(401) },
      [["name", "must have at most 400 characters"]],
    ],
    [
      COMMAND_PATHS.pause,
      { name: "web", cluster: "c".repeat(64) },
      [["cluster", "must have at most 63 characters"]],
    ],
    [
      COMMAND_PATHS.pause,
      { name: "web", until: "tomorrow" },
      [["until", "must be an RFC 3339 time such as 2026-03-01T12:00:00Z"]],
    ],
    [
      COMMAND_PATHS.pause,
      { name: "shop/web", until: "2026-03-01T12:00:00Z" },
      [["until", "has passed: it is 2026-03-01T12:00:00.000Z"]],
    ],
    [
      COMMAND_PATHS.pauseCluster,
      { name: "eu-1", until: "2026-03-01T11:59:59Z" },
      [["until", "has passed: it is 2026-03-01T12:00:00.000Z"]],
    ],
    [COMMAND_PATHS.pause, { name: "web", by: "root" }, [["by", "is an unknown field"]]],
    [COMMAND_PATHS.pause, [], [["body", "must be of type object"]]],
    [
      COMMAND_PATHS.apply,
      { sources: [{ file: "a", text: 3 }] },
      [["sources[0].text", "must be of type string"]],
    ],
    [
      COMMAND_PATHS.addCluster,
      { name: "x", connection: { kind: "kubeconfig", path: "/etc/passwd" } },
      [
        [
          "connection.kind",
          'must be "secret" or "eks": a deployed stack cannot read a kubeconfig file',
        ],
      ],
    ],
    [
      COMMAND_PATHS.addCluster,
      { name: "x", connection: { kind: "secret", secretId: "s" }, settings: { tolerance: -1 } },
      [["settings.tolerance", "must not be negative"]],
    ],
    [COMMAND_PATHS.freeze, { reason: "\ud800" }, [["reason", "must be well-formed Unicode"]]],
  ])("of %s %j name the field", async (path, body, errors) => {
    const { status, json } = await post(path, body);
    expect(status).toBe(400);
    expect(json).toEqual({
      status: 400,
      code: "api.invalid",
      detail: errors
        .map(([field, message]) => `Cannot read the request: "${field}" ${message}`)
        .join("\n"),
      errors: errors.map(([field, message]) => ({ field, message })),
    });
  });

  it.each([
    ["name=a&name=b", '"name" is given twice; give it once'],
    ["", '"name" is missing'],
    ["name=web&until=2026", '"until" is an unknown field'],
    ["name=%ff", '"name" must be printable ASCII without blanks, and not empty'],
  ])("of the parameters %s name the field", async (query, words) => {
    expect((await get(QUERY_PATHS.get, query)).json).toMatchObject({
      status: 400,
      code: "api.invalid",
      detail: `Cannot read the request: ${words}`,
    });
  });

  it.each([
    ["no JSON", "{oops", "its body is not JSON, at position 1"],
    ["half a JSON", '{"name": "web"', "its body is not JSON, at position 14"],
    ["nothing", "", "its body is not JSON"],
    ["no UTF-8", Buffer.from([0x22, 0xff, 0x22]), "its body is not UTF-8"],
  ])("of %s say so, and repeat nothing of it", async (_what, body, words) => {
    const { status, json } = await ask(world.api, {
      path: COMMAND_PATHS.pause,
      method: "POST",
      body,
    });
    expect([status, json]).toEqual([
      400,
      { status: 400, code: "api.invalid", detail: `Cannot read the request: ${words}` },
    ]);
  });

  it.each([
    [COMMAND_PATHS.pause, 65_536],
    [COMMAND_PATHS.addCluster, 131_072],
    [COMMAND_PATHS.apply, 5_000_000],
  ])("of a body for %s of more than %i bytes come before it is read", async (path, most) => {
    const fits = await ask(world.api, { path, body: " ".repeat(most) });
    expect(fits.json).toMatchObject({ status: 400 });
    const { status, json } = await ask(world.api, { path, body: " ".repeat(most + 1) });
    expect([status, json]).toEqual([
      413,
      {
        status: 413,
        code: "api.too-large",
        detail: `Cannot read the request: its body has ${most + 1} bytes, and the limit is ${most}`,
      },
    ]);
  });

  it("of an unknown path say what there is, of a wrong method which one", async () => {
    for (const path of [
      "/",
      "/v1",
      "/v1/autoscalers/",
      "/v2/events",
      "//v1/events",
      "/metrics/x",
    ]) {
      expect((await get(path)).json).toEqual({
        status: 404,
        code: "api.unknown-route",
        detail: `Cannot find "${path}": the paths are ${ALL_ROUTES.map((route) => route.path).join(", ")}`,
      });
    }
    for (const { path, method } of ALL_ROUTES) {
      for (const wrong of ["GET", "POST", "DELETE", "HEAD", "OPTIONS"].filter(
        (other) => other !== method,
      )) {
        const { status, headers, json } = await ask(world.api, { path, method: wrong, body: "{}" });
        expect([status, headers["allow"]]).toEqual([405, method]);
        expect(json).toMatchObject({
          code: "api.method",
          detail: `Cannot "${wrong}" "${path}": it takes ${method}`,
        });
      }
    }
  });

  it("come before all other answers where the platform verified no caller", async () => {
    for (const handler of [world.api, world.view]) {
      for (const by of [null, ""]) {
        const { status, json } = await ask(handler, { path: QUERY_PATHS.fleet, by });
        expect([status, json]).toMatchObject([403, { code: "api.no-identity" }]);
      }
    }
  });
});

describe("failures", () => {
  const failing = (send: Tables["client"]["send"], repeats = true): FunctionUrlHandler => {
    const { tables, insert, clock, newUid } = world.context;
    const broken = { ...tables, client: { send }, ...(repeats ? { wait: async () => {} } : {}) };
    return apiHandler({
      tables: broken,
      insert,
      clock,
      newUid,
      reporter: { line: (line) => void world.lines.push(line) },
      connecting: { kind: "here" },
    });
  };
  const rejecting = (error: Error): FunctionUrlHandler =>
    failing((() => Promise.reject(error)) as never);
  const named = (name: string, message: string): Error =>
    Object.assign(new Error(message), { name });
  const SECRET =
    "User: arn:aws:sts::123456789012:assumed-role/tidemark-prod-api is not authorized to perform dynamodb:Query";

  it("that the code did not expect tell the caller where to look, and tell the log everything", async () => {
    const { status, text, json } = await ask(rejecting(named("AccessDeniedException", SECRET)), {
      path: QUERY_PATHS.clusters,
      requestId: "r-7",
    });
    expect(status).toBe(500);
    expect(json).toEqual({
      status: 500,
      code: "api.failed",
      detail:
        'Cannot answer request "r-7": an unexpected error happened; the log line of this request has it',
    });
    expect(text).not.toMatch(/arn:|\.ts|at /);
    expect(world.lines).toMatchObject([
      {
        level: "error",
        message: "Answered GET /v1/clusters with 500",
        fields: { requestId: "r-7", by: ADA, error: { message: SECRET } },
      },
    ]);
  });

  it("are told where an answer would be larger than it may be", async () => {
    const reading = {
      ...openQueries(world.context),
      fleet: async () => ({
        frozen: { by: "x", at: "x", reason: randomBytes(5_000_000).toString("base64") },
      }),
    };
    const request = {
      method: "GET",
      path: QUERY_PATHS.fleet,
      query: "",
      body: new Uint8Array(),
      by: ADA,
      id: "r",
    };
    const answered = async (accepted: string) => {
      const { status, body } = await answerRequest(
        { ...openTo(reading), clock: () => NOON, log: () => {} },
        { ...request, headers: { "accept-encoding": accepted } },
      );
      return [status, JSON.parse(String(body))];
    };
    const size = "6.7 MB do not fit into the 6 MB of an answer";
    expect(await answered("identity")).toMatchObject([
      406,
      {
        code: "api.too-long",
        detail: `Cannot answer "/v1/fleet": ${size}; send the header "accept-encoding: gzip", or ask for less`,
      },
    ]);
    expect(await answered("gzip")).toMatchObject([
      400,
      {
        code: "api.too-long",
        detail: `Cannot answer "/v1/fleet": ${size}, even compressed; ask for less`,
      },
    ]);
  });

  it("name the parameters of a scrape that is too large, and the scrape of one cluster or namespace is answered", async () => {
    const huge = {
      name: "tidemark_current_replicas",
      type: "gauge" as const,
      help: "h",
      samples: [{ labels: { name: "x".repeat(7_000_000) }, value: 1 }],
    };
    const reading = {
      ...openQueries(world.context),
      series: async (query?: SeriesQuery) =>
        query?.cluster === undefined ? [huge] : openQueries(world.context).series(query),
    };
    const scrape = async (query: string) => {
      const request = {
        method: "GET",
        path: METRICS_PATH,
        query,
        headers: {},
        body: new Uint8Array(),
        by: ADA,
        id: "r",
      };
      const { status, body } = await answerRequest(
        { ...openTo(reading), clock: () => NOON, log: () => {} },
        request,
      );
      return { status, text: String(body) };
    };
    const refused = await scrape("");
    expect([refused.status, JSON.parse(refused.text).detail]).toEqual([
      406,
      'Cannot answer "/metrics": 7.0 MB do not fit into the 6 MB of an answer; send the header "accept-encoding: gzip", or ask for one cluster or one namespace at a time, with the parameters "cluster" and "namespace"',
    ]);
    const names = (text: string) =>
      new Set(
        [
          ...text.matchAll(
            /current_replicas\{cluster="([^"]+)",namespace="([^"]+)",name="([^"]+)"/g,
          ),
        ].map(([, ...path]) => path.join("/")),
      );
    expect(names((await scrape("cluster=eu-1")).text)).toEqual(
      new Set(["eu-1/shop/api", "eu-1/shop/web"]),
    );
    expect(names((await scrape("cluster=eu-1&namespace=infra")).text)).toEqual(new Set());
    expect((await scrape("cluster=nowhere")).status).toBe(404);
  });

  it("of the tables are 503 while they are unclear, 429 while they are asked too often, each with when to come again", async () => {
    const unclear = await ask(rejecting(named("InternalServerError", "x")), {
      path: QUERY_PATHS.clusters,
    });
    expect([unclear.status, unclear.headers["retry-after"], unclear.json]).toEqual([
      503,
      "2",
      {
        status: 503,
        code: "store.unclear",
        detail: "Cannot read the grants: no clear answer after 8 attempts",
      },
    ]);
    const throttled = await ask(rejecting(named("ProvisionedThroughputExceededException", "x")), {
      path: QUERY_PATHS.clusters,
    });
    expect([throttled.status, throttled.headers["retry-after"], throttled.json]).toMatchObject([
      429,
      "2",
      { status: 429 },
    ]);
  });
});

describe("the log", () => {
  it("has one line for each request, with its caller, its outcome and its time", async () => {
    await get(QUERY_PATHS.get, "name=shop/web");
    await get(QUERY_PATHS.get, "name=wbe&namespace=shop");
    await get(`/${"x".repeat(500)}`);
    expect(world.lines).toMatchObject([
      {
        level: "info",
        message: "Answered GET /v1/autoscaler with 200",
        fields: {
          method: "GET",
          path: "/v1/autoscaler",
          status: 200,
          by: ADA,
          tookMs: expect.any(Number),
          bytes: expect.any(Number),
        },
      },
      {
        level: "warn",
        message: "Answered GET /v1/autoscaler with 404",
        fields: { status: 404, refusal: expect.stringContaining('"wbe"') },
      },
      { level: "warn", fields: { status: 404, path: `/${"x".repeat(99)}` } },
    ]);
    expect(JSON.stringify(world.lines[0])).not.toContain("shop/web");
  });
});
