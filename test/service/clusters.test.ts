import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { clusterName } from "../../lib/rules/model/ids.ts";
import { openService } from "../../lib/answers/service/open.ts";
import type { NewCluster, Service } from "../../lib/answers/service/service.ts";
import { scopeChangesOf } from "../../lib/stack/store/history/scope-changes.ts";
import { getCluster, getFleet } from "../../lib/stack/store/records/clusters.ts";
import { NOON } from "../noon.ts";
import { type ServiceWorld, serviceWorld } from "./world/context.ts";
import { hpa } from "./world/manifests.ts";
import { storeSync } from "./world/synced.ts";

let world: ServiceWorld;
let service: Service;
const CONNECTION = { kind: "kubeconfig", path: "/kube/config" } as const;

beforeAll(async () => {
  world = await serviceWorld();
  service = openService(world.context);
});
afterAll(() => world.close());

describe("addCluster()", () => {
  it("fills in period, partition and controller settings", async () => {
    expect(await service.addCluster({ name: "eu-1", connection: CONNECTION })).toEqual({
      name: "eu-1",
      state: "never synced",
      connection: CONNECTION,
      syncPeriodSeconds: 15,
      partitions: [{ name: "default", namespaces: "all others", state: "never synced" }],
      settings: {
        tolerance: 0.1,
        downscaleStabilizationSeconds: 300,
        cpuInitializationPeriodSeconds: 300,
        initialReadinessDelaySeconds: 30,
      },
      version: 1,
    });
  });

  it("refuses a name that is taken", async () => {
    await expect(
      service.addCluster({ name: "eu-1", connection: CONNECTION }),
    ).rejects.toMatchObject({
      code: "service.exists",
      message: 'Cannot add cluster "eu-1": a cluster of that name exists; change it with --replace',
    });
  });

  const faulty = (more: Partial<NewCluster>): NewCluster => ({
    name: "x",
    connection: CONNECTION,
    ...more,
  });
  it.each<[NewCluster, string]>([
    [
      faulty({ name: "EU" }),
      'Cannot add cluster "EU": its name must be small letters, digits and -, at most 63',
    ],
    [
      faulty({ syncPeriodMs: 4_999 }),
      'Cannot add cluster "x": its sync period is 4.999 s, must be 5 s to 15 min',
    ],
    [
      faulty({ syncPeriodMs: 900_001 }),
      'Cannot add cluster "x": its sync period is 900.001 s, must be 5 s to 15 min',
    ],
    [
      faulty({
        settings: {
          cpuInitializationPeriodMs: 32 * 86_400_000,
          initialReadinessDelayMs: 32 * 86_400_000,
          tolerance: 1_001,
        },
      }),
      'Cannot add cluster "x": its CPU initialization period must be at most 31 d; its initial readiness delay must be at most 31 d; its tolerance must be at most 1000',
    ],
    [
      faulty({
        partitions: [
          { name: "a", namespaces: ["one", "two"] },
          { name: "b", namespaces: ["two"] },
        ],
      }),
      'Cannot add cluster "x": the namespace "two" is in two partitions',
    ],
    [
      faulty({ partitions: [{ name: "a" }, { name: "a" }] }),
      'Cannot add cluster "x": the partition "a" is named twice; only one partition may hold all other namespaces',
    ],
  ])("refuses %j", async (wanted, message) => {
    await expect(service.addCluster(wanted)).rejects.toMatchObject({
      name: "TidemarkError",
      code: "service.invalid",
      message,
    });
    expect(await getCluster(world.tables, clusterName("x"))).toBeUndefined();
  });

  it.each([5_000, 900_000])(
    "takes the shortest and the longest period: %i ms",
    async (syncPeriodMs) => {
      const name = `period-${syncPeriodMs}`;
      expect(
        (await service.addCluster({ name, connection: CONNECTION, syncPeriodMs }))
          .syncPeriodSeconds,
      ).toBe(syncPeriodMs / 1000);
      await service.removeCluster(name);
    },
  );
});

describe("a cluster", () => {
  it("shows when each partition was synced", async () => {
    await service.addCluster({ name: "aged", connection: CONNECTION });
    await storeSync(world.context, clusterName("aged"), NOON - 42_000, []);
    expect((await service.cluster("aged")).partitions).toEqual([
      {
        name: "default",
        namespaces: "all others",
        state: "ok",
        syncedAt: "2026-03-01T11:59:18.000Z",
        ageSeconds: 42,
      },
    ]);
    await service.removeCluster("aged");
  });

  it("has the version in which its connection was last stated, so that a lost right is not taken for one that was never there", async () => {
    const stated = async () =>
      (await getCluster(world.tables, clusterName("stated")))?.connectionVersion;
    await service.addCluster({ name: "stated", connection: CONNECTION });
    expect(await stated()).toBe(1);
    await service.pauseCluster("stated");
    await service.replaceCluster({ name: "stated", syncPeriodMs: 20_000 });
    expect(await stated()).toBe(1);
    await service.replaceCluster({ name: "stated", connection: CONNECTION });
    expect(await stated()).toBe(4);
    await service.replaceCluster({ name: "stated", specsFromCluster: ["PodAutoscaler"] });
    expect(await stated()).toBe(4);
    await service.removeCluster("stated");
  });

  it("is paused and resumed by edits of its version", async () => {
    expect((await service.pauseCluster("eu-1", NOON + 60_000)).paused).toEqual({
      by: "ada",
      at: "2026-03-01T12:00:00.000Z",
      until: "2026-03-01T12:01:00.000Z",
    });
    expect((await service.cluster("eu-1")).version).toBe(2);
    const resumed = await service.resumeCluster("eu-1");
    expect(resumed).toMatchObject({ version: 3 });
    expect(resumed).not.toHaveProperty("paused");
  });

  it("is not paused to an end that cannot be written down, and no change of it is kept", async () => {
    const told = async () =>
      (await Array.fromAsync(scopeChangesOf(world.tables, { scope: "cluster", name: "eu-1" })))
        .length;
    const before = await told();
    await expect(service.pauseCluster("eu-1", Number.MAX_SAFE_INTEGER)).rejects.toMatchObject({
      code: "service.invalid",
      message: 'Cannot pause cluster "eu-1": the latest end is 9999-12-31T23:59:59.999Z',
    });
    expect(await told()).toBe(before);
  });

  it("pauses every autoscaler in it", async () => {
    await service.apply([{ file: "a.yaml", text: hpa("web") }], { cluster: "eu-1", dryRun: false });
    await service.pauseCluster("eu-1");
    expect((await service.get({ name: "web" })).state).toBe("paused");
    await service.resumeCluster("eu-1");
  });

  it("is not removed while it has autoscalers", async () => {
    await expect(service.removeCluster("eu-1")).rejects.toMatchObject({
      code: "service.in-use",
      message:
        'Cannot remove cluster "eu-1": it still has autoscalers, such as "default/web"; delete them first',
    });
    await service.delete({ name: "web" });
    await service.removeCluster("eu-1");
    expect(await Array.fromAsync(service.clusters())).toEqual([]);
    await expect(service.cluster("eu-1")).rejects.toMatchObject({
      code: "service.unknown",
      message: 'Cannot find cluster "eu-1": no object has that name',
    });
  });

  it("loses no edit when two persons edit it at once", async () => {
    await service.addCluster({ name: "raced", connection: CONNECTION });
    await Promise.all([
      service.pauseCluster("raced"),
      service.pauseCluster("raced"),
      service.pauseCluster("raced"),
    ]);
    expect((await service.cluster("raced")).version).toBe(4);
    await service.removeCluster("raced");
  });
});

describe("the history of edits", () => {
  const told = async (scope: "cluster" | "fleet", name: string) => {
    const changes = await Array.fromAsync(scopeChangesOf(world.tables, { scope, name }));
    return changes.map(({ verb, version, by, before, after }) => [
      verb,
      version,
      by,
      before !== undefined,
      after !== undefined,
    ]);
  };

  it("keeps every edit of a cluster, across its removal", async () => {
    const steps: readonly (() => Promise<unknown>)[] = [
      () => service.addCluster({ name: "told", connection: CONNECTION }),
      () => service.pauseCluster("told"),
      () =>
        service.replaceCluster({
          name: "told",
          connection: { kind: "secret", secretId: "prod/told" },
        }),
      () => service.removeCluster("told"),
      () => service.addCluster({ name: "told", connection: CONNECTION }),
    ];
    for (const [at, step] of steps.entries()) {
      world.set(NOON + at * 1_000);
      await step();
    }
    expect(await told("cluster", "told")).toEqual([
      ["add", 1, "ada", false, true],
      ["pause", 2, "ada", true, true],
      ["replace", 3, "ada", true, true],
      ["remove", 4, "ada", true, false],
      // The removal took version 5, and counting goes on after it.
      ["add", 6, "ada", false, true],
    ]);
    await service.removeCluster("told");
    world.set(NOON);
  });

  it("keeps every freeze and thaw", async () => {
    await service.freeze("drill");
    world.set(NOON + 1_000);
    await service.thaw();
    world.set(NOON);
    expect((await told("fleet", "fleet")).map(([verb]) => verb)).toEqual(["freeze", "thaw"]);
  });

  it("is written first: nothing is edited when it cannot be", async () => {
    const broken = openService({
      ...world.context,
      insert: () => Promise.reject(new Error("history is read-only")),
    });
    await expect(broken.freeze("x")).rejects.toThrow("history is read-only");
    await expect(broken.addCluster({ name: "never", connection: CONNECTION })).rejects.toThrow(
      "history is read-only",
    );
    expect(await service.fleet()).toEqual({});
    expect(await getCluster(world.tables, clusterName("never"))).toBeUndefined();
  });
});

describe("the fleet", () => {
  it("is frozen with who, when and why, and thawed", async () => {
    expect(await service.fleet()).toEqual({});
    const frozen = { by: "ada", at: "2026-03-01T12:00:00.000Z", reason: "incident 12" };
    expect(await service.freeze("incident 12")).toEqual({ changed: true, frozen });
    expect(await service.fleet()).toEqual({ frozen });
    expect((await getFleet(world.tables)).frozen).toEqual({
      by: "ada",
      atMs: NOON,
      reason: "incident 12",
    });
    expect(await service.thaw()).toEqual({ changed: true });
    expect((await getFleet(world.tables)).version).toBe(4);
  });

  it("keeps the first reason of a freeze until it is replaced or thawed", async () => {
    await service.freeze("incident 12");
    const { version } = await getFleet(world.tables);
    expect(await service.freeze("drill")).toMatchObject({
      changed: false,
      frozen: { reason: "incident 12" },
    });
    expect((await getFleet(world.tables)).version).toBe(version);
    expect(await service.freeze("incident 13", true)).toMatchObject({
      changed: true,
      frozen: { reason: "incident 13" },
    });
    await expect(service.freeze(" ", true)).rejects.toMatchObject({ code: "service.invalid" });
    await service.thaw();
  });

  it("shows every autoscaler as frozen, whatever else it is", async () => {
    await service.addCluster({ name: "eu-9", connection: CONNECTION });
    await service.apply([{ file: "a.yaml", text: hpa("web") }], { cluster: "eu-9", dryRun: false });
    await service.pause({ name: "web" });
    await service.freeze("x");
    expect((await service.get({ name: "web" })).state).toBe("frozen");
    await service.thaw();
    expect((await service.get({ name: "web" })).state).toBe("paused");
  });
});
