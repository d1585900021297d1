import { GetItemCommand, PutItemCommand } from "@aws-sdk/client-dynamodb";
import { marshall, unmarshall } from "@aws-sdk/util-dynamodb";
import { beforeEach, describe, expect, it } from "vitest";
import { autoscalerUid, clusterName, namespace, partitionName } from "../../lib/rules/model/ids.ts";
import type { ClusterRecord } from "../../lib/rules/model/records.ts";
import { DEFAULT_SETTINGS } from "../../lib/rules/model/spec-common.ts";
import {
  deleteAutoscaler,
  getAutoscaler,
  lastGeneration,
  listAutoscalers,
  putAutoscaler,
  markGone,
} from "../../lib/stack/store/records/autoscalers.ts";
import {
  deleteCluster,
  getCluster,
  getFleet,
  lastVersion,
  listClusters,
  putCluster,
  putFleet,
  raiseClusterVersion,
  autoscalersOf,
  namespacesOf,
  partitionOf,
} from "../../lib/stack/store/records/clusters.ts";
import { moveStoredBytes, readStoredBytes } from "../../lib/stack/store/records/stored-bytes.ts";
import { autoscalerKey, itemKey } from "../../lib/stack/store/table/keys.ts";
import type { Tables } from "../../lib/stack/store/table/tables.ts";
import { autoscalerRecord, collected, testTables } from "../sync/world.ts";
import type { Engine } from "./engines.ts";
import { once, withFaults } from "./faults.ts";

let clusters = 0;

/**
 * What the records that people edit must do on every engine: change under their own version alone.
 */
export const recordsContract = (engine: () => Engine): void => {
  describe("records", () => {
    let tables: Tables;
    let cluster: ClusterRecord;
    const record = (name: string, generation = 1) =>
      autoscalerRecord(cluster.name, name, generation);

    beforeEach(() => {
      tables = testTables(engine().client, engine().tables, () => 0);
      cluster = {
        name: clusterName(`records-${++clusters}`),
        uid: `uid-of-${clusters}`,
        syncPeriodMs: 15_000,
        partitions: [
          { name: partitionName("shops"), namespaces: [namespace("shop"), namespace("cart")] },
          { name: partitionName("rest") },
        ],
        settings: DEFAULT_SETTINGS,
        version: 1,
      };
    });

    it("a record keeps the object of the cluster that it is a copy of, also when a pause replaces it", async () => {
      const origin = {
        apiVersion: "tidemark.dev/v1",
        kind: "PodAutoscaler",
        uid: "object-1",
        generation: 3,
      } as const;
      await putAutoscaler(tables, { ...record("web"), origin }, undefined);
      const stored = await getAutoscaler(tables, record("web"));
      if (!stored) throw new Error("nothing is stored");
      await putAutoscaler(
        tables,
        { ...stored, generation: 2, paused: { by: "a person", atMs: 1 } },
        1,
      );
      expect(await getAutoscaler(tables, record("web"))).toMatchObject({ generation: 2, origin });
    });

    it("overrides of the fleet, a cluster and an autoscaler are read as they were stored, with the fields of a later version", async () => {
      const set = { min: 3, max: 3, minFactorMilli: 1_500, hold: true, perMinute: 2 };
      const one = {
        id: "o-1",
        set,
        fromMs: 1,
        untilMs: 2,
        reason: "sale",
        by: "ann",
        atMs: 1,
        force: true,
        ticket: 4_711,
      };
      const overrides = [one, { ...one, id: "o-2", namespace: "shop" }];
      const { version } = await getFleet(tables);
      await putFleet(tables, { overrides }, version);
      await putCluster(tables, { ...cluster, overrides }, undefined);
      await putAutoscaler(tables, { ...record("web"), overrides }, undefined);
      for (const item of [
        await getFleet(tables),
        await getCluster(tables, cluster.name),
        await getAutoscaler(tables, record("web")),
      ])
        expect(item?.overrides).toEqual(overrides);
      await putFleet(tables, {}, version + 1);
    });

    it("the bytes of a namespace move only from what was read: a sync that was overtaken, and a late copy, count nothing", async () => {
      const of = {
        partition: { cluster: cluster.name, partition: partitionName("shops") },
        namespace: "shop",
      };
      expect(await readStoredBytes(tables, of.partition, "shop")).toBe(0);
      expect(await moveStoredBytes(tables, { ...of, from: 0, to: 100 })).toBe(true);
      expect(await moveStoredBytes(tables, { ...of, from: 0, to: 50 })).toBe(false);
      expect(await moveStoredBytes(tables, { ...of, from: 100, to: 200 })).toBe(true);
      expect(await moveStoredBytes(tables, { ...of, from: 100, to: 150 })).toBe(false);
      expect(await readStoredBytes(tables, of.partition, "shop")).toBe(200);
    });

    it("a record is marked as gone once, and not where it was replaced, is no copy any more, or was deleted", async () => {
      const origin = {
        apiVersion: "tidemark.dev/v1",
        kind: "PodAutoscaler",
        uid: "object-1",
        generation: 3,
      } as const;
      const copy = { ...record("web"), origin };
      const stored = async () => (await getAutoscaler(tables, copy))?.origin?.goneMs;
      await putAutoscaler(tables, copy, undefined);
      await markGone(tables, copy, 5);
      await markGone(tables, copy, 9);
      expect(await stored()).toBe(5);
      await markGone(tables, copy, undefined);
      expect(await stored()).toBeUndefined();
      await markGone(tables, { ...copy, uid: autoscalerUid("another") }, 5);
      expect(await stored()).toBeUndefined();
      await putAutoscaler(tables, record("web", 2), 1);
      await markGone(tables, copy, 5);
      expect((await getAutoscaler(tables, copy))?.origin).toBeUndefined();
      await deleteAutoscaler(tables, copy, 2);
      await markGone(tables, copy, 5);
      expect(await lastGeneration(tables, copy)).toBe(3);
    });

    it("are created once, edited under the generation that was read, and deleted under it", async () => {
      expect(await putAutoscaler(tables, record("web"), undefined)).toEqual({ kind: "stored" });
      expect(await putAutoscaler(tables, record("web"), undefined)).toEqual({ kind: "conflict" });
      expect(await putAutoscaler(tables, record("web", 2), 1)).toEqual({ kind: "stored" });
      expect(await putAutoscaler(tables, record("web", 2), 1)).toEqual({ kind: "conflict" });
      expect(await getAutoscaler(tables, record("web"))).toEqual(record("web", 2));
      expect(await deleteAutoscaler(tables, record("web"), 1)).toEqual({ kind: "conflict" });
      expect(await deleteAutoscaler(tables, record("web"), 2)).toEqual({ kind: "stored" });
      expect(await getAutoscaler(tables, record("web"))).toBeUndefined();
    });

    it("are deleted by one of two deletes, which knows itself also when its answer was lost", async () => {
      await putAutoscaler(tables, record("web"), undefined);
      const failing = {
        ...tables,
        client: withFaults(
          engine().client,
          once({ command: "PutItemCommand", fault: "lost answer" }),
        ),
      };
      expect(await deleteAutoscaler(failing, record("web"), 1)).toEqual({ kind: "stored" });
      expect(await deleteAutoscaler(tables, record("web"), 1)).toEqual({ kind: "conflict" });
      expect(await deleteAutoscaler(tables, record("never-there"), 2)).toEqual({
        kind: "conflict",
      });
    });

    /** Tables that keep every conditional write, so that a copy of it can arrive late. */
    const recording = () => {
      const sent: PutItemCommand[] = [];
      const send = (command: PutItemCommand) => {
        if (command instanceof PutItemCommand) sent.push(command);
        return engine().client.send(command);
      };
      const late = async (): Promise<void> => {
        for (const { input } of sent)
          await expect(engine().client.send(new PutItemCommand(input))).rejects.toMatchObject(
            REFUSED,
          );
      };
      return { tables: { ...tables, client: { send } as Tables["client"] }, late };
    };
    const REFUSED = { name: "ConditionalCheckFailedException" };
    const reborn = (name: string, generation: number) => ({
      ...record(name, generation),
      uid: autoscalerUid(`${name}-reborn`),
    });

    it("go on counting generations after a deletion", async () => {
      await putAutoscaler(tables, record("web"), undefined);
      expect(await lastGeneration(tables, record("web"))).toBe(0);
      await deleteAutoscaler(tables, record("web"), 1);
      expect(await lastGeneration(tables, record("web"))).toBe(2);
      expect(await putAutoscaler(tables, reborn("web", 2), undefined)).toEqual({
        kind: "conflict",
      });
      expect(await putAutoscaler(tables, reborn("web", 3), undefined)).toEqual({ kind: "stored" });
      expect(await getAutoscaler(tables, record("web"))).toEqual(reborn("web", 3));
    });

    it("are not removed by a late copy of a deletion, once they were created again", async () => {
      const own = recording();
      await putAutoscaler(tables, record("web"), undefined);
      await deleteAutoscaler(own.tables, record("web"), 1);
      await putAutoscaler(tables, reborn("web", 3), undefined);
      await own.late();
      // Also where the count happens to be the same, as in a table that was restored.
      await engine().client.send(
        new PutItemCommand({
          TableName: tables.stateTable,
          Item: { ...marshall(reborn("web", 1)), ...itemKey(autoscalerKey(record("web"))) },
        }),
      );
      await own.late();
      expect(await getAutoscaler(tables, record("web"))).toEqual(reborn("web", 1));
    });

    it("are not overwritten by a late copy of an edit of the record before them", async () => {
      const own = recording();
      await putAutoscaler(tables, record("web"), undefined);
      await putAutoscaler(own.tables, { ...record("web", 2), paused: { by: "ann", atMs: 1 } }, 1);
      await deleteAutoscaler(tables, record("web"), 2);
      await own.late();
      await putAutoscaler(tables, reborn("web", 4), undefined);
      await own.late();
      expect(await getAutoscaler(tables, record("web"))).toEqual(reborn("web", 4));
    });

    it("are not brought back by a late copy of their creation", async () => {
      const own = recording();
      await putAutoscaler(own.tables, record("web"), undefined);
      await deleteAutoscaler(tables, record("web"), 1);
      await own.late();
      expect(await getAutoscaler(tables, record("web"))).toBeUndefined();
    });

    it("leave a tombstone that is listed nowhere and lives for a day", async () => {
      await putAutoscaler(tables, record("web"), undefined);
      await deleteAutoscaler(tables, record("web"), 1);
      expect(await collected(listAutoscalers(tables, cluster.name))).toEqual([]);
      const { Item } = await engine().client.send(
        new GetItemCommand({
          TableName: tables.stateTable,
          Key: itemKey(autoscalerKey(record("web"))),
          ConsistentRead: true,
        }),
      );
      expect(unmarshall(Item ?? {})).toMatchObject({
        generation: 2,
        deletedUid: record("web").uid,
        deletedMs: 0,
        ttl: 86_400,
      });
    });

    it("know an edit whose answer was lost", async () => {
      const failing = {
        ...tables,
        client: withFaults(
          engine().client,
          once({ command: "PutItemCommand", fault: "lost answer" }),
        ),
      };
      expect(await putAutoscaler(failing, record("web"), undefined)).toEqual({ kind: "stored" });
    });

    it("let one of many editors of the same generation win", async () => {
      await putAutoscaler(tables, record("web"), undefined);
      const outcomes = await Promise.all(
        Array.from({ length: 10 }, () => putAutoscaler(tables, record("web", 2), 1)),
      );
      expect(outcomes.filter(({ kind }) => kind === "stored")).toHaveLength(1);
    });

    it("are listed by namespace and by partition, an unreadable one as such", async () => {
      const named = [
        record("web"),
        { ...record("api"), namespace: namespace("cart") },
        { ...record("job"), namespace: namespace("batch") },
      ];
      for (const one of named) await putAutoscaler(tables, one, undefined);
      const broken = {
        pk: { S: `autoscalers#${cluster.name}` },
        sk: { S: "shop#broken" },
        uid: { S: "uid-broken" },
      };
      await engine().client.send(
        new PutItemCommand({ TableName: tables.stateTable, Item: broken }),
      );
      const names = async (
        items: AsyncIterable<
          Awaited<ReturnType<typeof listAutoscalers>> extends AsyncIterable<infer Item>
            ? Item
            : never
        >,
      ) =>
        (await collected(items)).map((item) =>
          item.kind === "read" ? item.record.name : `${item.uid}?`,
        );
      expect(await names(listAutoscalers(tables, cluster.name))).toEqual([
        "job",
        "api",
        "uid-broken?",
        "web",
      ]);
      expect(await names(listAutoscalers(tables, cluster.name, namespace("shop")))).toEqual([
        "uid-broken?",
        "web",
      ]);
      expect(
        await names(
          autoscalersOf(tables, cluster, {
            cluster: cluster.name,
            partition: partitionName("shops"),
          }),
        ),
      ).toEqual(["api", "uid-broken?", "web"]);
      expect(
        await names(
          autoscalersOf(tables, cluster, {
            cluster: cluster.name,
            partition: partitionName("rest"),
          }),
        ),
      ).toEqual(["job"]);
      await expect(getAutoscaler(tables, { ...record("broken") })).rejects.toMatchObject({
        code: "store.unreadable",
      });
    });

    it("tell the partition of a namespace, and the namespaces of a partition", () => {
      expect(partitionOf(cluster, namespace("cart"))).toBe("shops");
      expect(partitionOf(cluster, namespace("other"))).toBe("rest");
      expect(
        partitionOf({ ...cluster, partitions: cluster.partitions.slice(0, 1) }, namespace("other")),
      ).toBeUndefined();
      expect(namespacesOf(cluster, partitionName("shops"))).toEqual(["shop", "cart"]);
      expect(namespacesOf(cluster, partitionName("rest"))).toBe("all");
    });

    it("of clusters are edited under their version, and listed without the fleet's", async () => {
      expect(await putCluster(tables, cluster, undefined)).toEqual({ kind: "stored" });
      expect(await putCluster(tables, { ...cluster, version: 2, syncPeriodMs: 30_000 }, 1)).toEqual(
        { kind: "stored" },
      );
      expect(await putCluster(tables, { ...cluster, version: 2 }, 1)).toEqual({ kind: "conflict" });
      expect(await getCluster(tables, cluster.name)).toEqual({
        ...cluster,
        version: 2,
        syncPeriodMs: 30_000,
      });
      const listed = await collected(listClusters(tables));
      expect(
        listed.filter((item) => item.kind === "read" && item.record.name === cluster.name),
      ).toHaveLength(1);
      expect(listed.every((item) => item.kind === "read")).toBe(true);
      expect(await deleteCluster(tables, cluster, 2)).toEqual({ kind: "stored" });
      expect(await getCluster(tables, cluster.name)).toBeUndefined();
      expect(
        (await collected(listClusters(tables))).filter(
          (item) => item.kind === "read" && item.record.name === cluster.name,
        ),
      ).toEqual([]);
    });

    it("of a cluster that was added again are not touched by late edits of the one before", async () => {
      const own = recording();
      await putCluster(own.tables, { ...cluster, uid: "a" }, undefined);
      await putCluster(own.tables, { ...cluster, uid: "a", version: 2 }, 1);
      await deleteCluster(own.tables, { ...cluster, uid: "a" }, 2);
      expect(await lastVersion(tables, cluster.name)).toBe(3);
      await own.late();
      const again = { ...cluster, uid: "b", version: 4 };
      expect(await putCluster(tables, again, undefined)).toEqual({ kind: "stored" });
      await own.late();
      expect(await putCluster(tables, { ...cluster, uid: "a", version: 5 }, 4)).toEqual({
        kind: "conflict",
      });
      expect(await getCluster(tables, cluster.name)).toEqual(again);
    });

    it("of a cluster without uid are not the record that has one, nor its tombstone", async () => {
      await putCluster(tables, { ...cluster, uid: "a" }, undefined);
      expect(await putCluster(tables, { ...cluster, version: 2 }, 1)).toEqual({ kind: "conflict" });
      await deleteCluster(tables, { ...cluster, uid: "a" }, 1);
      expect(await putCluster(tables, { ...cluster, version: 3 }, 2)).toEqual({ kind: "conflict" });
      expect(await getCluster(tables, cluster.name)).toBeUndefined();
    });

    it("are not created over a record that is there, whatever its generation", async () => {
      await putAutoscaler(tables, record("web"), undefined);
      expect(await putAutoscaler(tables, record("web", 9), undefined)).toEqual({
        kind: "conflict",
      });
    });

    it("of a cluster never let its version fall: a raise from a version that is past changes nothing", async () => {
      await putCluster(tables, cluster, undefined);
      await raiseClusterVersion(tables, cluster.name, 1);
      await raiseClusterVersion(tables, cluster.name, 2);
      await raiseClusterVersion(tables, cluster.name, 1);
      expect((await getCluster(tables, cluster.name))?.version).toBe(3);
    });

    it("of the fleet count their edits, so that a thaw cannot undo a later freeze", async () => {
      const { version } = await getFleet(tables);
      const frozen = { by: "ann", atMs: 1, reason: "game day" };
      expect(await putFleet(tables, { frozen }, version)).toEqual({ kind: "stored" });
      expect(await putFleet(tables, {}, version)).toEqual({ kind: "conflict" });
      expect(await getFleet(tables)).toEqual({ frozen, version: version + 1 });
      expect(await putFleet(tables, {}, version + 1)).toEqual({ kind: "stored" });
    });
  });
};
