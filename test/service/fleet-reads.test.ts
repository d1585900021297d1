import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { findAutoscaler } from "../../lib/answers/service/find-autoscaler.ts";
import { openCommands, openQueries } from "../../lib/answers/service/open.ts";
import { insertByStatement } from "../../lib/stack/store/history/item.ts";
import { raiseSpecVersion } from "../../lib/stack/store/records/autoscalers.ts";
import type { Tables } from "../../lib/stack/store/table/tables.ts";
import { type Engine, startMemory } from "../contracts/engines.ts";
import { around } from "../contracts/faults.ts";
import { newWorld, type World } from "../sync/world.ts";

const CLUSTERS = 120;

let engine: Engine;
let worlds: readonly World[];
beforeAll(async () => {
  engine = await startMemory();
  worlds = await Promise.all(
    Array.from({ length: CLUSTERS }, () =>
      newWorld(engine.client, engine.tables, { web: 4, api: 4 }),
    ),
  );
  for (const world of worlds) await world.sync();
});
afterAll(() => engine.close());

/**
 * Queries over tables that count requests by command, and how many in a row: a request that begins
 * after the answer of another is one deeper.
 */
const counted = () => {
  const requests: Record<string, number> = {};
  let done = 0;
  let depth = 0;
  const client = around(engine.client, async (command, send) => {
    requests[command] = (requests[command] ?? 0) + 1;
    const own = done + 1;
    depth = Math.max(depth, own);
    // All that wait are sent before one is answered.
    await new Promise((resolve) => setImmediate(resolve));
    const answer = await send();
    done = Math.max(done, own);
    return answer;
  });
  const [first] = worlds as readonly [World, ...World[]];
  const tables: Tables = { ...first.tables, client };
  const context = { tables, clock: () => Math.max(...worlds.map(({ nowMs }) => nowMs)) };
  const commands = openCommands({
    ...context,
    insert: insertByStatement(first.tables),
    by: "ada",
    newUid: () => "uid-new",
  });
  return { service: openQueries(context), commands, requests, depth: () => depth };
};

/**
 * A list of 120 clusters with the fleet is three pages of the engine in memory, and one of
 * DynamoDB.
 */
const CLUSTER_PAGES = 3;

describe("the requests of a reader of 120 clusters", () => {
  it("status asks for the fleet with the newest edit and the clusters, and all heads in two requests at once", async () => {
    const { service, requests, depth } = counted();
    const status = await service.status();
    expect(status).toMatchObject({
      clusters: CLUSTERS,
      states: { ok: CLUSTERS },
      partitions: CLUSTERS,
    });
    expect(requests).toEqual({ QueryCommand: CLUSTER_PAGES, BatchGetItemCommand: 2 });
    expect(depth()).toBeLessThanOrEqual(8);
  });

  it("clusters asks for as much, and the connections", async () => {
    const { service, requests, depth } = counted();
    expect((await Array.fromAsync(service.clusters())).map(({ state }) => state)).toEqual(
      Array.from({ length: CLUSTERS }, () => "ok"),
    );
    expect(requests).toEqual({ QueryCommand: CLUSTER_PAGES + 1, BatchGetItemCommand: 2 });
    expect(depth()).toBeLessThanOrEqual(8);
  });

  it("a name that no cluster has is looked for in the indexes of names, each in one query with its head, and then in memory", async () => {
    const { service, requests, depth } = counted();
    const unknown = () => service.get({ name: "wep" });
    await expect(unknown()).rejects.toMatchObject({
      code: "service.unknown",
      message: expect.stringContaining('the nearest name is "web"'),
    });
    expect(requests).toEqual({ QueryCommand: CLUSTER_PAGES + CLUSTERS });
    expect(depth()).toBeLessThanOrEqual(8);
    await expect(unknown()).rejects.toMatchObject({ code: "service.unknown" });
    expect(requests).toEqual({
      QueryCommand: 2 * CLUSTER_PAGES + CLUSTERS,
      BatchGetItemCommand: 2,
    });
  });

  it("a name is found where the record of the fleet cannot be read", async () => {
    const { tables, record } = worlds[0] as World;
    const client = around(tables.client as never, async (command, send) => {
      const answer = (await send()) as {
        readonly Items?: readonly { readonly sk?: { readonly S?: string } }[];
      };
      if (command !== "QueryCommand") return answer;
      return {
        ...answer,
        Items: [
          ...(answer.Items ?? []).filter(({ sk }) => sk?.S !== "fleet"),
          { pk: { S: "fleet" }, sk: { S: "fleet" }, frozen: { S: "?" } },
        ],
      };
    });
    const context = { tables: { ...tables, client }, clock: tables.clock };
    const found = await findAutoscaler(context, { name: "shop/web", cluster: record.name });
    expect(found.record.name).toBe("web");
    await expect(findAutoscaler(context, { name: "web" })).rejects.toMatchObject({
      code: "service.ambiguous",
    });
    await expect(openQueries(context).status()).rejects.toMatchObject({ code: "store.unreadable" });
  });

  it("a name that many clusters have is ambiguous after one item of each cluster was read, with its namespace or without", async () => {
    for (const name of ["web", "shop/web"]) {
      const { service, requests, depth } = counted();
      await expect(service.get({ name })).rejects.toMatchObject({ code: "service.ambiguous" });
      expect(requests["BatchGetItemCommand"]).toBeLessThanOrEqual(6);
      expect(requests["QueryCommand"]).toBe(CLUSTER_PAGES + (name === "web" ? CLUSTERS : 0));
      expect(depth()).toBeLessThanOrEqual(8);
    }
  });

  it("an edit that looks at all clusters asks many of them at once", async () => {
    // In this engine a list of the clusters takes three requests in a row.
    const DEEPEST = 8 + 2 * CLUSTER_PAGES;
    const cleared = counted();
    await expect(cleared.commands.clearOverride({ id: "a-none" })).rejects.toMatchObject({
      code: "service.unknown",
    });
    expect(cleared.depth()).toBeLessThanOrEqual(8);
    await counted().commands.putCalendar({ name: "holidays", dates: ["2026-12-25"] });
    const deleted = counted();
    await deleted.commands.deleteCalendar("holidays");
    expect(deleted.depth()).toBeLessThanOrEqual(DEEPEST);
    const looked = counted();
    await looked.commands.setOverride({ fleet: true, hold: true, reason: "drill", dryRun: true });
    expect(looked.depth()).toBeLessThanOrEqual(DEEPEST);
  });

  it("status asks a cluster for its paused autoscalers after an edit that no sync has read, and only that one", async () => {
    const [first] = worlds as readonly [World, ...World[]];
    await raiseSpecVersion(first.tables, first.partition);
    const { service, requests } = counted();
    await service.status();
    expect(requests).toMatchObject({ QueryCommand: CLUSTER_PAGES + 1, BatchGetItemCommand: 2 });
  });

  it("status reads what the newest sync found of every autoscaler, without its journal", async () => {
    const [, second] = worlds as readonly [World, World, ...World[]];
    second.cluster.broken = true;
    second.nowMs += 15_000;
    await second.sync();
    const { service, requests } = counted();
    const status = await service.status();
    expect(status.states).toEqual({ ok: CLUSTERS - 1, unreachable: 1 });
    expect(status.problems).toMatchObject([
      { kind: "unreachable", message: expect.stringContaining("connection timed out") },
    ]);
    expect(requests["BatchGetItemCommand"]).toBe(2);
    expect(requests["QueryCommand"]).toBe(CLUSTER_PAGES + 1);
  });

  it("status and `override list` read no autoscalers of clusters that have paused ones: the pauses are in the indexes, and read once", async () => {
    const [, , third] = worlds as readonly [World, World, World, ...World[]];
    const { name: cluster } = third.record;
    const edited = { cluster, namespace: "shop", name: "web" };
    const { commands } = counted();
    await commands.pause(edited);
    third.nowMs += 15_000;
    await third.sync();
    const { service, requests } = counted();
    const pauses = async () => (await service.status()).paused.autoscalers;
    expect(await pauses()).toMatchObject([{ ...edited, by: "ada" }]);
    expect(requests).toMatchObject({ QueryCommand: CLUSTER_PAGES + 1, BatchGetItemCommand: 3 });
    expect(await pauses()).toHaveLength(1);
    expect(requests).toMatchObject({
      QueryCommand: 2 * (CLUSTER_PAGES + 1),
      BatchGetItemCommand: 5,
    });
    const before = requests["QueryCommand"] ?? 0;
    await Array.fromAsync(service.overrides({ expired: "no" }));
    // The index of a cluster with an edit that was not synced, and its list.
    expect(requests["QueryCommand"]).toBe(before + CLUSTER_PAGES + 2);
    await commands.setOverride({
      ...edited,
      min: 2,
      reason: "sale",
      untilMs: third.nowMs + 600_000,
      dryRun: false,
    });
    third.nowMs += 15_000;
    await third.sync();
    const after = await service.status();
    expect([after.paused.autoscalers.length, after.overrides?.active.length]).toEqual([1, 1]);
  });
});
