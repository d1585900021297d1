import { type DynamoDBClient, PutItemCommand, QueryCommand } from "@aws-sdk/client-dynamodb";
import { beforeEach, describe, expect, it } from "vitest";
import { autoscalerUid, clusterName, type PartitionName } from "../../lib/rules/model/ids.ts";
import { openService } from "../../lib/answers/service/open.ts";
import type { NewCluster } from "../../lib/answers/service/service.ts";
import {
  deleteAutoscaler,
  getAutoscaler,
  putAutoscaler,
} from "../../lib/stack/store/records/autoscalers.ts";
import { deleteCluster, getCluster } from "../../lib/stack/store/records/clusters.ts";
import { headKey, itemKey, pageKey } from "../../lib/stack/store/table/keys.ts";
import { around, type TableClient } from "../contracts/faults.ts";
import { workloadOf } from "../sync/world.ts";
import { type Damaged, FOREIGN, newDamaged } from "./world/damaged.ts";
import { newMoving, REST, SHOP, SHOPS } from "./world/moving.ts";

const CONNECTION = { kind: "kubeconfig", path: "elsewhere" } as const;

/** A cluster without autoscalers, whose page of windows cannot be read. */
let damaged: Damaged;
const begin = async (): Promise<void> => {
  damaged = await newDamaged();
  await damaged.sync();
  await damaged.damagePage(FOREIGN);
  for (const name of ["api", "web"])
    await deleteAutoscaler(damaged.world.tables, damaged.world.autoscaler(name), 1);
};
beforeEach(begin);

const serviceOf = (client?: TableClient) => openService(damaged.context(client));
const remove = () => serviceOf().removeCluster(damaged.world.record.name);
const addElsewhere = () =>
  serviceOf().addCluster({ name: damaged.world.record.name, connection: CONNECTION });

const pagesOf = async (cluster: string, partition: PartitionName): Promise<readonly string[]> => {
  const { Items = [] } = await (damaged.world.tables.client as DynamoDBClient).send(
    new QueryCommand({
      TableName: "state",
      KeyConditionExpression: "pk = :pk AND begins_with(sk, :page)",
      ExpressionAttributeValues: {
        ":pk": { S: headKey({ cluster: clusterName(cluster), partition }).pk },
        ":page": { S: "page#" },
      },
    }),
  );
  return Items.map(({ sk }) => sk?.S ?? "");
};

/** The autoscalers of before are applied anew, and their workloads need five replicas. */
const applyAgain = async (): Promise<void> => {
  const { world } = damaged;
  for (const name of ["api", "web"]) {
    const deleted = world.autoscaler(name);
    const manifest = JSON.stringify({ metadata: { name } });
    await putAutoscaler(
      world.tables,
      { ...deleted, uid: autoscalerUid(`uid-${name}-again`), generation: 3, manifest },
      undefined,
    );
    workloadOf(world, name).demand = 5;
  }
  expect(await getAutoscaler(world.tables, world.autoscaler("web"))).toBeDefined();
};

/** The leases of what died end after 34 s, in the third period. */
const PERIODS_OF_A_LEASE = 3;

const scalesWithin = async (periods: number): Promise<void> => {
  await applyAgain();
  for (let period = 1; period <= periods; period++) await damaged.sync();
  expect(damaged.replicas()).toEqual([5, 5]);
};

class Died extends Error {}

/** A client of a process that dies at the nth call, before or after it took effect. */
const diesAt = (client: TableClient, dieAt: number, after: boolean): TableClient => {
  let calls = 0;
  return around(client, async (_command, send) => {
    const nth = ++calls;
    if (nth < dieAt) return send();
    if (nth === dieAt && after) await send();
    throw new Died();
  });
};

describe("a cluster that is added again under the name of a removed one", () => {
  it("is not held by a windows page of the removed one that cannot be read", async () => {
    await remove();
    expect(await pagesOf(damaged.world.record.name, damaged.world.partition.partition)).toEqual([]);
    await addElsewhere();
    await scalesWithin(1);
  });

  it("goes on counting epochs where the removed one ended", async () => {
    const { epoch } = await damaged.world.head();
    await remove();
    await addElsewhere();
    const head = await damaged.world.head();
    expect(head.epoch).toBeGreaterThan(epoch);
    expect(head).toMatchObject({ pages: [], leaseUntilMs: 0 });
  });

  it("starts without windows also where an earlier release removed the cluster and left them", async () => {
    const { tables, record } = damaged.world;
    await deleteCluster(tables, record, 1);
    await addElsewhere();
    expect(await pagesOf(record.name, damaged.world.partition.partition)).toEqual([]);
    await scalesWithin(1);
  });

  it("starts without windows wherever the removal or the adding died and was done again", async () => {
    const deaths = [await deathsUntilDone(false), await deathsUntilDone(true)];
    expect(Math.min(...deaths)).toBeGreaterThan(20);
  });
});

/**
 * Removes and adds a cluster in a process that dies at its first call, at its second, and so on.
 * Each time it is done again, and the cluster scales. The number of deaths.
 */
const deathsUntilDone = async (after: boolean): Promise<number> => {
  for (let dieAt = 1; ; dieAt++) {
    await begin();
    if ((await removedAndAdded(diesAt(damaged.world.tables.client, dieAt, after))) === "done")
      return dieAt - 1;
    const left = await getCluster(damaged.world.tables, damaged.world.record.name);
    const isFirst = left?.uid === damaged.world.record.uid;
    if (isFirst) await remove();
    if (isFirst || !left) await addElsewhere();
    await scalesWithin(PERIODS_OF_A_LEASE);
  }
};

const removedAndAdded = async (client: TableClient): Promise<"done" | "died"> => {
  const service = serviceOf(client);
  const { name } = damaged.world.record;
  try {
    await service.removeCluster(name);
    await service.addCluster({ name, connection: CONNECTION });
    return "done";
  } catch (error) {
    if (!(error instanceof Died)) throw error;
    return "died";
  }
};

describe("a partition that is added again under the name of one that was divided away", () => {
  it("is not held by a page of the earlier one that could not be deleted", async () => {
    const moving = await newMoving();
    await moving.syncAll();
    const { record, tables } = moving.world;
    const divide = (partitions: NewCluster["partitions"], client?: TableClient) =>
      openService(moving.context(client)).replaceCluster({
        name: record.name,
        ...(partitions && { partitions }),
      });
    const divided = [{ name: SHOPS, namespaces: [SHOP] }, { name: REST }];
    await divide(divided);
    await moving.syncAll();
    // It dies once the cluster has been written without the partition.
    const dying = around(tables.client, async (_command, send) => {
      if ((await moving.cluster()).partitions.length === 1) throw new Died();
      return send();
    });
    await expect(divide([{ name: REST }], dying)).rejects.toThrow(Died);
    const { pages, pageGeneration } = await moving.head(SHOPS);
    expect(pages).toHaveLength(1);
    for (let period = 1; period <= PERIODS_OF_A_LEASE; period++) await moving.syncAll();
    const Item = {
      ...itemKey(pageKey({ cluster: record.name, partition: SHOPS }, pageGeneration, 0)),
      epoch: { N: String(pages[0]) },
      body: { B: FOREIGN },
    };
    await (tables.client as DynamoDBClient).send(new PutItemCommand({ TableName: "state", Item }));
    await divide(divided);
    await moving.syncAll();
    expect([...(await moving.windows()).keys()].sort()).toEqual(
      ["cart-1", "cart-2", "infra-1", "infra-2", "shop-1", "shop-2"].map((name) => `uid-${name}`),
    );
  });
});
