import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { METRICS_PATH, QUERY_PATHS } from "../../lib/answers/api/paths.ts";
import { COMMAND_ROUTES } from "../../lib/answers/api/command-routes.ts";
import { QUERY_ROUTES } from "../../lib/answers/api/query-routes.ts";
import type { Session } from "../../lib/command/io.ts";
import { openStack } from "../../lib/command/stack-session.ts";
import { isTidemarkError } from "../../lib/rules/model/errors.ts";
import { openService } from "../../lib/answers/service/open.ts";
import type { NewGrant, Service } from "../../lib/answers/service/service.ts";
import { getAccess, putAccess } from "../../lib/stack/store/records/access.ts";
import { ask } from "../api/world.ts";
import { inside } from "../cli/inside.ts";
import { NOON } from "../noon.ts";
import { hpa } from "../service/world/manifests.ts";
import { ADA, callerOf, type RemoteWorld, remoteWorld } from "./world.ts";

/**
 * Every request is signed, verified, and answered by the handler of a function; ada has no limits,
 * and grants.
 */
const GRACE = "arn:aws:sts::123456789012:assumed-role/Ops/grace";
const OPS = "arn:aws:sts::123456789012:assumed-role/Ops/*";
let world: RemoteWorld;
let ada: Service;
let grace: Service;
beforeAll(async () => {
  world = await remoteWorld();
  [ada, grace] = [world.remote("ADA"), world.remote("GRACE")];
});
afterAll(() => world.close());

/** The grants of one test, and nothing that others have left. */
const having = async (grants: readonly Partial<NewGrant>[], required = false): Promise<void> => {
  const { version } = await getAccess(world.tables);
  await putAccess(world.tables, { required: false, grants: [] }, version);
  for (const grant of grants)
    await ada.grantAccess({ arn: OPS, role: "view", cluster: "eu-1", ...grant });
  if (!required) return;
  await ada.grantAccess({ arn: ADA, role: "edit", cluster: "*" });
  await ada.requireAccess(true);
};

const WEB = { name: "eu-1/shop/web" };
/** Met by nothing that is stored: the edit is refused at its last check, and changes nothing. */
const NEVER = { ...WEB, onlyIf: [] };
const SHOP = { cluster: "eu-1", namespace: "shop" };
const ALARM = "arn:aws:cloudwatch:eu-central-1:123456789012:alarm:web";
const RIVAL = {
  apiVersion: "autoscaling/v2",
  kind: "HorizontalPodAutoscaler",
  metadata: { name: "web", namespace: "shop" },
};

/**
 * One request for each verb, about the namespace "shop" of the cluster "eu-1". A verb without one
 * does not compile.
 */
const REQUESTS: Readonly<Record<keyof Service, (service: Service) => Promise<unknown>>> = {
  autoscalers: (service) => Array.fromAsync(service.autoscalers({})),
  rows: (service) => Array.fromAsync(service.rows({})),
  get: (service) => service.get(WEB),
  describe: (service) => service.describe(WEB),
  explain: (service) => service.explain(WEB),
  schedule: (service) => service.schedule(WEB),
  doctor: (service) => Array.fromAsync(service.doctor(WEB)),
  shadow: (service) => service.shadow(WEB),
  history: (service) => service.history(WEB),
  schedules: (service) => service.schedules({ names: ["eu-1/shop/web"] }),
  sparklines: (service) => service.sparklines({ names: ["eu-1/shop/web"] }),
  eventCounts: (service) => Array.fromAsync(service.eventCounts({})),
  events: (service) => Array.fromAsync(service.events({})),
  changes: (service) => Array.fromAsync(service.changes({})),
  series: (service) => service.series(),
  clusters: (service) => Array.fromAsync(service.clusters()),
  cluster: (service) => service.cluster("eu-1"),
  partition: (service) => service.partition("eu-1"),
  fleet: (service) => service.fleet(),
  measuredSyncs: (service) => service.measuredSyncs(),
  overrides: (service) => Array.fromAsync(service.overrides({ cluster: "eu-1" })),
  status: (service) => service.status(),
  calendars: (service) => service.calendars(),
  sources: (service) => service.sources(),
  access: (service) => service.access(),
  canI: (service) => service.canI({ verb: "view" }),
  apply: (service) =>
    service.apply([{ file: "a", text: hpa("web", { namespace: "shop" }) }], {
      cluster: "eu-1",
      dryRun: true,
    }),
  delete: (service) => service.delete(NEVER),
  pause: (service) => service.pause(NEVER),
  resume: (service) => service.resume(NEVER),
  takeOver: (service) => service.takeOver({ ...NEVER, rival: RIVAL }),
  handBack: (service) => service.handBack({ ...NEVER, rival: RIVAL }),
  checkCluster: (service) => service.checkCluster({ name: "eu-1" }),
  addCluster: (service) =>
    service.addCluster({
      name: "eu-1",
      connection: { kind: "secret", secretId: "tidemark-prod/eu-1" },
    }),
  replaceCluster: (service) => service.replaceCluster({ name: "eu-1", syncPeriodMs: 15_000 }),
  pauseCluster: (service) => service.pauseCluster("eu-1"),
  resumeCluster: (service) => service.resumeCluster("eu-1"),
  removeCluster: (service) => service.removeCluster("eu-1"),
  resetWindows: (service) => service.resetWindows("eu-1", 9),
  resetIntent: (service) => service.resetIntent("eu-1", "none:1"),
  resetTime: (service) => service.resetTime("eu-1"),
  freeze: (service) => service.freeze("drill"),
  thaw: (service) => service.thaw(),
  adopt: (service) => service.adopt(),
  move: (service) => service.move("eu-central-1"),
  setOverride: (service) =>
    service.setOverride({ ...WEB, hold: true, reason: "drill", dryRun: true }),
  extendOverride: (service) =>
    service.extendOverride({ id: "a-none", cluster: "eu-1", untilMs: NOON + 3_600_000 }),
  clearOverride: (service) => service.clearOverride({ id: "a-none", cluster: "eu-1" }),
  putCalendar: (service) => service.putCalendar({ name: "none", dates: ["never"] }),
  deleteCalendar: (service) => service.deleteCalendar("none"),
  checkSource: (service) => service.checkSource({ name: "none" }),
  putSource: (service) =>
    service.putSource({
      name: "main",
      kind: "prometheus",
      url: "https://p.example.com",
      clusters: ["*"],
      namespaces: ["*"],
    }),
  deleteSource: (service) => service.deleteSource("none"),
  wakes: (service) => service.wakes(),
  putWake: (service) => service.putWake({ name: "web", alarm: ALARM, ...SHOP }),
  deleteWake: (service) => service.deleteWake("none"),
  wake: (service) => service.wake([{ ...SHOP, reason: "drill" }]),
  grantAccess: (service) => service.grantAccess({ arn: ADA, role: "edit", cluster: "*" }),
  revokeAccess: (service) => service.revokeAccess("none"),
  requireAccess: (service) => service.requireAccess(false),
};
const ROUTES = { ...QUERY_ROUTES, ...COMMAND_ROUTES };
const VERBS = Object.keys(REQUESTS) as (keyof Service)[];

const OWN_EDITS = ["apply", "delete", "pause", "resume", "takeOver", "handBack", "setOverride"];
/** They name an override by its id. */
const OVERRIDE_EDITS = ["extendOverride", "clearOverride"];
/** They name a cluster and a namespace; the third names a wake that is not there. */
const WAKES = ["putWake", "wake"];
const WAKE_EDITS = [...WAKES, "deleteWake"];
const READS_OF_ONE = ["get", "describe", "explain", "schedule", "doctor", "shadow", "history"];
const CLUSTER_EDITS = [
  ...["checkCluster", "addCluster", "replaceCluster", "pauseCluster", "resumeCluster"],
  ...["removeCluster", "resetWindows", "resetIntent", "resetTime"],
];
const FLEET = [
  "sources",
  "access",
  "freeze",
  "thaw",
  "adopt",
  "move",
  "putCalendar",
  "deleteCalendar",
];
const EDITS = [
  ...OWN_EDITS,
  ...OVERRIDE_EDITS,
  ...WAKE_EDITS,
  ...CLUSTER_EDITS,
  "freeze",
  "thaw",
  "adopt",
  "move",
  "putCalendar",
  "deleteCalendar",
];

/**
 * How the rights answered: let through, without a right, or as if there were nothing. What the
 * service says after that does not count.
 */
const verdictOn = async (verb: keyof Service): Promise<"allowed" | "no grant" | "unknown"> => {
  try {
    await REQUESTS[verb](grace);
  } catch (error) {
    if (isTidemarkError(error, "service.no-grant")) return "no grant";
    if (
      isTidemarkError(error, "service.unknown") &&
      /^Cannot find (cluster|autoscaler) /.test(error.message)
    )
      return "unknown";
    if (!isTidemarkError(error)) throw error;
    expect(error.code, `${verb}: ${error.message}`).not.toMatch(/^remote|api\.failed/);
  }
  return "allowed";
};

describe("each route, by the grants of its caller", () => {
  it.each<
    readonly [
      grants: string,
      given: readonly Partial<NewGrant>[],
      required: boolean,
      noGrant: readonly string[],
      unknown: readonly string[],
    ]
  >([
    ["none, where none is required", [], false, [], []],
    [
      "none, where grants are required",
      [],
      true,
      [
        ...FLEET,
        ...OWN_EDITS,
        ...OVERRIDE_EDITS,
        ...WAKE_EDITS,
        "addCluster",
        ...VERBS.filter((verb) => isSeen(verb)),
      ],
      [...CLUSTER_EDITS, "partition"],
    ],
    [
      "view of the namespace",
      [{ namespace: "shop" }],
      false,
      [...FLEET, ...EDITS, "partition"],
      [],
    ],
    ["view of the cluster", [{}], true, [...FLEET, ...EDITS], []],
    [
      "edit of the namespace",
      [{ role: "edit", namespace: "shop" }],
      true,
      [...FLEET, ...CLUSTER_EDITS, "partition"],
      [],
    ],
    ["edit of the cluster", [{ role: "edit" }], false, FLEET, []],
    ["edit of the fleet", [{ role: "edit", cluster: "*" }], true, [], []],
    [
      "edit of another namespace",
      [{ role: "edit", namespace: "infra" }],
      false,
      [...FLEET, ...CLUSTER_EDITS, ...WAKES, "partition", "apply"],
      [...READS_OF_ONE, ...OWN_EDITS],
    ],
    [
      "view of the namespace, and edit of another",
      [{ namespace: "shop" }, { role: "edit", namespace: "infra" }],
      false,
      [...FLEET, ...CLUSTER_EDITS, ...OWN_EDITS, ...WAKES, "partition"],
      [],
    ],
    [
      "edit of another cluster",
      [{ role: "edit", cluster: "us-*" }],
      true,
      [...FLEET, "addCluster"],
      [
        ...READS_OF_ONE,
        ...OWN_EDITS,
        ...OVERRIDE_EDITS,
        ...WAKES,
        ...CLUSTER_EDITS,
        "cluster",
        "partition",
        "overrides",
      ],
    ],
  ])("%s", { timeout: 120_000 }, async (_grants, given, required, noGrant, unknown) => {
    // No verb below gives or takes a grant.
    await having(given, required);
    const stored = await getAccess(world.tables);
    for (const verb of VERBS) {
      if (ROUTES[verb].scope === "connect") continue;
      const expected = noGrant.includes(verb)
        ? "no grant"
        : unknown.includes(verb)
          ? "unknown"
          : "allowed";
      expect(`${verb}: ${await verdictOn(verb)}`).toBe(`${verb}: ${expected}`);
    }
    expect(await getAccess(world.tables)).toEqual(stored);
    await ada.thaw();
    await ada.resumeCluster("eu-1");
  });
});

/** Without any grant, even what would be filtered is refused: it would be empty. */
function isSeen(verb: keyof Service): boolean {
  return ROUTES[verb].scope === "visible" && !EDITS.includes(verb);
}

const QUERIES: Readonly<Record<string, string>> = {
  ...Object.fromEntries(READS_OF_ONE.map((verb) => [verb, "name=web"])),
  cluster: "name=eu-1",
  canI: "verb=view",
};

describe("a caller with a right on one namespace", () => {
  beforeEach(() => having([{ role: "edit", namespace: "shop" }]));

  it("meets nothing of other tenants: no name, no count, no connection, in no answer", async () => {
    await ada.pause({ name: "eu-1/infra/web" });
    const answers = new Map<string, string>();
    for (const [verb, path] of Object.entries({ ...QUERY_PATHS, metrics: METRICS_PATH })) {
      answers.set(
        verb,
        (await ask(world.view, { path, query: QUERIES[verb] ?? "", by: GRACE })).text,
      );
    }
    await ada.resume({ name: "eu-1/infra/web" });
    expect(answers.get("get")).toContain('"namespace":"shop"');
    for (const [verb, text] of answers)
      expect(text, verb).not.toMatch(/infra|us-1|batch|jobs|kube\/config/);
    expect(await grace.status()).toMatchObject({
      clusters: 1,
      paused: { autoscalers: [], more: 0 },
    });
    expect(
      (await Array.fromAsync(grace.autoscalers({}))).map(({ namespace }) => namespace),
    ).toEqual(["shop", "shop", "shop"]);
    expect(
      (await Array.fromAsync(grace.clusters())).map(({ name, connection }) => [name, connection]),
    ).toEqual([["eu-1", undefined]]);
  });

  it("sees no other answer, tag, mark or version when another tenant edits, pauses, overrides or scales", async () => {
    const answers = async (): Promise<Readonly<Record<string, unknown>>> =>
      Object.fromEntries(
        await Promise.all(
          Object.entries({ ...QUERY_PATHS, metrics: METRICS_PATH }).map(async ([verb, path]) => {
            const { text, headers } = await ask(world.view, {
              path,
              query: QUERIES[verb] ?? "",
              by: GRACE,
            });
            return [verb, [headers["etag"], text]] as const;
          }),
        ),
      );
    const before = await answers();
    // The one of the namespace is in the item of the cluster.
    const ids: string[] = [];
    for (const where of [{ name: "eu-1/infra/web" }, { cluster: "eu-1", namespace: "infra" }]) {
      const drill = { hold: true, reason: "drill", untilMs: NOON + 3_600_000 };
      ids.push((await ada.setOverride({ ...where, ...drill })).override.id);
    }
    await ada.pause({ name: "eu-1/infra/web" });
    const during = await answers();
    for (const id of ids) await ada.clearOverride({ id, cluster: "eu-1" });
    await ada.resume({ name: "eu-1/infra/web" });
    const after = await answers();
    for (const verb of Object.keys(before))
      expect([verb, during[verb], after[verb]]).toEqual([verb, before[verb], before[verb]]);
  });

  it("gets what a new grant shows, with a tag and a mark from before it", async () => {
    const rows = async (query = "", tag = "") => {
      const { status, headers, text } = await ask(world.view, {
        path: QUERY_PATHS.rows,
        query,
        by: GRACE,
        headers: { "if-none-match": tag },
      });
      return {
        status,
        tag: String(headers["etag"]),
        items: text === "" ? [] : JSON.parse(text).items,
      };
    };
    const first = await rows();
    const mark = first.items[0].partitions[0].mark;
    expect((await rows("", first.tag)).status).toBe(304);
    expect((await rows(`known=${mark}`)).items).toMatchObject([
      { rows: [], partitions: [{ unchanged: true }] },
    ]);
    await having([{ role: "edit", namespace: "shop" }, { namespace: "infra" }]);
    const second = await rows(`known=${mark}`, first.tag);
    expect(second.status).toBe(200);
    expect(
      second.items[0].rows.map(({ namespace }: { readonly namespace: string }) => namespace),
    ).toContain("infra");
    // Rights that show the same have tags of their own, too: nobody has to prove that they do.
    const listed = async () =>
      (await ask(world.view, { path: QUERY_PATHS.autoscalers, query: "", by: GRACE })).headers[
        "etag"
      ];
    await having([{ role: "edit", namespace: "shop" }]);
    const asEditor = await listed();
    await having([{ role: "view", namespace: "shop" }]);
    expect(await listed()).not.toBe(asEditor);
  });

  it("is told the same of what another tenant has as of what nobody has", async () => {
    const told = async (work: () => Promise<unknown>): Promise<unknown> => {
      try {
        return await work();
      } catch (error) {
        return isTidemarkError(error) ? `${error.code} ${error.message}` : error;
      }
    };
    const same = async (
      stored: string,
      absent: string,
      work: (name: string) => Promise<unknown>,
    ): Promise<void> => {
      const [one, other] = [await told(() => work(stored)), await told(() => work(absent))];
      expect(String(one).replaceAll(stored, "X")).toBe(String(other).replaceAll(absent, "X"));
    };
    await same("us-1", "zz-9", (cluster) => grace.cluster(cluster));
    await same("us-1", "zz-9", (cluster) => grace.pauseCluster(cluster));
    await same("us-1", "zz-9", (cluster) => grace.removeCluster(cluster));
    await same("us-1", "zz-9", (cluster) => Array.fromAsync(grace.events({ cluster })));
    await same("us-1", "zz-9", (cluster) => Array.fromAsync(grace.changes({ cluster })));
    await same("us-1", "zz-9", (cluster) => grace.get({ name: "jobs", cluster }));
    await same("infra", "nowhere", (namespace) =>
      grace.get({ name: "web", namespace, cluster: "eu-1" }),
    );
    await same("infra", "nowhere", (namespace) =>
      grace.delete({ name: "web", namespace, cluster: "eu-1" }),
    );
    await same("infra", "nowhere", (namespace) =>
      Array.fromAsync(grace.changes({ name: "web", namespace, cluster: "eu-1" })),
    );
    await same("infra", "nowhere", (namespace) =>
      Array.fromAsync(grace.events({ name: "web", namespace, cluster: "eu-1" })),
    );
    await same("infra", "nowhere", (namespace) =>
      grace.apply([{ file: "a", text: hpa("web", { namespace }) }], {
        cluster: "eu-1",
        dryRun: true,
      }),
    );
  });

  it("stores no document of an apply that has one for another namespace", async () => {
    const texts = [hpa("own", { namespace: "shop" }), hpa("other", { namespace: "infra" })];
    const sources = texts.map((text, at) => ({ file: `${at}.yaml`, text }));
    await expect(grace.apply(sources, { cluster: "eu-1", dryRun: false })).rejects.toMatchObject({
      code: "service.no-grant",
    });
    await expect(ada.get({ name: "eu-1/shop/own" })).rejects.toMatchObject({
      code: "service.unknown",
    });
  });

  it("has each edit recorded with the grant that allowed it", async () => {
    const [grant] = (await ada.access()).grants;
    await grace.pause(WEB);
    await grace.resume(WEB);
    const changes = (await Array.fromAsync(ada.changes(WEB))).slice(-2);
    expect(changes).toMatchObject([
      { verb: "pause", by: GRACE, grant: grant?.id },
      { verb: "resume", by: GRACE, grant: grant?.id },
    ]);
    await ada.pause(WEB);
    await ada.resume(WEB);
    expect((await Array.fromAsync(ada.changes(WEB))).at(-1)).not.toHaveProperty("grant");
    expect(
      (await Array.fromAsync(ada.changes({}))).filter(({ scope }) => scope === "access"),
    ).toContainEqual(expect.objectContaining({ verb: "grant", by: ADA }));
  });

  it("asks what it may do", async () => {
    const [grant] = (await ada.access()).grants;
    const inShop = { cluster: "eu-1", namespace: "shop" };
    expect(await grace.canI({ verb: "edit", ...inShop })).toMatchObject({
      allowed: true,
      caller: GRACE,
      grant: grant?.id,
    });
    for (const place of [
      {},
      { cluster: "eu-1" },
      { cluster: "eu-1", namespace: "infra" },
      { cluster: "us-1" },
    ])
      expect(await grace.canI({ verb: "view", ...place })).toMatchObject({
        allowed: false,
        grants: [{ id: grant?.id }],
      });
    expect(await ada.canI({ verb: "edit" })).toMatchObject({
      allowed: true,
      caller: ADA,
      grants: [],
    });
    expect(await openService(world.context).canI({ verb: "edit" })).toEqual({
      allowed: true,
      grants: [],
    });
  });
});

describe("grants", () => {
  beforeEach(() => having([]));

  it("are given and taken by callers of the URL that connects clusters, and by no other", async () => {
    const body = JSON.stringify({ arn: OPS, role: "view", cluster: "*" });
    for (const path of ["/v1/access/grant", "/v1/access/revoke", "/v1/access/require"]) {
      const asked = path.endsWith("grant")
        ? body
        : path.endsWith("revoke")
          ? '{"id":"x"}'
          : '{"required":false}';
      expect(await ask(world.api, { path, body: asked, by: GRACE })).toMatchObject({
        status: 403,
        json: { code: "api.connects-elsewhere" },
      });
      expect(await ask(world.view, { path, body: asked, by: GRACE })).toMatchObject({
        status: 403,
        json: { code: "api.read-only" },
      });
    }
    const { id, changed } = await ada.grantAccess({
      arn: OPS,
      role: "view",
      cluster: "*",
      namespace: "*",
    });
    expect([
      changed,
      (await ada.grantAccess({ arn: OPS, role: "view", cluster: "*" })).changed,
    ]).toEqual([true, false]);
    expect(await ada.revokeAccess(id ?? "")).toMatchObject({ changed: true, grants: [] });
    await expect(ada.revokeAccess(id ?? "")).rejects.toMatchObject({ code: "service.unknown" });
  });

  it("are not required before the caller itself has one on the fleet", async () => {
    await expect(ada.requireAccess(true)).rejects.toMatchObject({
      code: "service.invalid",
      message: expect.stringContaining("could not freeze it"),
    });
    await ada.grantAccess({ arn: ADA, role: "edit", cluster: "*" });
    expect(await ada.requireAccess(true)).toMatchObject({ required: true, changed: true });
  });

  it("refuse an edit before its key is stored: the same request goes through once it is granted", async () => {
    await having([{}]);
    const asked = {
      path: "/v1/autoscaler/pause",
      body: JSON.stringify(WEB),
      headers: { "idempotency-key": "one-key-of-grace" },
      by: GRACE,
    };
    expect(await ask(world.api, asked)).toMatchObject({
      status: 403,
      json: { code: "service.no-grant" },
    });
    await having([{ role: "edit" }]);
    expect(await ask(world.api, asked)).toMatchObject({ status: 200 });
    await having([{ cluster: "us-1" }]);
    expect(await ask(world.api, asked)).toMatchObject({ status: 403 });
    expect(
      await ask(world.api, { ...asked, by: ADA, path: "/v1/autoscaler/resume" }),
    ).toMatchObject({ status: 200, json: { changed: true } });
  });

  it("let nobody in while they cannot be read", async () => {
    await having([{}]);
    const { version, ...access } = await getAccess(world.tables);
    await putAccess(world.tables, { ...access, onlyOnMondays: true } as typeof access, version);
    expect(await ask(world.view, { path: QUERY_PATHS.fleet, by: ADA })).toMatchObject({
      status: 500,
      json: { code: "store.unreadable" },
    });
    await putAccess(world.tables, access, version + 1);
  });
});

describe("tidemark access and tidemark auth", () => {
  const cli = async (key: string, ...args: readonly string[]) => {
    const open = (): Promise<Session> =>
      Promise.resolve(
        openStack(
          { url: world.url.url, from: "--stack" },
          () => callerOf(key),
          () => NOON,
        ),
      );
    return inside([...args, "--stack", world.url.url], { open, by: "" });
  };

  it("give, show and take grants, and say what a caller may do", async () => {
    await having([]);
    expect(await cli("ADA", "access", "list")).toMatchObject({ code: 0, out: "No grants\n" });
    const granted = await cli(
      "ADA",
      "access",
      "grant",
      OPS,
      "--role",
      "edit",
      "--cluster",
      "eu-*",
      "-n",
      "shop",
    );
    const id = /^Granted (\S+)\n$/.exec(granted.out)?.[1] ?? "";
    expect([granted.code, granted.err]).toEqual([
      0,
      expect.stringContaining("note: grants are not required"),
    ]);
    const listed = await cli("ADA", "access", "list");
    expect(listed.out.split("\n").map((line) => line.split(/ {3,}/))).toMatchObject([
      ["ID", "ROLE", "CLUSTER", "NAMESPACE", "ARN"],
      [id, "edit", "eu-*", "shop", OPS],
      [""],
    ]);
    expect(await cli("GRACE", "auth", "can-i", "edit", "--cluster", "eu-1", "-n", "shop")).toEqual({
      code: 0,
      out: `yes, by grant ${id}\n`,
      err: "",
    });
    expect(await cli("GRACE", "auth", "can-i", "edit", "--cluster", "eu-1")).toEqual({
      code: 1,
      out: "no\n",
      err: "",
    });
    expect(await cli("GRACE", "auth", "can-i", "connect")).toMatchObject({
      code: 1,
      err: expect.stringContaining("give view or edit"),
    });
    expect(await cli("GRACE", "access", "list")).toMatchObject({
      code: 1,
      err: expect.stringContaining("Cannot view the fleet"),
    });
    expect(await cli("ADA", "access", "require", "on")).toMatchObject({
      code: 1,
      err: expect.stringContaining("could not freeze it"),
    });
    expect(await cli("ADA", "access", "revoke", id)).toMatchObject({
      code: 0,
      out: `Grant ${id} revoked\n`,
    });
    expect(await cli("GRACE", "auth", "can-i", "edit")).toEqual({ code: 0, out: "yes\n", err: "" });
  });
});
