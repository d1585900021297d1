import { describe, expect, it } from "vitest";
import {
  deleteLeftoverParams,
  leftoverParams,
  readPageParams,
  writePageParams,
} from "../../lib/stack/store/pages/pages.ts";
import { PARTITION } from "./records.ts";

const PLACE = { partition: PARTITION, generation: 2, index: 13 };
const KEY = { pk: { S: "partition#eu-1#default" }, sk: { S: "page#000002#000013" } };
const body = Buffer.of(2, 1);

describe("the requests of a windows page", () => {
  it("writePageParams() writes over the page that was read, and over no other", () => {
    expect(writePageParams("state", { id: PLACE, epoch: 6, readEpoch: 3, body })).toEqual({
      TableName: "state",
      Item: { ...KEY, epoch: { N: "6" }, body: { B: body } },
      ConditionExpression: "epoch = :read",
      ExpressionAttributeValues: { ":read": { N: "3" } },
    });
  });

  it("writePageParams() writes a page that no head names over the leavings of an earlier epoch alone", () => {
    expect(writePageParams("state", { id: PLACE, epoch: 6, body })).toEqual({
      TableName: "state",
      Item: { ...KEY, epoch: { N: "6" }, body: { B: body } },
      ConditionExpression: "attribute_not_exists(epoch) OR epoch < :epoch",
      ExpressionAttributeValues: { ":epoch": { N: "6" } },
    });
  });

  it("readPageParams() reads strongly", () => {
    expect(readPageParams("state", PLACE)).toEqual({
      TableName: "state",
      Key: KEY,
      ConsistentRead: true,
    });
  });

  it("leftoverParams() reads on either side of the pages that are named, and deleteLeftoverParams() deletes those of an earlier epoch alone", () => {
    const ranges = leftoverParams("state", { partition: PARTITION, generation: 2, count: 4 });
    const between = (from: string, to: string) => ({
      TableName: "state",
      KeyConditionExpression: "pk = :pk AND sk BETWEEN :from AND :to",
      ExpressionAttributeValues: { ":pk": KEY.pk, ":from": { S: from }, ":to": { S: to } },
      ConsistentRead: true,
      Limit: 100,
    });
    expect(ranges).toEqual([
      between("page#000000", "page#000002"),
      between("page#000002#000004", "page#~"),
    ]);
    expect(deleteLeftoverParams("state", { pk: KEY.pk.S, sk: KEY.sk.S }, 6)).toEqual({
      TableName: "state",
      Key: KEY,
      ConditionExpression: "epoch < :epoch",
      ExpressionAttributeValues: { ":epoch": { N: "6" } },
    });
  });
});
