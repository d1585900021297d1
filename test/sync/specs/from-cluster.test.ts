import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { autoscalerName, namespace } from "../../../lib/rules/model/ids.ts";
import { changesOf } from "../../../lib/stack/store/history/changes.ts";
import { putAutoscaler, raiseSpecVersion } from "../../../lib/stack/store/records/autoscalers.ts";
import { getFleet, putFleet } from "../../../lib/stack/store/records/clusters.ts";
import { PURE_PART } from "../../../lib/stack/sync/pure-part.ts";
import { STORED_EVERY_MS } from "../../../lib/stack/sync/specs/finding.ts";
import { type Engine, startMemory } from "../../contracts/engines.ts";
import { newestJournalPage } from "../../store/newest-journal-page.ts";
import { collected } from "../world.ts";
import { type SpecsWorld, specsWorld } from "./cluster-specs.ts";
import type { Evaluation } from "../../../lib/rules/model/scale-records.ts";

let engine: Engine;
beforeAll(async () => {
  engine = await startMemory();
});
afterAll(() => engine.close());

/** What the newest journal page says of an autoscaler. */
const told = async (world: SpecsWorld, name: string): Promise<Evaluation | undefined> =>
  (await newestJournalPage(world.tables, world.partition, 0, world.nowMs))?.evaluations.find(
    (one) => one.name === name,
  );

const changes = (world: SpecsWorld, name: string) =>
  collected(
    changesOf(world.tables, {
      cluster: world.record.name,
      namespace: namespace("shop"),
      name: autoscalerName(name),
    }),
  );

describe("an autoscaler that is read from its cluster", () => {
  it("is stored with the uid of its object and scales in the sync that sees it first", async () => {
    const world = await specsWorld(engine, ["web"]);
    world.apply("web", { uid: "object-web", metadata: { labels: { team: "shop" } } });
    await world.next();
    expect(world.replicas("web")).toBe(5);
    const [record] = await world.records();
    expect(record).toMatchObject({
      uid: "object-web",
      origin: { kind: "PodAutoscaler", uid: "object-web", generation: 1 },
    });
    expect(JSON.parse(record?.manifest ?? "")).toMatchObject({
      metadata: { labels: { team: "shop" } },
      spec: { maxReplicas: 10 },
    });
    expect(await world.events()).toMatchObject([
      { name: "web", uid: "object-web", specGeneration: 1, outcome: "applied" },
    ]);
  });

  it("follows an edit of its object in the next sync, and the change names the field manager", async () => {
    const world = await specsWorld(engine, ["web", "api"]);
    world.apply("web");
    await world.next();
    world.nowMs += STORED_EVERY_MS;
    world.apply("web", { target: "api" });
    await world.next();
    expect(world.replicas("api")).toBe(5);
    expect(await world.records()).toMatchObject([
      { generation: 2, origin: { generation: 2 }, updatedBy: 'field manager "argocd-controller"' },
    ]);
    expect(await changes(world, "web")).toMatchObject([
      { verb: "apply", by: 'field manager "argocd-controller"' },
      { verb: "apply", baseGeneration: 1 },
    ]);
  });

  it("is neither read from the tables nor stored again while its object stays as it is, also when only the status of it moves", async () => {
    const world = await specsWorld(engine, ["web"]);
    world.apply("web");
    await world.next();
    await world.next();
    world.apply("web", { metadata: { generation: 1 } });
    await world.next();
    expect(await world.records()).toMatchObject([{ generation: 1 }]);
    expect(await changes(world, "web")).toHaveLength(1);
  });

  it("holds alone where its object is invalid, and no earlier spec acts for it", async () => {
    const world = await specsWorld(engine, ["web", "api"]);
    world.apply("web");
    world.apply("api");
    world.cluster.workloads.forEach((workload) => {
      workload.demand = 2;
    });
    await world.next();
    world.nowMs += STORED_EVERY_MS;
    world.apply("web", {
      spec: {
        scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "web" },
        minReplicas: 5,
        maxReplicas: 2,
      },
    });
    world.cluster.workloads.forEach((workload) => {
      workload.demand = 7;
    });
    const report = await world.next();
    expect(report).toMatchObject({
      unreadable: [
        {
          name: "web",
          reason: "InvalidSpec",
          message: expect.stringContaining("spec.metrics is required"),
        },
      ],
    });
    expect([world.replicas("web"), world.replicas("api")]).toEqual([2, 7]);
  });

  it("holds while its schedule names a calendar that the fleet does not have, says which field, and goes on once there is one", async () => {
    const world = await specsWorld(engine, ["web"]);
    const schedule = [{ name: "always", timeZone: "Etc/UTC", minReplicas: 4, exceptFrom: "de" }];
    const scaleTargetRef = { apiVersion: "apps/v1", kind: "Deployment", name: "web" };
    world.apply("web", {
      spec: {
        scaleTargetRef,
        minReplicas: 1,
        maxReplicas: 10,
        metrics: [{ resource: { name: "cpu" }, target: 50 }],
        schedule,
      },
    });
    const ports = world.cold({ rules: PURE_PART });
    await world.next(ports);
    expect(world.replicas("web")).toBe(2);
    expect(await told(world, "web")).toMatchObject({
      failed: true,
      because: {
        reason: "UnknownCalendar",
        message: expect.stringContaining('spec.schedule[0].exceptFrom names "de"'),
      },
    });
    const { version } = await getFleet(world.tables);
    await putFleet(world.tables, { calendars: [{ name: "de", days: [1] }] }, version);
    await world.next(ports);
    expect(world.replicas("web")).toBe(4);
    await putFleet(world.tables, {}, version + 1);
    await world.next(ports);
    expect(await told(world, "web")).toMatchObject({
      failed: true,
      because: { reason: "UnknownCalendar" },
    });
  });

  it("holds alone where its object has grown too large to be stored; a new one that is too large is named in the log line", async () => {
    const world = await specsWorld(engine, ["web", "api"]);
    const labels = { note: "n".repeat(90_000) };
    world.apply("web");
    world.apply("api", { metadata: { labels } });
    expect(await world.next()).toMatchObject({
      specProblems: [
        expect.stringMatching(
          /^PodAutoscaler "shop\/api" has no autoscaler: the PodAutoscaler has 90\d{3} bytes without its status and annotations, and 90000 can be stored/,
        ),
      ],
    });
    expect([world.replicas("web"), world.replicas("api")]).toEqual([5, 2]);
    world.apply("web", { metadata: { labels } });
    world.cluster.workloads.forEach((workload) => {
      workload.demand = 7;
    });
    await world.next();
    expect(world.replicas("web")).toBe(5);
    expect(await told(world, "web")).toMatchObject({ because: { reason: "SpecTooLarge" } });
  });

  it("holds alone where its object is too large to be read, and does not end", async () => {
    const world = await specsWorld(engine, ["web", "api"]);
    world.apply("web");
    world.apply("api");
    await world.next();
    world.cluster.specFailures.set("PodAutoscaler/shop/web", {
      code: 0,
      reason: "ObjectTooLarge",
      message: "web is larger than an answer may be",
    });
    world.cluster.workloads.forEach((workload) => {
      workload.demand = 7;
    });
    for (let syncs = 0; syncs < 3; syncs++)
      expect(await world.next()).toMatchObject({
        specProblems: ["web is larger than an answer may be"],
      });
    expect([world.replicas("web"), world.replicas("api")]).toEqual([5, 7]);
    expect(await told(world, "web")).toMatchObject({ because: { reason: "SpecUnknown" } });
  });

  it("is stored without annotations, so that an edit of 250 KB of them is no edit", async () => {
    const world = await specsWorld(engine, ["web"]);
    const annotated = (text: string) => ({
      metadata: {
        generation: 1,
        labels: { team: "shop" },
        annotations: { note: text.repeat(250_000) },
      },
    });
    world.apply("web", annotated("a"));
    await world.next();
    expect(world.replicas("web")).toBe(5);
    world.apply("web", annotated("b"));
    await world.next();
    const [record] = await world.records();
    expect(record).toMatchObject({ generation: 1 });
    expect(JSON.parse(record?.manifest ?? "")).toMatchObject({
      metadata: { name: "web", namespace: "shop", labels: { team: "shop" } },
    });
    expect(record?.manifest.length).toBeLessThan(500);
    expect(await changes(world, "web")).toHaveLength(1);
  });

  it("keeps its pause while its object is edited", async () => {
    const world = await specsWorld(engine, ["web"]);
    world.apply("web");
    await world.next();
    world.nowMs += STORED_EVERY_MS;
    const [record] = await world.records();
    if (!record) throw new Error("nothing is stored");
    await putAutoscaler(
      world.tables,
      { ...record, generation: 2, paused: { by: "ada", atMs: world.nowMs } },
      1,
    );
    await raiseSpecVersion(world.tables, world.partition);
    world.apply("web", {
      spec: {
        scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "web" },
        maxReplicas: 20,
      },
    });
    const workload = world.cluster.workloads.get("web");
    if (workload) workload.demand = 9;
    await world.next();
    expect(await world.records()).toMatchObject([
      { generation: 3, origin: { generation: 2 }, paused: { by: "ada" } },
    ]);
    expect(world.replicas("web")).toBe(5);
  });
});

describe("an object that is gone", () => {
  it("holds its autoscaler in the first sync without it, and ends it in the next; its history stays", async () => {
    const world = await specsWorld(engine, ["web", "api"]);
    world.apply("web");
    world.apply("api");
    await world.next();
    world.nowMs += STORED_EVERY_MS;
    world.remove("web");
    const workload = world.cluster.workloads.get("web");
    if (workload) workload.demand = 9;
    await world.next();
    expect(await told(world, "web")).toMatchObject({
      because: { reason: "ObjectGone" },
      withoutHold: { to: 9 },
    });
    expect(await world.records()).toHaveLength(2);
    await world.next(world.cold());
    expect(await world.records()).toMatchObject([{ name: "api" }]);
    expect(world.replicas("web")).toBe(5);
    expect(await changes(world, "web")).toMatchObject([
      { verb: "apply" },
      { verb: "delete", by: `the cluster "${world.record.name}"` },
    ]);
    expect(await world.events()).toHaveLength(2);
  });

  it("holds its autoscaler as being deleted while a finalizer keeps it, however long, and ends it when it is gone", async () => {
    const world = await specsWorld(engine, ["web", "api"]);
    world.apply("web", { uid: "object-web" });
    world.apply("api");
    await world.next();
    world.nowMs += STORED_EVERY_MS;
    world.apply("web", {
      metadata: {
        uid: "object-web",
        generation: 2,
        deletionTimestamp: "2026-01-05T12:00:00Z",
        finalizers: ["team.example/keep"],
      },
    });
    const workload = world.cluster.workloads.get("web");
    if (workload) workload.demand = 9;
    for (const ports of [undefined, world.cold(), undefined]) {
      await world.next(ports);
      expect(await told(world, "web")).toMatchObject({
        because: { reason: "ObjectDeleting" },
        withoutHold: { to: 9 },
      });
    }
    expect(await world.records()).toHaveLength(2);
    expect(world.replicas("web")).toBe(5);
    expect((await world.records()).map(({ origin }) => origin?.goneMs)).toEqual([
      undefined,
      undefined,
    ]);
    world.remove("web");
    await world.next();
    expect(
      (await world.records()).map(({ name, origin }) => [name, origin?.goneMs !== undefined]),
    ).toEqual([
      ["api", false],
      ["web", true],
    ]);
    await world.next();
    expect(await world.records()).toMatchObject([{ name: "api" }]);
  });

  it("goes on with its windows when a later LIST has it again with the same uid", async () => {
    const world = await specsWorld(engine, ["web"]);
    world.apply("web", { uid: "object-a" });
    await world.next();
    const object = world.cluster.objects.get("PodAutoscaler/shop/web");
    world.remove("web");
    await world.next();
    if (object) world.cluster.objects.set("PodAutoscaler/shop/web", object);
    const workload = world.cluster.workloads.get("web");
    if (workload) workload.demand = 1;
    await world.next();
    // The highest recommendation of the last 90 seconds is 5, and it was made before the object was
    // gone.
    expect(world.replicas("web")).toBe(5);
    expect((await world.records())[0]?.origin?.goneMs).toBeUndefined();
  });

  it("starts anew, without windows of before, when another object of the same name comes", async () => {
    const world = await specsWorld(engine, ["web"]);
    world.apply("web", { uid: "object-b" });
    await world.next();
    world.nowMs += STORED_EVERY_MS;
    world.apply("web", { uid: "object-c" });
    const workload = world.cluster.workloads.get("web");
    if (workload) workload.demand = 1;
    await world.next();
    expect(await world.records()).toMatchObject([
      { uid: "object-c", origin: { uid: "object-c", generation: 1 } },
    ]);
    expect(world.replicas("web")).toBe(1);
  });

  it("holds its autoscaler for an hour where most objects of the kind are gone at once", async () => {
    const names = ["a", "b", "c", "d", "e", "f"];
    const world = await specsWorld(engine, names);
    for (const name of names) world.apply(name);
    await world.next();
    for (const name of names) world.remove(name);
    for (const workload of world.cluster.workloads.values()) workload.demand = 9;
    await world.next();
    await world.next();
    expect(await world.records()).toHaveLength(6);
    expect(await told(world, "a")).toMatchObject({
      because: { reason: "ObjectGone", message: expect.stringContaining("6 of 6 objects") },
    });
    world.nowMs += 3_600_000;
    await world.next();
    expect(await world.records()).toEqual([]);
  });
});

describe("a LIST that fails", () => {
  it.each([403, 404, 500, 0])(
    "with %i holds every autoscaler of its kind, deletes none, and is named in the report",
    async (code) => {
      const world = await specsWorld(engine, ["web", "api"]);
      world.apply("web");
      world.apply("api", { kind: "WatermarkPodAutoscaler" });
      await world.next();
      world.cluster.specFailures.set("PodAutoscaler", {
        code,
        reason: "Broken",
        message: "the LIST failed",
      });
      for (const workload of world.cluster.workloads.values()) workload.demand = 9;
      const report = await world.next();
      await world.next(world.cold());
      expect(report).toMatchObject({
        specProblems: ["no PodAutoscaler could be read: the LIST failed"],
      });
      expect([world.replicas("web"), world.replicas("api")]).toEqual([5, 9]);
      expect(await told(world, "web")).toMatchObject({
        because: { reason: "SpecUnknown" },
        withoutHold: { to: 9 },
      });
      expect(await world.records()).toHaveLength(2);
    },
  );
});

describe("one workload", () => {
  it("that two kinds want holds both, and each names the other", async () => {
    const world = await specsWorld(engine, ["web"]);
    world.apply("one", { target: "web" });
    world.apply("two", { target: "web", kind: "WatermarkPodAutoscaler" });
    await world.next();
    expect(world.replicas("web")).toBe(2);
    expect((await told(world, "one"))?.because.message).toBe(
      'the workload is also the target of autoscaler "two" (a WatermarkPodAutoscaler in the cluster)',
    );
    expect((await told(world, "two"))?.because.reason).toBe("TargetShared");
  });

  it("that an autoscaler of the table and an object want holds both", async () => {
    const world = await specsWorld(engine, ["web"]);
    const manifest = JSON.stringify({
      apiVersion: "autoscaling/v2",
      kind: "HorizontalPodAutoscaler",
      metadata: { name: "old", namespace: "shop" },
      spec: {
        scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "web" },
        maxReplicas: 9,
      },
    });
    await putAutoscaler(world.tables, { ...world.autoscaler("old"), manifest }, undefined);
    world.apply("web");
    await world.next();
    expect(world.replicas("web")).toBe(2);
    expect((await told(world, "web"))?.because).toMatchObject({
      reason: "TargetShared",
      message: expect.stringContaining('"old"'),
    });
    expect((await told(world, "old"))?.because.message).toContain(
      'autoscaler "web" (a PodAutoscaler in the cluster)',
    );
  });

  it("goes over to a new object at once when the object before is gone", async () => {
    const world = await specsWorld(engine, ["web"]);
    world.apply("one", { target: "web" });
    await world.next();
    world.remove("one");
    world.apply("two", { target: "web" });
    const workload = world.cluster.workloads.get("web");
    if (workload) workload.demand = 8;
    await world.next();
    expect(world.replicas("web")).toBe(8);
  });
});

describe("one name", () => {
  it("that two kinds have holds the autoscaler and names the other object", async () => {
    const world = await specsWorld(engine, ["web", "api"]);
    world.apply("web");
    world.apply("web", { kind: "WatermarkPodAutoscaler", target: "api" });
    await world.next();
    await world.next();
    expect([world.replicas("web"), world.replicas("api")]).toEqual([2, 2]);
    expect((await told(world, "web"))?.because).toMatchObject({
      reason: "NameShared",
      message: expect.stringContaining('WatermarkPodAutoscaler "web"'),
    });
  });

  it("that a person has stored as the same kind is taken over by the object, with its uid and its windows", async () => {
    const world = await specsWorld(engine, ["web"]);
    world.apply("web");
    const { apiVersion, kind, spec } = world.cluster.objects.get("PodAutoscaler/shop/web") ?? {};
    const manifest = JSON.stringify({
      apiVersion,
      kind,
      metadata: { name: "web", namespace: "shop" },
      spec,
    });
    await putAutoscaler(world.tables, { ...world.autoscaler("web"), manifest }, undefined);
    await world.next();
    expect(await world.records()).toMatchObject([
      { uid: "uid-web", generation: 2, origin: { kind: "PodAutoscaler", generation: 1 } },
    ]);
    expect(world.replicas("web")).toBe(5);
  });
});

describe("another controller that writes the status of an object", () => {
  it("is a rival while its last write is less than five minutes old, and is named", async () => {
    const world = await specsWorld(engine, ["web"]);
    const wrote = (agoMs: number) => [
      { manager: "kubectl", time: "2026-01-01T00:00:00Z" },
      {
        manager: "wpa-controller",
        subresource: "status",
        time: new Date(world.nowMs - agoMs).toISOString(),
      },
    ];
    world.apply("web", {
      kind: "WatermarkPodAutoscaler",
      metadata: { managedFields: wrote(10_000) },
    });
    await world.next();
    expect(world.replicas("web")).toBe(2);
    expect((await told(world, "web"))?.because).toMatchObject({
      reason: "RivalController",
      message: expect.stringContaining('"wpa-controller"'),
    });
    world.nowMs += 300_000;
    await world.next();
    expect(world.replicas("web")).toBe(5);
  });
});

describe("a write of the status of a PodAutoscaler", () => {
  const wrote = (manager: string, atMs: number) => [
    { manager, subresource: "status", time: new Date(atMs).toISOString() },
  ];

  it.each(["kubectl", "kubectl-edit", "velero-server"])(
    "by %s holds nothing: only another Tidemark scales by it",
    async (manager) => {
      const world = await specsWorld(engine, ["web"]);
      world.apply("web", { metadata: { managedFields: wrote(manager, world.nowMs) } });
      await world.next();
      expect(world.replicas("web")).toBe(5);
    },
  );

  it("by another Tidemark is a rival, and is named", async () => {
    const world = await specsWorld(engine, ["web"]);
    world.apply("web", { metadata: { managedFields: wrote("tidemark-another", world.nowMs) } });
    await world.next();
    expect(world.replicas("web")).toBe(2);
    expect((await told(world, "web"))?.because).toMatchObject({
      reason: "RivalController",
      message: expect.stringContaining('"tidemark-another"'),
    });
  });
});

describe("an answer that is older than one before", () => {
  it("holds the autoscaler, and counts when it has stayed for five minutes", async () => {
    const world = await specsWorld(engine, ["web", "api"]);
    world.apply("web", { uid: "object-old", target: "api" });
    const old = world.cluster.objects.get("PodAutoscaler/shop/web");
    world.apply("web");
    await world.next();
    if (old) world.cluster.objects.set("PodAutoscaler/shop/web", old);
    for (const workload of world.cluster.workloads.values()) workload.demand = 9;
    await world.next();
    expect([world.replicas("web"), world.replicas("api")]).toEqual([5, 2]);
    expect((await told(world, "web"))?.because.reason).toBe("SpecOutdated");
    world.nowMs += 300_000;
    await world.next();
    expect([world.replicas("web"), world.replicas("api")]).toEqual([5, 9]);
  });
});

describe("a cluster with --specs table", () => {
  it("is not asked for objects", async () => {
    const world = await specsWorld(engine, ["web"], []);
    world.apply("web");
    await world.next();
    expect(world.cluster.specLists).toBe(0);
    expect(await world.records()).toEqual([]);
  });
});

describe("a LIST that leaves out a heavy namespace", () => {
  it("is no answer about its objects: they hold, none of them ends however often it comes, and they go on once the LIST of their namespace is read", async () => {
    const world = await specsWorld(engine, ["web"], ["PodAutoscaler"]);
    world.apply("web");
    await world.next();
    const failure = { code: 0, reason: "Timeout", message: "no answer in time" };
    const { client } = world.cluster;
    const leavingOut = {
      ...client,
      listSpecs: async (request: Parameters<typeof client.listSpecs>[0]) => {
        const answer = await client.listSpecs(request);
        return {
          ...answer,
          listings: answer.listings.flatMap((listing) => [
            {
              ...listing,
              without: new Set(["shop"]),
              outcome: { kind: "listed" as const, objects: [] },
            },
            {
              ...listing,
              namespace: namespace("shop"),
              outcome: { kind: "failed" as const, failure },
            },
          ]),
        };
      },
    };
    const ports = world.cold({ connect: () => Promise.resolve(leavingOut) });
    for (let sync = 0; sync < 4; sync++) {
      world.nowMs += STORED_EVERY_MS;
      await world.next(ports);
      expect(await told(world, "web")).toMatchObject({ because: { reason: "SpecUnknown" } });
    }
    expect(await world.records()).toMatchObject([
      { name: "web", origin: { kind: "PodAutoscaler" } },
    ]);
    expect((await world.records())[0]?.origin?.goneMs).toBeUndefined();
    world.nowMs += STORED_EVERY_MS;
    await world.next();
    expect((await told(world, "web"))?.because.reason).not.toBe("SpecUnknown");
  });
});
