import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type {
  ObjectUpdate,
  WriteBackCounts,
  WriteBackLimits,
} from "../../../lib/stack/cluster/cluster-client.ts";
import { putMetricSource } from "../../../lib/stack/store/records/metric-sources.ts";
import { UPDATES_MAX } from "../../../lib/stack/sync/objects/write-back-objects.ts";
import { STORED_EVERY_MS } from "../../../lib/stack/sync/specs/finding.ts";
import { type Engine, startMemory } from "../../contracts/engines.ts";
import { type SpecsWorld, specsWorld } from "./cluster-specs.ts";

let engine: Engine;
beforeAll(async () => {
  engine = await startMemory();
});
afterAll(() => engine.close());

const MINUTE_OF_SYNCS = 4;
const MINUTE_MS = 60_000;

/** The cluster stores each status that it is told, and every update is kept. */
const withTelling = async (
  workloads: readonly string[],
  told: WriteBackCounts = { written: 1, failed: 0, left: 0 },
) => {
  const world = await specsWorld(engine, workloads);
  const updates: ObjectUpdate[] = [];
  const limits: WriteBackLimits[] = [];
  const writeBack = async (
    all: readonly ObjectUpdate[],
    bounds: WriteBackLimits,
  ): Promise<WriteBackCounts> => {
    updates.push(...all);
    limits.push(bounds);
    for (const update of all)
      if (update.kind === "status" && told.written > 0) store(world, update);
    return told;
  };
  Object.assign(world.cluster.client, { writeBack });
  return { world, updates, limits };
};

const store = (
  world: SpecsWorld,
  { about, status }: Extract<ObjectUpdate, { kind: "status" }>,
): void => {
  const object = world.cluster.objects.get(`${about.of.kind}/${about.namespace}/${about.name}`);
  if (object) object["status"] = status;
};

const kindsOf = (updates: readonly ObjectUpdate[]): readonly string[] =>
  updates.map(({ kind }) => kind);

describe("what a sync writes back to the objects that it has read", () => {
  it("is the status of each object and an Event of each scale, in the sync that made it", async () => {
    const { world, updates } = await withTelling(["web"]);
    world.apply("web", { uid: "object-web" });
    await world.next();
    expect(kindsOf(updates)).toEqual(["status", "event"]);
    const [event] = await world.events();
    expect(updates).toMatchObject([
      {
        about: {
          namespace: "shop",
          name: "web",
          uid: "object-web",
          of: { plural: "podautoscalers" },
        },
        status: { observedGeneration: 1 },
      },
      {
        about: { uid: "object-web" },
        event: { id: event?.id, reason: "SuccessfulRescale", type: "Normal" },
      },
    ]);
  });

  it("is nothing while nothing moves since what the LIST showed", async () => {
    const { world, updates } = await withTelling(["web"]);
    world.apply("web");
    await world.next();
    await world.next();
    const before = updates.length;
    for (let sync = 0; sync < MINUTE_OF_SYNCS; sync++) await world.next();
    expect(updates.length).toBe(before);
  });

  it("says once for each edit of an object what AWS takes for its metrics, as a warning where it is much", async () => {
    const { world, updates } = await withTelling(["web"]);
    await putMetricSource(
      world.tables,
      {
        name: "cw",
        kind: "cloudwatch",
        clusters: [world.record.name],
        namespaces: ["shop"],
        maxMetrics: 500,
        timeoutSeconds: 1,
        private: false,
        aws: {
          region: "eu-central-1",
          roleArn: "arn:aws:iam::123456789012:role/tidemark-prod-source-cw",
          externalId: "of-shop",
          metricNamespaces: ["AWS/*"],
        },
        ...{ version: 1, updatedMs: 0, updatedBy: "test" },
      },
      undefined,
    );
    const asking = (metrics: number) => ({
      scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "web" },
      ...{ minReplicas: 1, maxReplicas: 10 },
      metrics: Array.from({ length: metrics }, (_, at) => ({
        ...{ name: `m${at}`, target: 1, everySeconds: 5 },
        cloudwatch: { source: "cw", namespace: "AWS/SQS", metric: `Age${at}` },
      })),
    });
    const costs = async (syncs: number): Promise<readonly unknown[]> => {
      updates.length = 0;
      for (let sync = 0; sync < syncs; sync++) await world.next();
      return updates.flatMap((update) =>
        update.kind === "event" && update.event.reason === "MetricsCost" ? [update.event] : [],
      );
    };
    world.apply("web", { spec: asking(1) });
    const words = 'AWS takes some $1.75 a month for "m0", asked every 15 s';
    expect(await costs(3)).toMatchObject([
      { type: "Normal", note: `${words} (list prices; everySeconds asks less often)` },
    ]);
    world.nowMs += STORED_EVERY_MS;
    world.apply("web", { spec: asking(8) });
    expect(await costs(3)).toMatchObject([{ type: "Warning", note: expect.stringMatching(/m7/) }]);
    world.nowMs += STORED_EVERY_MS;
    world.apply("web");
    expect(await costs(3)).toEqual([]);
  });

  it("says on an invalid object what is wrong with it", async () => {
    const { world, updates } = await withTelling(["web"]);
    world.apply("web", { spec: { maxReplicas: 3 } });
    await world.next();
    expect(updates).toMatchObject([
      {
        kind: "status",
        status: { conditions: [{ type: "Ready", status: "False", reason: "InvalidSpec" }] },
      },
    ]);
  });

  it("says of an edit that waits to be stored which generation is followed, and no more of it once it is stored", async () => {
    const { world, updates } = await withTelling(["web"]);
    world.apply("web");
    await world.next();
    world.apply("web");
    await world.next();
    const waits = {
      type: "SpecStored",
      status: "False",
      reason: "SpecWaits",
      observedGeneration: 1,
    };
    expect(updates.at(-1)).toMatchObject({
      status: { observedGeneration: 1, conditions: [{ type: "Ready", status: "True" }, waits] },
    });
    world.nowMs += STORED_EVERY_MS;
    await world.next();
    expect(updates.at(-1)).toMatchObject({ status: { observedGeneration: 2 } });
    expect(JSON.stringify(updates.at(-1))).not.toContain("SpecStored");
  });

  it("delays and fails nothing where nothing can be written: the scales are made, and it is tried with the next sync", async () => {
    const { world, updates } = await withTelling(["web"], { written: 0, failed: 1, left: 0 });
    world.apply("web");
    await world.next();
    expect(world.replicas("web")).toBe(5);
    const first = updates.length;
    await world.next();
    expect(kindsOf(updates.slice(first))).toContain("status");
  });

  it("comes to every object in turn where there is room for a few, also while all of them move at every sync and one always fails", async () => {
    const names = Array.from({ length: 12 }, (_, at) => `web-${at}`);
    const world = await specsWorld(engine, names);
    const written = new Map<string, number>();
    const writeBack = async (all: readonly ObjectUpdate[]): Promise<WriteBackCounts> => {
      const [failing, ...others] = all.filter((update) => update.kind === "status").slice(0, 4);
      for (const update of failing?.about.name === "web-0" ? others : [failing, ...others]) {
        if (!update) continue;
        written.set(update.about.name, (written.get(update.about.name) ?? 0) + 1);
        store(world, update);
      }
      return { written: 3, failed: 1, left: all.length - 4 };
    };
    Object.assign(world.cluster.client, { writeBack });
    for (let sync = 0; sync < 24; sync++) {
      for (const name of names) world.apply(name);
      await world.next();
    }
    expect(Math.min(...names.slice(1).map((name) => written.get(name) ?? 0))).toBeGreaterThan(3);
  });

  it("is bounded by requests and by the time that is left", async () => {
    const { world, limits } = await withTelling(["web"]);
    world.apply("web");
    await world.next();
    expect(limits).toMatchObject([{ callsMax: UPDATES_MAX }]);
    expect(limits[0]?.budgetMs).toBeLessThanOrEqual(2_000);
  });

  it("leaves the status of an object to another controller that writes it", async () => {
    const { world, updates } = await withTelling(["web"]);
    const rival = [
      {
        manager: "watermarkpodautoscaler",
        operation: "Update",
        subresource: "status",
        time: new Date(world.nowMs).toISOString(),
      },
    ];
    world.apply("web", { kind: "WatermarkPodAutoscaler", metadata: { managedFields: rival } });
    await world.next();
    expect(updates).toEqual([]);
  });

  it("writes the status of a PodAutoscaler again after a person or a backup has written it", async () => {
    const { world, updates } = await withTelling(["web"]);
    const backup = [
      {
        manager: "velero-server",
        operation: "Update",
        subresource: "status",
        time: new Date(world.nowMs).toISOString(),
      },
    ];
    world.apply("web", { metadata: { managedFields: backup } });
    await world.next();
    expect(updates.flat()).toContainEqual(
      expect.objectContaining({ kind: "status", about: expect.objectContaining({ name: "web" }) }),
    );
  });

  it("says in an Event that a status which a person wrote is written again, and holds nothing for it", async () => {
    const { world, updates } = await withTelling(["web"]);
    world.apply("web");
    await world.next();
    const object = world.cluster.objects.get("PodAutoscaler/shop/web");
    if (!object) throw new Error("there is no object");
    const { conditions, ...rest } = object["status"] as { readonly conditions: readonly object[] };
    const time = new Date(world.nowMs).toISOString();
    const edited = {
      ...rest,
      conditions: conditions.map((condition) => ({ ...condition, message: "written by a person" })),
    };
    const workload = world.cluster.workloads.get("web");
    const events = (): readonly unknown[] =>
      updates.flatMap((update) => (update.kind === "event" ? [update.event] : []));
    for (let sync = 0; sync < MINUTE_OF_SYNCS; sync++) {
      object["status"] = edited;
      Object.assign(object["metadata"] as object, {
        resourceVersion: `edited-${sync}`,
        managedFields: [
          { manager: "kubectl-edit", operation: "Update", subresource: "status", time },
        ],
      });
      if (workload) workload.demand = 6 + sync;
      updates.length = 0;
      await world.next();
      expect(world.replicas("web")).toBe(6 + sync);
      expect(JSON.stringify(updates.filter(({ kind }) => kind === "status"))).toContain('"Ready"');
      expect(JSON.stringify(updates)).not.toContain("written by a person");
      expect(events()).toContainEqual(
        expect.objectContaining({
          type: "Warning",
          reason: "StatusOverwritten",
          note: expect.stringContaining('"kubectl-edit" wrote the status at '),
        }),
      );
    }
    world.nowMs += 6 * MINUTE_MS;
    updates.length = 0;
    await world.next();
    expect(JSON.stringify(events())).not.toContain("StatusOverwritten");
  });
});
