import {
  type AttributeValue,
  DeleteItemCommand,
  type DynamoDBClient,
  PutItemCommand,
  QueryCommand,
} from "@aws-sdk/client-dynamodb";
import { describe, expect, it } from "vitest";
import { fieldManagerOf } from "../../lib/stack/cluster/scale.ts";
import type { TableIds } from "../../lib/rules/model/records.ts";
import { rememberTables } from "../../lib/answers/service/clusters/fleet.ts";
import { openService } from "../../lib/answers/service/open.ts";
import { LOST_NUMBERS } from "../../lib/stack/store/head/repair-head.ts";
import { listAutoscalers } from "../../lib/stack/store/records/autoscalers.ts";
import { getCluster, getFleet, putFleet } from "../../lib/stack/store/records/clusters.ts";
import { autoscalersPk, FLEET_PK } from "../../lib/stack/store/table/keys.ts";
import type { Tables } from "../../lib/stack/store/table/tables.ts";
import type { SyncPorts } from "../../lib/stack/sync/sync-ports.ts";
import { warmCache } from "../../lib/stack/sync/load/warm-cache.ts";
import { around, type TableClient } from "../contracts/faults.ts";
import { PERIOD_MS, workloadOf } from "../sync/world.ts";
import { newDamaged, RATE_MS } from "./world/damaged.ts";

type Item = Record<string, AttributeValue>;

const FORMER: TableIds = { state: "state-1", history: "history-1" };
const RESTORED: TableIds = { state: "state-2", history: "history-2" };

/**
 * A stack whose tables can be restored: the state as it was, under other ids. The history keeps
 * what it has, as where it was copied a moment later.
 */
const newStack = async (ids: TableIds | "none" = FORMER) => {
  const damaged = await newDamaged();
  const { world } = damaged;
  const client = world.tables.client as DynamoDBClient;
  let present = FORMER;
  const withTables = (through: TableClient = world.tables.client): Tables => ({
    ...damaged.context(through).tables,
    ...(ids !== "none" && { ids: async () => present }),
  });
  const tables = withTables();
  await rememberTables(tables);
  const keys = [
    FLEET_PK,
    autoscalersPk(world.record.name),
    `partition#${world.record.name}#default`,
  ];
  const itemsOf = async (pk: string): Promise<readonly Item[]> => {
    const found: Item[] = [];
    let from: Item | undefined;
    do {
      const ask = {
        TableName: "state",
        KeyConditionExpression: "pk = :pk",
        ExpressionAttributeValues: { ":pk": { S: pk } },
      };
      const { Items = [], LastEvaluatedKey } = await client.send(
        new QueryCommand({ ...ask, ...(from && { ExclusiveStartKey: from }) }),
      );
      found.push(...Items);
      from = LastEvaluatedKey;
    } while (from);
    return found;
  };
  const allItems = async () => (await Promise.all(keys.map(itemsOf))).flat();
  const environment = (cache = warmCache()): SyncPorts => damaged.worker({ tables, cache });
  return {
    damaged,
    tables,
    withTables,
    environment,
    context: (through?: TableClient) => ({
      ...damaged.context(through),
      tables: withTables(through),
    }),
    service: () => openService({ ...damaged.context(), tables }),
    backup: allItems,
    restore: async (items: readonly Item[]) => {
      for (const { pk = { S: "" }, sk = { S: "" } } of await allItems())
        await client.send(new DeleteItemCommand({ TableName: "state", Key: { pk, sk } }));
      for (const item of items)
        await client.send(new PutItemCommand({ TableName: "state", Item: item }));
      present = RESTORED;
    },
    wants: (demand: number) => {
      for (const name of ["api", "web"]) workloadOf(world, name).demand = demand;
    },
    sync: (ports = environment()) => damaged.sync(ports),
  };
};
type Stack = Awaited<ReturnType<typeof newStack>>;

/**
 * Scaled from 2 to 5 after the instant of the restore; a period later both workloads are in need of
 * 9.
 */
const lostScale = async (ids?: "none"): Promise<Stack> => {
  const stack = await newStack(ids);
  await stack.sync();
  const before = await stack.backup();
  stack.wants(5);
  expect(await stack.sync()).toMatchObject({ kind: "completed", events: [{ to: 5 }, { to: 5 }] });
  await stack.restore(before);
  stack.wants(9);
  return stack;
};

const heldFor = async (stack: Stack, sinceMs: number, ports?: SyncPorts): Promise<number> => {
  const { world, replicas } = stack.damaged;
  for (let syncs = 0; syncs < 10; syncs++) {
    await stack.sync(ports);
    if (replicas().every((count) => count === 9)) return world.nowMs - sinceMs;
    expect(replicas()).toEqual([5, 5]);
  }
  return Number.POSITIVE_INFINITY;
};

describe("restored tables", () => {
  it("would scale again at once if nothing told them from the former ones, inside the limit of one scale a minute", async () => {
    const stack = await lostScale("none");
    await stack.sync();
    expect(stack.damaged.replicas()).toEqual([9, 9]);
  });

  it("are not written by a sync, which drops its message and gives its lease back", async () => {
    const stack = await lostScale();
    for (let syncs = 0; syncs < 6; syncs++)
      expect(await stack.sync()).toMatchObject({ kind: "dropped", why: "restored" });
    expect(stack.damaged.replicas()).toEqual([5, 5]);
    expect(await stack.damaged.world.head()).toMatchObject({ leaseUntilMs: 0 });
  });

  it("are the first problem of the status, and in the words of the fleet", async () => {
    const stack = await lostScale();
    const { problems, healthy } = await stack.service().status();
    expect(healthy).toBe(false);
    expect(problems[0]).toMatchObject({
      kind: "restored",
      next: expect.stringContaining("tidemark fleet adopt"),
    });
    expect(await stack.service().fleet()).toEqual({ restored: true });
  });

  it("are read anew by a warm environment where the same epochs and versions come again, with later scales", async () => {
    const stack = await newStack();
    const { world, replicas } = stack.damaged;
    const warm = stack.environment();
    await stack.sync(warm);
    const before = await stack.backup();
    stack.wants(5);
    await stack.sync(warm);
    await stack.restore(before);
    // The number of every epoch and page of the lost scale comes again, with a scale a minute later.
    const { version, ...fleet } = await getFleet(stack.tables);
    await putFleet(stack.tables, { ...fleet, tables: RESTORED }, version);
    world.nowMs += RATE_MS;
    stack.wants(9);
    await stack.sync();
    expect(replicas()).toEqual([9, 9]);
    const scaledMs = world.nowMs;
    stack.wants(12);
    while (world.nowMs - scaledMs < RATE_MS - PERIOD_MS) await stack.sync(warm);
    expect(replicas()).toEqual([9, 9]);
  });

  it("hold also where only the history is another one", async () => {
    const stack = await newStack();
    await stack.sync();
    const ports = stack.damaged.worker({
      tables: { ...stack.tables, ids: async () => ({ ...FORMER, history: "another" }) },
    });
    expect(await stack.sync(ports)).toMatchObject({ why: "restored" });
  });
});

describe("adopt()", () => {
  it("freezes the fleet; after a thaw every autoscaler goes on as if it had just been scaled as far as its rules allow", async () => {
    const stack = await lostScale();
    expect(await stack.service().adopt()).toMatchObject({
      clusters: 1,
      autoscalers: 2,
      frozen: { by: "ada" },
    });
    const adoptedMs = stack.damaged.world.nowMs;
    expect(await stack.sync()).toMatchObject({
      kind: "completed",
      stopped: { reason: "FleetFrozen" },
    });
    expect(stack.damaged.replicas()).toEqual([5, 5]);
    await stack.service().thaw();
    expect(await heldFor(stack, adoptedMs)).toBe(RATE_MS);
    expect((await stack.service().fleet()).restored).toBeUndefined();
  });

  it("keeps a freeze that is stored, with its reason, and counts the restores", async () => {
    const stack = await newStack();
    await stack.service().freeze("incident-12");
    await stack.restore(await stack.backup());
    expect(await stack.service().adopt()).toMatchObject({ frozen: { reason: "incident-12" } });
    expect(await getFleet(stack.tables)).toMatchObject({
      tables: RESTORED,
      restores: 1,
      frozen: { reason: "incident-12" },
    });
  });

  it("lets no freeze, pause or deletion that the restore took back act before a person thaws", async () => {
    const stack = await newStack();
    await stack.sync();
    const before = await stack.backup();
    const named = (name: string) => ({
      cluster: stack.damaged.world.record.name,
      namespace: "shop",
      name,
    });
    await stack.service().freeze("incident-12");
    await stack.service().delete(named("web"));
    await stack.service().pause(named("api"));
    await stack.restore(before);
    stack.wants(9);
    await stack.sync();
    await stack.service().adopt();
    for (let syncs = 0; syncs < 8; syncs++) await stack.sync();
    expect(stack.damaged.replicas()).toEqual([2, 2]);
    // Edits work again, though the history has the changes of the lost timeline.
    expect(await stack.service().delete(named("web"))).toMatchObject({ changed: true });
    expect(await stack.service().pause(named("api"))).toMatchObject({ changed: true });
    await stack.service().thaw();
    for (let syncs = 0; syncs < 8; syncs++) await stack.sync();
    expect(stack.damaged.replicas()).toEqual([2, 2]);
  });

  it("raises epochs, generations and versions above all that were lost, so that a later scale has an event of its own", async () => {
    const stack = await lostScale();
    const { world } = stack.damaged;
    const eventsBefore = await world.events();
    await stack.service().adopt();
    expect((await world.head()).epoch).toBeGreaterThan(LOST_NUMBERS);
    expect((await getCluster(stack.tables, world.record.name))?.version).toBeGreaterThan(
      LOST_NUMBERS,
    );
    const records = await Array.fromAsync(listAutoscalers(stack.tables, world.record.name));
    expect(
      records.map((item) => item.kind === "read" && item.record.generation > LOST_NUMBERS),
    ).toEqual([true, true]);
    await stack.service().thaw();
    await heldFor(stack, stack.damaged.world.nowMs);
    const events = await stack.damaged.world.events();
    expect(events.length).toBe(eventsBefore.length + 2);
    expect(new Set(events.map(({ id }) => id)).size).toBe(events.length);
  });

  it("leaves a warm environment nothing of the lost timeline, also where its tables have the same names", async () => {
    const stack = await newStack();
    const warm = stack.environment();
    await stack.sync(warm);
    const before = await stack.backup();
    stack.wants(5);
    await stack.sync(warm);
    await stack.sync(warm);
    await stack.restore(before);
    stack.wants(9);
    await stack.service().adopt();
    await stack.service().thaw();
    expect(await heldFor(stack, stack.damaged.world.nowMs, warm)).toBe(RATE_MS);
  });

  it("gives the cluster another name for its scales, so that two stacks with copies of one table see each other", async () => {
    const stack = await lostScale();
    const { name } = stack.damaged.world.record;
    const former = await getCluster(stack.tables, name);
    await stack.service().adopt();
    const adopted = await getCluster(stack.tables, name);
    expect(fieldManagerOf({ uid: "uid-1", ...adopted })).not.toBe(
      fieldManagerOf({ uid: "uid-1", ...former }),
    );
    expect(adopted?.restoredAs).toMatch(/^r1-/);
  });

  it("refuses tables that are those of the fleet record", async () => {
    const stack = await newStack();
    await expect(stack.service().adopt()).rejects.toMatchObject({ code: "service.not-restored" });
  });

  it("that dies at any call leaves everything held, and a repeat completes it", async () => {
    for (let dieAt = 1, died = true; died; dieAt++) {
      const stack = await lostScale();
      let calls = 0;
      const dying = around(stack.damaged.world.tables.client, async (_command, send) => {
        if (++calls >= dieAt) throw new Error("died");
        return send();
      });
      died = await openService(stack.context(dying))
        .adopt()
        .then(
          () => false,
          () => true,
        );
      if (died) expect((await stack.sync()).kind).toBe("dropped");
      // What died may have held a lease.
      stack.damaged.world.nowMs += 4 * PERIOD_MS;
      if (died) await stack.service().adopt();
      const adoptedMs = stack.damaged.world.nowMs;
      expect((await stack.service().fleet()).frozen).toBeDefined();
      await stack.service().thaw();
      const held = await heldFor(stack, adoptedMs);
      if (died) expect(held).toBe(RATE_MS);
      expect(dieAt).toBeLessThan(100);
    }
  });
});
