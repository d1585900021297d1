import { GetItemCommand, UpdateItemCommand } from "@aws-sdk/client-dynamodb";
import { unmarshall } from "@aws-sdk/util-dynamodb";
import { afterAll, beforeAll, expect, it } from "vitest";
import { autoscalerName, clusterName, namespace } from "../../lib/rules/model/ids.ts";
import { openService } from "../../lib/answers/service/open.ts";
import type { Service } from "../../lib/answers/service/service.ts";
import {
  autoscalerKey,
  clusterKey,
  connectionKey,
  fleetKey,
  itemKey,
  type Key,
} from "../../lib/stack/store/table/keys.ts";
import { type ServiceWorld, serviceWorld, tablesOnDisk } from "./world/context.ts";
import { hpa } from "./world/manifests.ts";

let world: ServiceWorld;
let service: Service;
beforeAll(async () => {
  world = await serviceWorld("ada", tablesOnDisk);
  service = openService(world.context);
});
afterAll(() => world.close());

const ADDED = { M: { rule: { S: "of a later version" } } };

/** Gives an item an attribute that this version does not know, at some place of it. */
const addTo = (key: Key, ...places: readonly string[]) =>
  world.tables.client.send(
    new UpdateItemCommand({
      TableName: world.tables.stateTable,
      Key: itemKey(key),
      UpdateExpression: `SET ${places.map((place) => `#${place} = :added`).join(", ")}`,
      ExpressionAttributeNames: Object.fromEntries(
        places.map((place) => /^\w+/.exec(place)?.[0] ?? "").map((name) => [`#${name}`, name]),
      ),
      ExpressionAttributeValues: { ":added": ADDED },
    }),
  );

const itemAt = async (key: Key) => {
  const { Item = {} } = await world.tables.client.send(
    new GetItemCommand({ TableName: world.tables.stateTable, Key: itemKey(key) }),
  );
  return unmarshall(Item);
};

const LATER = { rule: "of a later version" };

it("an edit keeps what a later version has added to an autoscaler", async () => {
  await service.addCluster({
    name: "eu-1",
    connection: { kind: "kubeconfig", path: "/kube/config" },
  });
  const apply = (maxReplicas: number) =>
    service.apply(
      [
        {
          file: "a.yaml",
          text: hpa("web").replace(/maxReplicas: \d+/, `maxReplicas: ${maxReplicas}`),
        },
      ],
      {
        cluster: "eu-1",
        dryRun: false,
      },
    );
  await apply(7);
  const key = autoscalerKey({
    cluster: clusterName("eu-1"),
    namespace: namespace("default"),
    name: autoscalerName("web"),
  });
  await addTo(key, "later");
  await service.pause({ name: "web" });
  expect(await itemAt(key)).toMatchObject({ later: LATER, paused: { by: "ada" }, generation: 2 });
  await addTo(key, "paused.later");
  await apply(8);
  expect(await itemAt(key)).toMatchObject({
    later: LATER,
    paused: { later: LATER },
    generation: 3,
  });
  await service.resume({ name: "web" });
  expect(await itemAt(key)).toMatchObject({ later: LATER, generation: 4 });
});

it("an edit keeps what a later version has added to a cluster, its connection, its settings and its partitions", async () => {
  await service.addCluster({
    name: "eu-2",
    connection: { kind: "kubeconfig", path: "/kube/config" },
  });
  const key = clusterKey(clusterName("eu-2"));
  await addTo(key, "later", "settings.later", "partitions[0].later");
  await addTo(connectionKey(clusterName("eu-2")), "later", "connection.later");
  await service.pauseCluster("eu-2");
  await service.replaceCluster({
    name: "eu-2",
    syncPeriodMs: 20_000,
    settings: { tolerance: 0.2 },
  });
  await service.resumeCluster("eu-2");
  expect(await itemAt(key)).toMatchObject({
    later: LATER,
    settings: { later: LATER, tolerance: 0.2 },
    partitions: [{ later: LATER }],
    version: 4,
  });
  expect(await itemAt(connectionKey(clusterName("eu-2")))).toMatchObject({
    later: LATER,
    connection: { later: LATER },
  });
});

it("an edit keeps what a later version has added to the fleet", async () => {
  await service.freeze("drill");
  await addTo(fleetKey, "later");
  await service.thaw();
  const item = await itemAt(fleetKey);
  expect(item).toMatchObject({ later: LATER, version: 2 });
  expect(item).not.toHaveProperty("frozen");
});
