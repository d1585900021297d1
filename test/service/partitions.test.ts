import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { autoscalerUid, clusterName, namespace, partitionName } from "../../lib/rules/model/ids.ts";
import type { ClusterRecord } from "../../lib/rules/model/records.ts";
import { openService } from "../../lib/answers/service/open.ts";
import { handovers, leasedPartitions } from "../../lib/answers/service/partitions/carry-windows.ts";
import type { NewCluster } from "../../lib/answers/service/service.ts";
import { readPage } from "../../lib/stack/store/pages/pages.ts";
import { partitionOf } from "../../lib/stack/store/records/clusters.ts";
import { sync } from "../../lib/stack/sync/sync.ts";
import { around, type TableClient } from "../contracts/faults.ts";
import { NOON } from "../noon.ts";
import { PERIOD_MS, workloadOf } from "../sync/world.ts";
import { CART, type Moving, newMoving, REST, SHOP, SHOPS } from "./world/moving.ts";
import { leaveUncounted } from "./world/uncounted.ts";

const CONNECTION = { kind: "kubeconfig", path: "none" } as const;
const wantedOf = (moving: Moving, partitions: NewCluster["partitions"]): NewCluster => ({
  name: moving.world.record.name,
  connection: CONNECTION,
  ...(partitions && { partitions }),
});
const DIVIDED = [{ name: SHOPS, namespaces: [SHOP, CART] }, { name: REST }];
const WHOLE = [{ name: REST }];
const UIDS = ["cart-1", "cart-2", "infra-1", "infra-2", "shop-1", "shop-2"].map(
  (name) => `uid-${name}`,
);

/** First recommendation of each autoscaler: lost windows would begin anew. */
const firstSeen = async (moving: Moving) =>
  Object.fromEntries(
    [...(await moving.windows())]
      .map(([uid, { memory }]) => [uid, memory.recommendations?.[0]?.firstMs])
      .sort(),
  );
const ALL_FROM_THE_START = Object.fromEntries(UIDS.map((uid) => [uid, NOON + PERIOD_MS]));

const synced = async (times = 3): Promise<Moving> => {
  const moving = await newMoving();
  for (let at = 0; at < times; at++) await moving.syncAll();
  return moving;
};

type Divided = Pick<ClusterRecord, "name" | "partitions">;

class Died extends Error {}

/** Calls to the tables that end at the nth, before or after it took effect. */
const dyingAt = (client: TableClient, dieAt: number, after: boolean): TableClient => {
  let calls = 0;
  return around(client, async (_command, send) => {
    const nth = ++calls;
    if (nth < dieAt) return send();
    if (nth === dieAt && after) await send();
    throw new Died();
  });
};

const replaced = async (moving: Moving, client: TableClient): Promise<"done" | "died"> => {
  try {
    await openService(moving.context(client)).replaceCluster(wantedOf(moving, DIVIDED));
    return "done";
  } catch (error) {
    if (!(error instanceof Died)) throw error;
    return "died";
  }
};

const diesAndIsDoneAgain = async (dieAt: number, after: boolean): Promise<"done" | "died"> => {
  const moving = await synced();
  const { client } = moving.world.tables;
  const ended = await replaced(moving, dyingAt(client, dieAt, after));
  expect(await firstSeen(moving), `died at call ${dieAt}`).toEqual(ALL_FROM_THE_START);
  // The dead mover's leases run out, and syncs go on with whatever partitions there are.
  for (let at = 0; at < 4; at++) await moving.syncAll();
  expect(await firstSeen(moving), `died at call ${dieAt}, synced`).toEqual(ALL_FROM_THE_START);
  await replaced(moving, client);
  await moving.syncAll();
  expect(await firstSeen(moving), `died at call ${dieAt}, done again`).toEqual(ALL_FROM_THE_START);
  expect((await moving.cluster()).partitions).toHaveLength(2);
  return ended;
};

describe("replacing the partitions of a cluster", () => {
  it("carries the windows of the namespaces that pass, there and back", async () => {
    const moving = await synced();
    const service = openService(moving.context());
    expect((await service.replaceCluster(wantedOf(moving, DIVIDED))).partitions).toMatchObject([
      { name: SHOPS },
      { name: REST },
    ]);
    expect(await firstSeen(moving)).toEqual(ALL_FROM_THE_START);
    expect(await moving.syncAll()).toMatchObject([
      { kind: "completed", autoscalers: 4 },
      { kind: "completed", autoscalers: 2 },
    ]);
    expect(await firstSeen(moving)).toEqual(ALL_FROM_THE_START);
    await service.replaceCluster(wantedOf(moving, WHOLE));
    expect(await moving.syncAll()).toMatchObject([{ kind: "completed", autoscalers: 6 }]);
    expect(await firstSeen(moving)).toEqual(ALL_FROM_THE_START);
  });

  it("leaves no page behind in a partition that is no more, and its epoch", async () => {
    const moving = await synced();
    const service = openService(moving.context());
    await service.replaceCluster(wantedOf(moving, DIVIDED));
    await moving.syncAll();
    await service.replaceCluster(wantedOf(moving, WHOLE));
    const shops = await moving.head(SHOPS);
    expect([shops.pages, shops.epoch > 3]).toEqual([[], true]);
    const place = {
      partition: { cluster: moving.world.record.name, partition: SHOPS },
      generation: shops.pageGeneration - 1,
      index: 0,
    };
    expect(await readPage(moving.world.tables, place)).toBeUndefined();
    // Divided the same way again, it begins from there.
    await service.replaceCluster(wantedOf(moving, DIVIDED));
    expect(await firstSeen(moving)).toEqual(ALL_FROM_THE_START);
    expect((await moving.head(SHOPS)).epoch).toBeGreaterThan(shops.epoch);
  });

  it("ends a run where its own partition was last evaluated, and never uses an epoch again", async () => {
    const moving = await synced();
    const before = await moving.head(REST);
    moving.world.nowMs += 4_000;
    await openService(moving.context()).replaceCluster(wantedOf(moving, DIVIDED));
    const [run] = (await moving.windows()).get("uid-shop-1")?.memory.recommendations ?? [];
    expect(run?.lastMs).toBe(before.evaluatedMs);
    const [shops, rest] = [await moving.head(SHOPS), await moving.head(REST)];
    expect(shops.epoch).toBeGreaterThan(before.epoch);
    expect(rest.epoch).toBeGreaterThan(before.epoch);
    expect(shops.nowMs).toBe(before.nowMs);
  });

  it("waits for open intents, and the scale that settles counts where the autoscaler goes", async () => {
    const moving = await synced();
    workloadOf(moving.world, "shop-1").demand = 7;
    moving.world.cluster.faults.push("lost answer");
    await moving.syncAll();
    expect((await moving.head(REST)).intents).toHaveLength(1);
    await openService(moving.context()).replaceCluster(wantedOf(moving, DIVIDED));
    expect((await moving.head(REST)).intents).toEqual([]);
    expect((await moving.windows()).get("uid-shop-1")?.memory.scaleUps).toMatchObject([
      { change: 4, eventId: "uid-shop-1:4" },
    ]);
  });

  it("waits for a settled scale that no windows count yet, so that it counts where the autoscaler goes", async () => {
    const moving = await synced();
    const { world } = moving;
    const scale = {
      id: "uid-shop-1:4",
      uid: autoscalerUid("uid-shop-1"),
      from: 3,
      to: 7,
      outcome: "applied",
    } as const;
    const partition = { cluster: world.record.name, partition: REST };
    await leaveUncounted(world.tables, partition, {
      ...scale,
      decidedMs: world.nowMs,
      settledMs: world.nowMs,
    });
    expect((await moving.head(REST)).uncounted).toHaveLength(1);
    await openService(moving.context()).replaceCluster(wantedOf(moving, DIVIDED));
    expect((await moving.head(REST)).uncounted).toEqual([]);
    expect((await moving.windows()).get("uid-shop-1")?.memory.scaleUps).toMatchObject([
      { change: 4, eventId: "uid-shop-1:4" },
    ]);
  });

  it("is planned from its write on, not from where its wait for open intents began", async () => {
    const moving = await synced();
    const { world } = moving;
    workloadOf(world, "shop-1").demand = 7;
    world.cluster.faults.push("lost answer");
    await moving.syncAll();
    const beganMs = world.nowMs;
    await openService(moving.context()).replaceCluster(wantedOf(moving, DIVIDED));
    expect(world.nowMs - beganMs).toBeGreaterThan(2 * PERIOD_MS);
    expect((await moving.cluster()).plannedFromMs).toBe(world.nowMs);
  });

  it("looks at open intents again under its claim: one that was stored after its first look is waited for", async () => {
    const moving = await synced();
    const { world } = moving;
    workloadOf(world, "shop-1").demand = 9;
    let isFirst = true;
    const client = around(world.tables.client, async (command, send) => {
      if (command === "UpdateItemCommand" && isFirst) {
        isFirst = false;
        world.cluster.faults.push("lost answer");
        await moving.syncAll();
        expect((await moving.head(REST)).intents).toHaveLength(1);
      }
      return send();
    });
    const before = world.nowMs;
    await openService(moving.context(client)).replaceCluster(wantedOf(moving, DIVIDED));
    expect(isFirst).toBe(false);
    expect(world.nowMs - before).toBeGreaterThan(2 * PERIOD_MS);
    expect((await moving.windows()).get("uid-shop-1")?.memory.scaleUps).toHaveLength(1);
    expect((await moving.head(REST)).intents).toEqual([]);
  });

  it("is refused while an intent stays open, and changes nothing", async () => {
    const moving = await synced();
    workloadOf(moving.world, "shop-1").demand = 7;
    moving.world.cluster.faults.push("lost answer");
    await moving.syncAll();
    const context = moving.context();
    const still = { ...context, tables: { ...context.tables, wait: async () => undefined } };
    const [before, { epoch }] = [await moving.cluster(), await moving.head(REST)];
    await expect(
      openService(still).replaceCluster(wantedOf(moving, DIVIDED)),
    ).rejects.toMatchObject({
      name: "TidemarkError",
      code: "service.busy",
      message: `Cannot move namespaces of cluster "${before.name}": partition "default" has an open intent; try again later`,
    });
    expect(await moving.cluster()).toEqual(before);
    expect((await moving.head(REST)).epoch).toBe(epoch);
  });

  it("is refused where a namespace with autoscalers would be in no partition", async () => {
    const moving = await synced();
    await expect(
      openService(moving.context()).replaceCluster(
        wantedOf(moving, [{ name: REST, namespaces: [SHOP] }]),
      ),
    ).rejects.toMatchObject({
      code: "service.unmovable",
      message:
        'Cannot move namespace "cart": it has autoscalers, "cart-1" first, and no partition would hold it',
    });
    expect((await moving.cluster()).version).toBe(1);
  });

  it("never loses a window, wherever it dies, and is done by doing it again", async () => {
    let died = 0;
    for (const after of [false, true]) {
      for (let dieAt = 1; (await diesAndIsDoneAgain(dieAt, after)) === "died"; dieAt++) died++;
    }
    expect(died).toBeGreaterThan(20);
  });

  it("is abandoned when it stalls past its leases, and the scales made meanwhile come along", async () => {
    const moving = await synced();
    let stalled = 0;
    const client = around(moving.world.tables.client, async (command, send) => {
      // The put of the cluster: every other put of the mover is a page or an item of history.
      if (
        command === "PutItemCommand" &&
        stalled === 0 &&
        (await moving.head(SHOPS).catch(() => undefined))?.pages.length === 1
      ) {
        stalled++;
        moving.world.nowMs += 40_000;
        workloadOf(moving.world, "shop-1").demand = 9;
        await moving.syncAll();
      }
      return send();
    });
    await openService(moving.context(client)).replaceCluster(wantedOf(moving, DIVIDED));
    expect(stalled).toBe(1);
    // Version 2 is the sync's, which decided the race; 3 the flip that came after it.
    expect((await moving.cluster()).version).toBe(3);
    expect((await moving.windows()).get("uid-shop-1")?.memory.scaleUps).toMatchObject([
      { change: 6 },
    ]);
    await moving.syncAll();
    expect(await firstSeen(moving)).toMatchObject(
      Object.fromEntries(
        Object.entries(ALL_FROM_THE_START).filter(([uid]) => uid !== "uid-shop-1"),
      ),
    );
  });

  it("copies nothing when it stalled while another edit moved the same namespaces, and they were scaled there", async () => {
    const moving = await synced();
    let stood = 0;
    const client = around(moving.world.tables.client, async (command, send) => {
      // His first claim: he has read the cluster as it was.
      if (command === "UpdateItemCommand" && stood++ === 0) {
        await openService(moving.context()).replaceCluster(wantedOf(moving, DIVIDED));
        workloadOf(moving.world, "shop-1").demand = 9;
        moving.world.nowMs += PERIOD_MS;
        expect(
          await sync(moving.world.worker(), {
            cluster: moving.world.record.name,
            partition: SHOPS,
            dueMs: moving.world.nowMs,
            periodMs: PERIOD_MS,
          }),
        ).toMatchObject({
          events: [{ name: "shop-1", to: 9 }],
        });
      }
      return send();
    });
    await openService(moving.context(client)).replaceCluster(wantedOf(moving, DIVIDED));
    expect((await moving.windows()).get("uid-shop-1")?.memory.scaleUps).toMatchObject([
      { change: 6 },
    ]);
  });

  it("loses nothing when two people do it at once", async () => {
    const moving = await synced();
    const service = openService(moving.context());
    await Promise.all([
      service.replaceCluster(wantedOf(moving, DIVIDED)),
      service.replaceCluster(
        wantedOf(moving, [
          { name: SHOPS, namespaces: [SHOP] },
          { name: "carts", namespaces: [CART] },
          { name: REST },
        ]),
      ),
    ]);
    expect((await moving.cluster()).version).toBeGreaterThanOrEqual(3);
    await moving.syncAll();
    expect(await firstSeen(moving)).toEqual(ALL_FROM_THE_START);
  });
});

describe("handovers()", () => {
  const names = ["shop", "cart", "infra", "team", "base"].map(namespace);
  /** Some of the namespaces in two partitions, all others in a third or in none. */
  const divided = fc
    .record({
      places: fc.array(fc.constantFrom("a", "b", "rest"), {
        minLength: names.length,
        maxLength: names.length,
      }),
      rest: fc.boolean(),
    })
    .map(({ places, rest }): ClusterRecord["partitions"] => [
      ...["a", "b"].map((name) => ({
        name: partitionName(name),
        namespaces: names.filter((_, at) => places[at] === name),
      })),
      ...(rest ? [{ name: partitionName("rest") }] : []),
    ]);

  it("always leases what a namespace leaves and what it enters, named or not, and nothing for namespaces that stay", () => {
    fc.assert(
      fc.property(
        divided,
        divided,
        fc.constantFrom(...names, namespace("unnamed")),
        (one, other, inside) => {
          const [before, after] = [one, other].map((partitions) => ({
            name: clusterName("eu-1"),
            partitions,
          })) as [Divided, Divided];
          const [from, to] = [partitionOf(before, inside), partitionOf(after, inside)];
          const leased = leasedPartitions(handovers(before, after));
          if (from !== to)
            expect(leased).toEqual(
              expect.arrayContaining([from, to].filter((name) => name !== undefined)),
            );
          expect(handovers(before, before)).toEqual([]);
        },
      ),
    );
  });
});
