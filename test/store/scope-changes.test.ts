import { describe, expect, it } from "vitest";
import type { ScopeChangeRecord } from "../../lib/rules/model/changes.ts";
import { clusterName } from "../../lib/rules/model/ids.ts";
import type { Tables } from "../../lib/stack/store/table/tables.ts";
import { EVENT_DAYS_KEPT, ttlOf } from "../../lib/stack/store/history/events.ts";
import type { HistoryItem } from "../../lib/stack/store/history/item.ts";
import {
  addedMs,
  insertScopeChange,
  scopeChangesOf,
  scopeChangesParams,
} from "../../lib/stack/store/history/scope-changes.ts";

const CHANGE: ScopeChangeRecord = {
  id: "0a1b",
  scope: "cluster",
  name: "eu-1",
  version: 3,
  atMs: 1_795_262_400_000,
  by: "ada",
  verb: "pause",
  before: "{}",
  after: '{"paused":true}',
};

describe("the changes of clusters and of the fleet", () => {
  it("are inserted under their scope in order of time, and kept as long as events", async () => {
    const inserted: HistoryItem[] = [];
    await insertScopeChange(async (items) => {
      inserted.push(...items);
      return items.map(() => ({ kind: "inserted" }));
    }, CHANGE);
    expect(inserted).toEqual([
      {
        pk: "changes#cluster#eu-1",
        sk: "change#001795262400000#0a1b",
        body: JSON.stringify(CHANGE),
        ttlSeconds: ttlOf(CHANGE.atMs, EVENT_DAYS_KEPT),
      },
    ]);
  });

  it.each(["add", "pause", "replace"] as const)(
    "say when a cluster was added only where the oldest that is kept is its addition: %s",
    async (verb) => {
      const body = { S: JSON.stringify({ ...CHANGE, verb }) };
      const tables = {
        historyTable: "history",
        client: { send: async () => ({ Items: [{ pk: { S: "p" }, sk: { S: "s" }, body }] }) },
      } as unknown as Tables;
      expect(await addedMs(tables, clusterName("eu-1"))).toBe(
        verb === "add" ? CHANGE.atMs : undefined,
      );
    },
  );

  it("of the wakes of a cluster stand among those of the cluster, and no reader confuses them", async () => {
    const wake: ScopeChangeRecord = { ...CHANGE, id: "0c2d", scope: "wake", verb: "add" };
    const asked: unknown[] = [];
    const tables = {
      historyTable: "history",
      client: {
        send: async ({ input }: { input: unknown }) => {
          asked.push(input);
          return {
            Items: [wake, CHANGE].map((change) => ({
              pk: { S: "p" },
              sk: { S: "s" },
              body: { S: JSON.stringify(change) },
            })),
          };
        },
      },
    } as unknown as Tables;
    const name = clusterName("eu-1");
    expect(await Array.fromAsync(scopeChangesOf(tables, { scope: "cluster", name }))).toEqual([
      CHANGE,
    ]);
    expect(await Array.fromAsync(scopeChangesOf(tables, { scope: "wake", name }))).toEqual([wake]);
    // The addition of a wake is no addition of its cluster.
    expect(await addedMs(tables, name)).toBeUndefined();
    expect(asked[0]).toMatchObject({
      ExpressionAttributeValues: { ":pk": { S: "changes#cluster#eu-1" } },
    });
    expect(asked[1]).toEqual(asked[0]);
  });

  it("are read by one query each", () => {
    expect(scopeChangesParams("history", { scope: "fleet", name: "fleet" })).toEqual({
      TableName: "history",
      KeyConditionExpression: "pk = :pk AND sk BETWEEN :since AND :last",
      ExpressionAttributeValues: {
        ":pk": { S: "changes#fleet#fleet" },
        ":since": { S: "change#000000000000000" },
        ":last": { S: "change#~" },
      },
      ConsistentRead: true,
    });
  });
});
