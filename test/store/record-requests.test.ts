import { describe, expect, it } from "vitest";
import { clusterName, namespace } from "../../lib/rules/model/ids.ts";
import { listAutoscalersParams } from "../../lib/stack/store/records/autoscalers.ts";
import { listClustersParams, readFleetParams } from "../../lib/stack/store/records/clusters.ts";
import { clusterKey, editsKey, fleetKey } from "../../lib/stack/store/table/keys.ts";
import { putRecordParams } from "../../lib/stack/store/records/write.ts";

const key = { pk: "fleet", sk: "cluster#eu-1" };

describe("the requests of records that people edit", () => {
  it("putRecordParams() stores a new record only where there is none, or over an older tombstone", () => {
    expect(
      putRecordParams("state", {
        key,
        record: { name: "eu-1", version: 1, paused: undefined },
        expected: { counter: "version" },
        token: "t",
      }),
    ).toEqual({
      TableName: "state",
      Item: {
        name: { S: "eu-1" },
        version: { N: "1" },
        pk: { S: "fleet" },
        sk: { S: "cluster#eu-1" },
        token: { S: "t" },
      },
      ConditionExpression:
        "attribute_exists(deletedMs) AND #counter < :new OR attribute_not_exists(pk)",
      ExpressionAttributeNames: { "#counter": "version" },
      ExpressionAttributeValues: { ":new": { N: "1" } },
    });
  });

  it("putRecordParams() stores an edit only over the record that was read", () => {
    expect(
      putRecordParams("state", {
        key,
        record: { version: 5 },
        expected: { counter: "version", value: 4 },
        token: "t",
      }),
    ).toEqual({
      TableName: "state",
      Item: {
        version: { N: "5" },
        pk: { S: "fleet" },
        sk: { S: "cluster#eu-1" },
        token: { S: "t" },
      },
      ConditionExpression:
        "#counter = :expected AND attribute_not_exists(uid) AND attribute_not_exists(deletedMs)",
      ExpressionAttributeNames: { "#counter": "version" },
      ExpressionAttributeValues: { ":expected": { N: "4" } },
    });
    expect(
      putRecordParams("state", {
        key,
        record: { version: 5 },
        expected: { counter: "version", value: 4, uid: "a" },
        token: "t",
      }),
    ).toMatchObject({
      ConditionExpression:
        "#counter = :expected AND uid = :uid AND attribute_not_exists(deletedMs)",
      ExpressionAttributeValues: { ":expected": { N: "4" }, ":uid": { S: "a" } },
    });
  });

  it("listAutoscalersParams() reads a cluster, or one namespace of it, strongly", () => {
    expect(listAutoscalersParams("state", clusterName("eu-1"))).toEqual({
      TableName: "state",
      ConsistentRead: true,
      KeyConditionExpression: "pk = :pk",
      ExpressionAttributeValues: { ":pk": { S: "autoscalers#eu-1" } },
    });
    expect(listAutoscalersParams("state", clusterName("eu-1"), namespace("shop"))).toEqual({
      TableName: "state",
      ConsistentRead: true,
      KeyConditionExpression: "pk = :pk AND begins_with(sk, :prefix)",
      ExpressionAttributeValues: { ":pk": { S: "autoscalers#eu-1" }, ":prefix": { S: "shop#" } },
    });
  });

  it("listClustersParams() reads the clusters and not the fleet's own record", () => {
    expect(listClustersParams("state")).toEqual({
      TableName: "state",
      KeyConditionExpression: "pk = :pk AND begins_with(sk, :prefix)",
      ExpressionAttributeValues: { ":pk": { S: "fleet" }, ":prefix": { S: "cluster#" } },
      ConsistentRead: true,
    });
  });

  it("readFleetParams() reads the clusters, the newest edit and the fleet's own record, or those after a cluster", () => {
    const asked = (first: string) => ({
      TableName: "state",
      KeyConditionExpression: "pk = :pk AND sk BETWEEN :first AND :fleet",
      ExpressionAttributeValues: {
        ":pk": { S: "fleet" },
        ":first": { S: first },
        ":fleet": { S: "fleet" },
      },
      ConsistentRead: true,
    });
    expect([readFleetParams("state"), readFleetParams("state", "eu-1")]).toEqual([
      asked("cluster#"),
      asked("cluster#eu-1"),
    ]);
    const keys = [
      clusterKey(clusterName("a")),
      clusterKey(clusterName("z-9")),
      editsKey,
      fleetKey,
    ].map(({ sk }) => sk);
    expect(keys.filter((sk) => sk < "cluster#" || sk > "fleet")).toEqual([]);
  });
});
