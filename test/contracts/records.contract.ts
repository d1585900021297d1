import { PutItemCommand } from "@aws-sdk/client-dynamodb";
import { beforeEach, describe, expect, it } from "vitest";
import { clusterName, namespace, partitionName } from "../../lib/model/ids.ts";
import type { ClusterRecord } from "../../lib/model/records.ts";
import { DEFAULT_SETTINGS } from "../../lib/model/settings.ts";
import { deleteAutoscaler, getAutoscaler, listAutoscalers, putAutoscaler } from "../../lib/store/autoscalers.ts";
import { deleteCluster, getCluster, getFleet, listClusters, putCluster, putFleet } from "../../lib/store/clusters.ts";
import { autoscalersOf, namespacesOf, partitionOf } from "../../lib/store/partitions.ts";
import type { Tables } from "../../lib/store/tables.ts";
import { autoscalerRecord, collected, testTables } from "../sync/world.ts";
import type { Engine } from "./engines.ts";
import { once, withFaults } from "./faults.ts";

let clusters = 0;

/** What the records that people edit must do on every engine: change under their own version alone. */
export const recordsContract = (engine: () => Engine): void => {
  describe("records", () => {
    let tables: Tables;
    let cluster: ClusterRecord;
    const record = (name: string, generation = 1) => autoscalerRecord(cluster.name, name, generation);

    beforeEach(() => {
      tables = testTables(engine().client, engine().tables, () => 0);
      cluster = {
        name: clusterName(`records-${++clusters}`),
        connection: { kind: "eks", endpoint: "https://x", caData: "", clusterId: "x", region: "eu-central-1" },
        syncPeriodMs: 15_000,
        partitions: [{ name: partitionName("shops"), namespaces: [namespace("shop"), namespace("cart")] }, { name: partitionName("rest") }],
        settings: DEFAULT_SETTINGS,
        version: 1,
      };
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
      expect(await deleteAutoscaler(tables, record("web"), 2)).toEqual({ kind: "stored" });
    });

    it("know an edit whose answer was lost", async () => {
      const failing = { ...tables, client: withFaults(engine().client, once({ command: "PutItemCommand", fault: "lost answer" })) };
      expect(await putAutoscaler(failing, record("web"), undefined)).toEqual({ kind: "stored" });
    });

    it("let one of many editors of the same generation win", async () => {
      await putAutoscaler(tables, record("web"), undefined);
      const outcomes = await Promise.all(Array.from({ length: 10 }, () => putAutoscaler(tables, record("web", 2), 1)));
      expect(outcomes.filter(({ kind }) => kind === "stored")).toHaveLength(1);
    });

    it("are listed by namespace and by partition, an unreadable one as such", async () => {
      const named = [record("web"), { ...record("api"), namespace: namespace("cart") }, { ...record("job"), namespace: namespace("batch") }];
      for (const one of named) await putAutoscaler(tables, one, undefined);
      const broken = { pk: { S: `autoscalers#${cluster.name}` }, sk: { S: "shop#broken" }, uid: { S: "uid-broken" } };
      await engine().client.send(new PutItemCommand({ TableName: tables.stateTable, Item: broken }));
      const names = async (items: AsyncIterable<Awaited<ReturnType<typeof listAutoscalers>> extends AsyncIterable<infer Item> ? Item : never>) =>
        (await collected(items)).map((item) => (item.kind === "read" ? item.record.name : `${item.uid}?`));
      expect(await names(listAutoscalers(tables, cluster.name))).toEqual(["job", "api", "uid-broken?", "web"]);
      expect(await names(listAutoscalers(tables, cluster.name, namespace("shop")))).toEqual(["uid-broken?", "web"]);
      expect(await names(autoscalersOf(tables, cluster, { cluster: cluster.name, partition: partitionName("shops") }))).toEqual([
        "api",
        "uid-broken?",
        "web",
      ]);
      expect(await names(autoscalersOf(tables, cluster, { cluster: cluster.name, partition: partitionName("rest") }))).toEqual(["job"]);
      await expect(getAutoscaler(tables, { ...record("broken") })).rejects.toMatchObject({ code: "store.unreadable" });
    });

    it("tell the partition of a namespace, and the namespaces of a partition", () => {
      expect(partitionOf(cluster, namespace("cart"))).toBe("shops");
      expect(partitionOf(cluster, namespace("other"))).toBe("rest");
      expect(partitionOf({ ...cluster, partitions: cluster.partitions.slice(0, 1) }, namespace("other"))).toBeUndefined();
      expect(namespacesOf(cluster, partitionName("shops"))).toEqual(["shop", "cart"]);
      expect(namespacesOf(cluster, partitionName("rest"))).toBe("all");
    });

    it("of clusters are edited under their version, and listed without the fleet's", async () => {
      expect(await putCluster(tables, cluster, undefined)).toEqual({ kind: "stored" });
      expect(await putCluster(tables, { ...cluster, version: 2, syncPeriodMs: 30_000 }, 1)).toEqual({ kind: "stored" });
      expect(await putCluster(tables, { ...cluster, version: 2 }, 1)).toEqual({ kind: "conflict" });
      expect(await getCluster(tables, cluster.name)).toEqual({ ...cluster, version: 2, syncPeriodMs: 30_000 });
      const listed = await collected(listClusters(tables));
      expect(listed.filter((item) => item.kind === "read" && item.record.name === cluster.name)).toHaveLength(1);
      expect(listed.every((item) => item.kind === "read")).toBe(true);
      expect(await deleteCluster(tables, cluster.name, 2)).toEqual({ kind: "stored" });
      expect(await getCluster(tables, cluster.name)).toBeUndefined();
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
