import fc from "fast-check";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { apiHandler } from "../../functions/api.ts";
import { COMMAND_PATHS, QUERY_PATHS } from "../../lib/answers/api/paths.ts";
import { openService } from "../../lib/answers/service/open.ts";
import type { Service } from "../../lib/answers/service/service.ts";
import { scopeChangesOf } from "../../lib/stack/store/history/scope-changes.ts";
import { eventOf } from "../api/world.ts";
import { NOON } from "../noon.ts";
import { hpa } from "../service/world/manifests.ts";
import { type Fault, startFunctionUrl } from "./stand-in/function-url.ts";
import { ADA, IDENTITIES, type RemoteWorld, remoteWorld } from "./world.ts";
import { runs } from "../runs.ts";

let world: RemoteWorld;
let embedded: Service;
let remote: Service;
beforeAll(async () => {
  world = await remoteWorld();
  embedded = openService(world.context);
});
afterAll(() => world.close());
beforeEach(() => {
  remote = world.remote();
  world.waits.length = 0;
});
afterEach(() => {
  world.set(NOON);
  world.url.nowMs = () => NOON;
  world.url.faults.length = 0;
});

const HOUR_MS = 3_600_000;
const apply = (service: Service, name: string, dryRun = false) =>
  service.apply([{ file: "a.yaml", text: hpa(name, { namespace: "lab" }) }], {
    cluster: "eu-1",
    dryRun,
  });
const freezes = async (): Promise<number> =>
  (await Array.fromAsync(scopeChangesOf(world.tables, { scope: "fleet", name: "fleet" }))).length;

describe("the service of a stack", () => {
  it.each<readonly [verb: string, ask: (service: Service) => Promise<unknown>]>([
    ["autoscalers", (service) => Array.fromAsync(service.autoscalers({}))],
    [
      "autoscalers of a namespace",
      (service) => Array.fromAsync(service.autoscalers({ namespace: "shop", cluster: "eu-1" })),
    ],
    [
      "autoscalers after one",
      (service) =>
        Array.fromAsync(
          service.autoscalers(
            { cluster: "eu-1" },
            { cluster: "eu-1", namespace: "shop", name: "api" },
          ),
        ),
    ],
    ["get", (service) => service.get({ name: "shop/web" })],
    [
      "describe",
      (service) => service.describe({ name: "web", namespace: "shop", cluster: "eu-1" }),
    ],
    ["explain", (service) => service.explain({ name: "shop/web" })],
    ["a history", (service) => service.history({ name: "shop/web" })],
    [
      "a history with what is behind each value",
      (service) => service.history({ name: "shop/web", stepMs: 300_000, why: true }),
    ],
    ["explain at a time", (service) => service.explain({ name: "shop/web" }, NOON - 20_000)],
    ["events", (service) => Array.fromAsync(service.events({ sinceMs: NOON - HOUR_MS }))],
    ["events of one", (service) => Array.fromAsync(service.events({ name: "shop/web" }))],
    [
      "events until",
      (service) =>
        Array.fromAsync(service.events({ sinceMs: NOON - 3 * HOUR_MS, untilMs: NOON - HOUR_MS })),
    ],
    [
      "events after one",
      (service) =>
        Array.fromAsync(
          service.events({
            name: "shop/web",
            after: { cluster: "eu-1", atMs: NOON - 7_200_000, id: "uid-1:1" },
          }),
        ),
    ],
    ["series", (service) => service.series()],
    ["clusters", (service) => Array.fromAsync(service.clusters())],
    ["clusters after one", (service) => Array.fromAsync(service.clusters("eu-1"))],
    ["cluster", (service) => service.cluster("us-1")],
    ["fleet", (service) => service.fleet()],
    ["apply without storing", (service) => apply(service, "dry", true)],
  ])("says what the embedded one says: %s", async (_verb, ask) => {
    const said = await ask(embedded);
    expect(await ask(remote)).toEqual(said);
    expect(JSON.stringify(said).length).toBeGreaterThan(1);
  });

  it("edits under a condition as the embedded one does", async () => {
    for (const service of [embedded, remote]) {
      const [applied] = await apply(service, "conditional");
      const query = { name: "eu-1/lab/conditional" };
      const onlyIf = [{ uid: applied?.uid ?? "", generation: applied?.generation ?? 0 }];
      const paused = await service.pause({ ...query, onlyIf });
      expect(paused).toMatchObject({ changed: true, uid: applied?.uid });
      const edits = [
        () => service.pause({ ...query, onlyIf }),
        () => service.resume({ ...query, onlyIf: [] }),
        () => service.delete({ ...query, onlyIf }),
        ...[true, false].map(
          (dryRun) => () =>
            service.apply([{ file: "a", text: hpa("conditional", { namespace: "lab" }) }], {
              cluster: "eu-1",
              dryRun,
              onlyIf,
            }),
        ),
      ];
      for (const edit of edits)
        await expect(edit()).rejects.toMatchObject({ code: "service.changed" });
      expect(await service.resume({ ...query, onlyIf: "exists" })).toMatchObject({ changed: true });
      expect(await service.delete(query)).not.toHaveProperty("generation");
    }
  });

  it("says which other kinds apply passed over, as the embedded one does", async () => {
    const text = `${hpa("beside-others")}---\napiVersion: apps/v1\nkind: Deployment\nmetadata: { name: web }\n`;
    const countsOf = async (service: Service): Promise<unknown> => {
      const counts: unknown[] = [];
      await service.apply([{ file: "f", text }], {
        cluster: "eu-1",
        dryRun: true,
        onPassedOver: (passedOver) => counts.push(passedOver),
      });
      return counts;
    };
    expect(await countsOf(remote)).toEqual([[{ kind: "Deployment", count: 1 }]]);
    expect(await countsOf(embedded)).toEqual(await countsOf(remote));
  });

  it("edits in the name of the signer", async () => {
    await apply(remote, "edited");
    await apply(world.remote("GRACE"), "of-grace");
    expect([
      (await embedded.get({ name: "edited" })).updatedBy,
      (await embedded.get({ name: "of-grace" })).updatedBy,
    ]).toEqual([ADA, IDENTITIES["GRACE"]?.arn]);
    expect(await remote.pause({ name: "edited" }, NOON + HOUR_MS)).toMatchObject({ changed: true });
    expect(await remote.resume({ name: "edited" })).toMatchObject({ changed: true });
    for (const name of ["edited", "of-grace"])
      expect(await remote.delete({ name })).toMatchObject({ name, changed: true });
    await remote.addCluster({
      name: "new",
      connection: { kind: "secret", secretId: "prod/new" },
      partitions: [{ name: "rest" }],
    });
    await remote.replaceCluster({
      name: "new",
      connection: { kind: "secret", secretId: "prod/new" },
      syncPeriodMs: 30_000,
    });
    expect(await remote.pauseCluster("new")).toMatchObject({ paused: { by: ADA } });
    expect(await remote.resumeCluster("new")).toEqual(await embedded.cluster("new"));
    expect(await remote.removeCluster("new")).toBeUndefined();
    expect(await remote.freeze("drill")).toMatchObject({ frozen: { by: ADA, reason: "drill" } });
    expect(await remote.thaw()).toEqual({ changed: true });
  });

  it.each<readonly [what: string, ask: (service: Service) => Promise<unknown>]>([
    ["an unknown name", (service) => service.get({ name: "wbe", namespace: "shop" })],
    ["a name in two places", (service) => service.get({ name: "web" })],
    [
      "a wrong manifest",
      (service) =>
        service.apply([{ file: "f", text: hpa("x", { max: 1 }) }], {
          cluster: "eu-1",
          dryRun: false,
        }),
    ],
    [
      "a cluster that is there",
      (service) =>
        service.addCluster({ name: "eu-1", connection: { kind: "secret", secretId: "prod/eu-1" } }),
    ],
    ["events of nothing", (service) => Array.fromAsync(service.events({ name: "lab/never" }))],
  ])("throws the same error: %s", async (_what, ask) => {
    const thrown = await ask(embedded).then(
      () => undefined,
      (error: { readonly code: string; readonly message: string }) => ({
        code: error.code,
        message: error.message,
      }),
    );
    expect(thrown?.code).toMatch(/\./);
    await expect(ask(remote)).rejects.toMatchObject({ ...thrown });
  });

  it("shows and edits nothing where only showing is offered", async () => {
    const viewer = world.remote("ADA", {}, world.viewUrl);
    expect(await viewer.fleet()).toEqual({});
    await expect(viewer.freeze("x")).rejects.toMatchObject({
      code: "api.read-only",
      message:
        'Cannot POST "/v1/fleet/freeze": this URL is read-only; edits go to the URL of the function api',
    });
  });

  it("takes long answers compressed", async () => {
    await Array.fromAsync(remote.autoscalers({}));
    const { headers } = world.url.events.at(-1) ?? {};
    expect(headers?.["accept-encoding"]).toContain("gzip");
    const result = await world.api(world.url.events.at(-1) ?? eventOf({ path: "/" }));
    expect(result).toMatchObject({
      isBase64Encoded: true,
      headers: { "content-encoding": "gzip" },
    });
  });

  it.each<readonly [path: string, ask: (service: Service) => Promise<unknown>, key: string]>([
    [QUERY_PATHS.clusters, (service) => Array.fromAsync(service.clusters()), "items"],
    [QUERY_PATHS.series, (service) => service.series(), "families"],
    [COMMAND_PATHS.apply, (service) => apply(service, "x"), "applied"],
  ])("says where the answer to %s is not one of Tidemark's", async (path, ask, key) => {
    const wrong = [
      ["{}", `${key}: Invalid input: expected array, received undefined`],
      ["null", "the document: Invalid input: expected object, received null"],
      ["[]", "the document: Invalid input: expected object, received array"],
      [`{"${key}":3}`, `${key}: Invalid input: expected array, received number`],
    ] as const;
    for (const [body, fault] of wrong) {
      world.url.faults.push({ status: 200, body, headers: { "content-type": "application/json" } });
      await expect(ask(remote)).rejects.toMatchObject({
        code: "remote.unreadable",
        message: `Cannot read the answer to "${path}": ${fault}; the stack may run another version of Tidemark`,
      });
    }
  });

  it("signs what any name holds", async () => {
    for (const name of ["a+b", "a%2Fb", "a'(b)*!", "~a_b", "a=b&c", "a?b#c"]) {
      await expect(remote.get({ name })).rejects.toMatchObject({ code: "service.unknown" });
    }
  });
});

describe("a request that goes wrong", () => {
  it("is sent again while no answer comes, with growing waits, at most four times", async () => {
    world.url.faults.push("dropped", { status: 502 }, "answer lost", {
      status: 429,
      body: '{"Reason":"ConcurrentInvocationLimitExceeded"}',
    });
    expect(await remote.fleet()).toEqual({});
    expect(world.waits).toEqual([100, 200, 400, 800]);
    world.url.faults.push("dropped", "dropped", "dropped", "dropped", "dropped");
    await expect(remote.fleet()).rejects.toMatchObject({
      code: "remote.unclear",
      message: expect.stringMatching(
        /^Cannot reach the stack at "http:\/\/127\.0\.0\.1:\d+": no clear answer after 5 attempts \(\w+\)$/,
      ),
    });
  });

  it.each([429, 503])(
    "looks again where Tidemark itself says %i, when it says, and edits once",
    async (status) => {
      const passing = {
        status,
        body: JSON.stringify({
          status,
          code: "store.unclear",
          detail: "Cannot list the clusters: no clear answer after 8 attempts",
        }),
        headers: { "content-type": "application/problem+json", "retry-after": "2" },
      };
      world.url.faults.push(passing, passing);
      expect(await remote.fleet()).toEqual({});
      expect(world.waits).toEqual([2_000, 2_000]);
      world.url.faults.push(passing);
      const before = world.url.requests();
      await expect(remote.thaw()).rejects.toMatchObject({
        code: "store.unclear",
        message: "Cannot list the clusters: no clear answer after 8 attempts",
      });
      expect(world.url.requests()).toBe(before + 1);
    },
  );

  it("makes an edit once, though its answer is lost again and again", async () => {
    const before = await freezes();
    world.url.faults.push("answer lost", "dropped", "answer lost");
    expect(await remote.freeze("once")).toMatchObject({ frozen: { reason: "once" } });
    expect(await freezes()).toBe(before + 1);
    // Created, not "unchanged", though it was there when the last repeat came.
    world.url.faults.push("answer lost", "answer lost");
    expect(await apply(remote, "once")).toMatchObject([{ outcome: "created", generation: 1 }]);
    world.url.faults.push("answer lost");
    expect(await remote.delete({ name: "once" })).toMatchObject({ changed: true });
    await remote.thaw();
  });

  it("never makes an edit more than once, and always says how it ended, whatever is lost", async () => {
    const fault = fc.constantFrom<Fault>(
      "dropped",
      "answer lost",
      { status: 502 },
      { status: 504 },
    );
    await fc.assert(
      fc.asyncProperty(fc.array(fault, { maxLength: 6 }), async (faults) => {
        world.url.faults.length = 0;
        await remote.thaw();
        const before = await freezes();
        world.url.faults.push(...faults);
        const ended = await remote.freeze(`property ${faults.length}`).then(
          () => "made" as const,
          ({ code }: { readonly code: string }) => code,
        );
        const made = (await freezes()) - before;
        // Five attempts get through four faults.
        if (faults.length < 5) expect([ended, made]).toEqual(["made", 1]);
        else
          expect([ended, made <= 1]).toEqual([
            expect.stringMatching(/^remote\.(unclear|failed)$/),
            true,
          ]);
      }),
      runs(10),
    );
    world.url.faults.length = 0;
    await remote.thaw();
    world.url.faults.length = 0;
    await remote.thaw();
  });

  it("waits for an edit that is still being made, and never makes it itself", async () => {
    const before = await freezes();
    let nowMs = NOON;
    // The first request is begun and then ended by the platform, without a word of it in the
    // ledger.
    const { insert } = world.context;
    const begun = Promise.withResolvers<void>();
    const dying = apiHandler({
      ...world.context,
      insert: async (items) => {
        if (!items.some(({ sk }) => sk === "begun")) return new Promise<never>(() => {});
        const inserted = await insert(items);
        begun.resolve();
        return inserted;
      },
      reporter: { line: () => {} },
      connecting: { kind: "here" },
    });
    let calls = 0;
    const url = await startFunctionUrl(
      async (event) => {
        if (++calls > 1) return world.api(event);
        void dying(event);
        // A repeat that came sooner would find nothing begun, and make the edit itself.
        await begun.promise;
        return {
          statusCode: 502,
          headers: { "content-type": "text/plain" },
          body: "Internal Server Error",
        };
      },
      IDENTITIES,
      () => nowMs,
    );
    const wait = async (ms: number): Promise<void> => {
      world.waits.push(ms);
      nowMs += Math.max(ms, 20_000);
      world.set(nowMs);
    };
    await expect(
      world.remote("ADA", { clock: () => nowMs, wait }, url).freeze("dead"),
    ).rejects.toMatchObject({ code: "api.unclear" });
    expect(nowMs - NOON).toBeGreaterThanOrEqual(150_000);
    // Never sooner than the stack asked for.
    expect(Math.min(...world.waits.slice(1))).toBe(2_000);
    expect(await freezes()).toBe(before);
    await url.close();
  });

  it("is not sent again where the stack itself refused an edit, or where no such host exists", async () => {
    const before = world.url.requests();
    await expect(remote.pause({ name: "lab/never" })).rejects.toMatchObject({
      code: "service.unknown",
    });
    expect(world.url.requests()).toBe(before + 1);
    const nowhere = world.remote("ADA", {
      stack: {
        origin: "https://nowhere.invalid",
        host: "nowhere.invalid",
        region: "eu-central-1",
        from: "--stack",
      },
    });
    await expect(nowhere.fleet()).rejects.toMatchObject({
      code: "remote.unreachable",
      message:
        'Cannot reach the stack at "https://nowhere.invalid": the host does not exist; check the URL',
    });
    expect(world.waits).toEqual([]);
  });

  it("is not sent at all where it is larger than a function takes", async () => {
    const before = world.url.requests();
    const text = `# ${"x".repeat(5_000_000)}`;
    await expect(remote.apply([{ file: "f", text }], { dryRun: false })).rejects.toMatchObject({
      code: "remote.too-large",
      message:
        "Cannot send 5.0 MB to the stack: a request has 5 MB at most; apply the manifests in several steps",
    });
    expect(world.url.requests()).toBe(before);
  });
});

describe("a request that the platform refuses", () => {
  const cannot = (words: string) => `Cannot use the stack at "${world.url.url}": ${words}`;

  it("names the caller, and what the policy must allow", async () => {
    await expect(world.remote("MALLORY").fleet()).rejects.toMatchObject({
      code: "remote.forbidden",
      message: cannot(
        '"arn:aws:iam::123456789012:user/mallory" may not call it; its policy must allow lambda:InvokeFunctionUrl and lambda:InvokeFunction on this function (docs/api.md)',
      ),
    });
  });

  it.each([
    [
      -301_000,
      "the clock of this machine is 301 s behind the clock of AWS: a signature is valid for 5 minutes",
    ],
    [
      302_000,
      "the clock of this machine is 302 s ahead of the clock of AWS: a signature is valid for 5 minutes",
    ],
  ])("says how wrong the clock is: %i ms", async (offMs, words) => {
    await expect(world.remote("ADA", { clock: () => NOON + offMs }).fleet()).rejects.toMatchObject({
      code: "remote.forbidden",
      message: cannot(words),
    });
    await expect(
      world.remote("ADA", { clock: () => NOON + offMs - 3_000 * Math.sign(offMs) }).fleet(),
    ).resolves.toEqual({});
  });

  it("tells unknown credentials, a wrong secret and expired credentials apart", async () => {
    await expect(world.remote("ABSENT").fleet()).rejects.toMatchObject({
      message: cannot("AWS does not know these credentials; check the profile and sign in again"),
    });
    const wrong = {
      credentials: async () => ({ accessKeyId: "ADA", secretAccessKey: "another" }),
      name: async () => "ada",
    };
    await expect(world.remote("ADA", { caller: wrong }).fleet()).rejects.toMatchObject({
      message: cannot(
        "the signature does not match: the secret key does not belong to the access key, or a proxy changed the request",
      ),
    });
    const expired = {
      status: 403,
      body: '{"message":"The security token included in the request is expired"}',
      headers: { "content-type": "application/json" },
    };
    world.url.faults.push(expired);
    await expect(remote.fleet()).rejects.toMatchObject({
      message: cannot("the AWS credentials have expired; sign in again"),
    });
  });

  it.each([
    [404, "remote.not-found", "no function answers at this URL; check that the stack still exists"],
    [
      413,
      "remote.too-large",
      "the request is larger than a function takes; apply the manifests in several steps",
    ],
    [
      200,
      "remote.unreadable",
      "the answer is not from Tidemark (status 200, text/plain); check the URL",
    ],
    [
      500,
      "remote.unreadable",
      "the answer is not from Tidemark (status 500, text/plain); check the URL",
    ],
  ])("with %i says what that means", async (status, code, words) => {
    world.url.faults.push({ status });
    await expect(remote.fleet()).rejects.toMatchObject({ code, message: cannot(words) });
  });

  it("with 502 for ever says where to look", async () => {
    world.url.faults.push(...Array.from({ length: 5 }, () => ({ status: 502 })));
    await expect(remote.fleet()).rejects.toMatchObject({
      code: "remote.failed",
      message: cannot(
        "no clear answer: its function failed or ran out of time (status 502); the log of the function says why",
      ),
    });
  });
});

describe("connecting a cluster", () => {
  const CLUSTER = {
    name: "found",
    connection: { kind: "secret", secretId: "prod/found" },
  } as const;

  it("goes on at the URL that has the right, under the same key and in the name of the same caller", async () => {
    const before = world.connectUrl.events.length;
    expect(await world.remote("ADA").addCluster(CLUSTER)).toMatchObject({ name: "found" });
    const [asked, ...more] = world.connectUrl.events.slice(before);
    expect(more).toEqual([]);
    expect(asked?.headers["idempotency-key"]).toBe(
      world.url.events.at(-1)?.headers["idempotency-key"],
    );
    expect(asked?.requestContext).toMatchObject({ authorizer: { iam: { userArn: ADA } } });
    await world.remote("ADA").removeCluster("found");
  });

  it("is refused in the words of AWS for a caller without the right", async () => {
    world.connectUrl.faults.push({
      status: 403,
      body: '{"Message":"Forbidden"}',
      headers: { "content-type": "application/json" },
    });
    await expect(world.remote("ADA").addCluster(CLUSTER)).rejects.toMatchObject({
      code: "remote.forbidden",
      message: expect.stringContaining(
        `Cannot use the stack at "${world.connectUrl.url}": "${ADA}" may not call it`,
      ),
    });
  });

  it.each([
    "https://attacker.example/",
    "http://127.0.0.1.attacker.example/",
    "https://abc.lambda-url.eu-central-1.on.aws/",
    "no url",
  ])("sends nothing to a URL that is not of the same region and kind: %s", async (url) => {
    const told = world.elsewhere.url;
    world.elsewhere.url = url;
    await expect(world.remote("ADA").addCluster(CLUSTER)).rejects.toMatchObject({
      code: "api.connects-elsewhere",
    });
    world.elsewhere.url = told;
  });
});
