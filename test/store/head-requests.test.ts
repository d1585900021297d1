import { describe, expect, it } from "vitest";
import { claimParams } from "../../lib/stack/store/head/claim.ts";
import { headToIndexParams, readHeadParams } from "../../lib/stack/store/head/head.ts";
import { encodeIntent } from "../../lib/stack/store/head/intent-codec.ts";
import { lowerTimesParams } from "../../lib/stack/store/head/repair-head.ts";
import { adoptPagesParams, markMovingParams } from "../../lib/stack/store/head/moving.ts";
import { giveBackParams, releaseParams } from "../../lib/stack/store/head/release.ts";
import { intendParams, withdrawParams } from "../../lib/stack/store/head/store-intents.ts";
import { raiseSpecVersionParams } from "../../lib/stack/store/records/autoscalers.ts";
import {
  headKey,
  indexKey,
  pageKey,
  storedBytesKey,
  summaryKey,
} from "../../lib/stack/store/table/keys.ts";
import { bodiesOf, intent, PARTITION } from "./records.ts";
import { NO_TROUBLES } from "../../lib/stack/store/head/troubles.ts";

const KEY = { pk: { S: "partition#eu-1#default" }, sk: { S: "head" } };
const HELD = { partition: PARTITION, epoch: 5, writeNumber: 12 };

describe("the requests that write a head", () => {
  it("claimParams() raises the epoch unless the lease is held or the due time is done", () => {
    expect(
      claimParams("state", {
        partition: PARTITION,
        dueMs: 900,
        clockMs: 1_000,
        leaseUntilMs: 35_000,
        token: "t1",
      }),
    ).toEqual({
      TableName: "state",
      Key: KEY,
      UpdateExpression:
        "SET epoch = if_not_exists(epoch, :zero) + :one, leaseUntilMs = :lease, writeNumber = if_not_exists(writeNumber, :zero) + :one, " +
        "#token = :token, releasedEpoch = if_not_exists(releasedEpoch, :zero), intents = if_not_exists(intents, :none), #protocol = :protocol",
      ConditionExpression:
        "(attribute_not_exists(epoch) OR releasedEpoch = epoch OR leaseUntilMs < :clock OR leaseUntilMs > :leaseLast) AND (attribute_not_exists(dueDoneMs) OR dueDoneMs < :due) " +
        "AND (attribute_not_exists(#protocol) OR #protocol <= :protocol)",
      ExpressionAttributeNames: { "#token": "token", "#protocol": "protocol" },
      ExpressionAttributeValues: {
        ":zero": { N: "0" },
        ":one": { N: "1" },
        ":lease": { N: "35000" },
        ":leaseLast": { N: "41000" },
        ":token": { S: "t1" },
        ":none": { M: {} },
        ":clock": { N: "1000" },
        ":due": { N: "900" },
        ":protocol": { N: "1" },
      },
      ReturnValues: "ALL_NEW",
    });
  });

  it("intendParams() stores the whole map of intents, under the holder's epoch and last write", () => {
    const [one, other] = [intent(), intent({ id: "uid-api:5" })];
    expect(
      intendParams("state", HELD, { intents: bodiesOf(one, other), nowMs: 1_000, token: "t2" }),
    ).toEqual({
      TableName: "state",
      Key: KEY,
      UpdateExpression:
        "SET writeNumber = writeNumber + :one, #token = :token, nowMs = :now, intents = :intents",
      ConditionExpression: "epoch = :epoch AND writeNumber = :seen",
      ExpressionAttributeNames: { "#token": "token" },
      ExpressionAttributeValues: {
        ":epoch": { N: "5" },
        ":seen": { N: "12" },
        ":one": { N: "1" },
        ":token": { S: "t2" },
        ":now": { N: "1000" },
        ":intents": {
          M: { "uid-web:5": { B: encodeIntent(one) }, "uid-api:5": { B: encodeIntent(other) } },
        },
      },
    });
  });

  it("markMovingParams() says under which version of the cluster namespaces move, and raises the epoch above all that take part", () => {
    expect(markMovingParams("state", HELD, { clusterVersion: 7, epoch: 30 }, "t6")).toEqual({
      TableName: "state",
      Key: KEY,
      UpdateExpression:
        "SET writeNumber = writeNumber + :one, #token = :token, epoch = :raised, movingVersion = :version",
      ConditionExpression: "epoch = :epoch AND writeNumber = :seen",
      ExpressionAttributeNames: { "#token": "token" },
      ExpressionAttributeValues: {
        ":epoch": { N: "5" },
        ":seen": { N: "12" },
        ":one": { N: "1" },
        ":token": { S: "t6" },
        ":raised": { N: "30" },
        ":version": { N: "7" },
      },
    });
  });

  it("adoptPagesParams() names the pages of a new generation and keeps the lease", () => {
    expect(
      adoptPagesParams("state", HELD, { generation: 3, pages: [30, 30], nowMs: 950 }, "t7"),
    ).toEqual({
      TableName: "state",
      Key: KEY,
      UpdateExpression:
        "SET writeNumber = writeNumber + :one, #token = :token, nowMs = :now, pageGeneration = :generation, pages = :pages",
      ConditionExpression: "epoch = :epoch AND writeNumber = :seen",
      ExpressionAttributeNames: { "#token": "token" },
      ExpressionAttributeValues: {
        ":epoch": { N: "5" },
        ":seen": { N: "12" },
        ":one": { N: "1" },
        ":token": { S: "t7" },
        ":now": { N: "950" },
        ":generation": { N: "3" },
        ":pages": { L: [{ N: "30" }, { N: "30" }] },
      },
    });
  });

  it("lowerTimesParams() sets the times of a head that syncs take over, under the holder's epoch and last write", () => {
    expect(
      lowerTimesParams("state", HELD, { nowMs: 3, evaluatedMs: 2, dueDoneMs: 1 }, "t2"),
    ).toMatchObject({
      Key: KEY,
      UpdateExpression:
        "SET writeNumber = writeNumber + :one, #token = :token, nowMs = :now, evaluatedMs = :evaluated, dueDoneMs = :due",
      ConditionExpression: "epoch = :epoch AND writeNumber = :seen",
      ExpressionAttributeValues: {
        ":now": { N: "3" },
        ":evaluated": { N: "2" },
        ":due": { N: "1" },
      },
    });
  });

  it("releaseParams() closes the sync in one update", () => {
    const open = intent({ id: "uid-api:5" });
    const release = {
      dueMs: 900,
      nowMs: 1_000,
      evaluatedMs: 1_000,
      pageGeneration: 1,
      pages: [5, 3],
      intents: new Map([...bodiesOf(open), ["x:1", Buffer.of(9)]]),
      troubles: NO_TROUBLES,
    };
    expect(releaseParams("state", HELD, release, "t3")).toEqual({
      TableName: "state",
      Key: KEY,
      UpdateExpression:
        "SET writeNumber = writeNumber + :one, #token = :token, releasedEpoch = :epoch, leaseUntilMs = :zero, dueDoneMs = :due, nowMs = :now, " +
        "evaluatedMs = :evaluated, pageGeneration = :generation, pages = :pages, intents = :open REMOVE troubles",
      ConditionExpression: "epoch = :epoch AND writeNumber = :seen",
      ExpressionAttributeNames: { "#token": "token" },
      ExpressionAttributeValues: {
        ":epoch": { N: "5" },
        ":seen": { N: "12" },
        ":one": { N: "1" },
        ":token": { S: "t3" },
        ":zero": { N: "0" },
        ":due": { N: "900" },
        ":now": { N: "1000" },
        ":evaluated": { N: "1000" },
        ":generation": { N: "1" },
        ":pages": { L: [{ N: "5" }, { N: "3" }] },
        ":open": { M: { "uid-api:5": { B: encodeIntent(open) }, "x:1": { B: Buffer.of(9) } } },
      },
    });
  });

  it("giveBackParams() ends the lease and leaves everything else as it is", () => {
    expect(giveBackParams("state", HELD, "t4")).toEqual({
      TableName: "state",
      Key: KEY,
      UpdateExpression:
        "SET writeNumber = writeNumber + :one, #token = :token, leaseUntilMs = :zero",
      ConditionExpression: "epoch = :epoch AND writeNumber = :seen",
      ExpressionAttributeNames: { "#token": "token" },
      ExpressionAttributeValues: {
        ":epoch": { N: "5" },
        ":seen": { N: "12" },
        ":one": { N: "1" },
        ":token": { S: "t4" },
        ":zero": { N: "0" },
      },
    });
  });

  it("raiseSpecVersionParams() touches nothing that a holder's conditions look at", () => {
    expect(raiseSpecVersionParams("state", PARTITION)).toEqual({
      TableName: "state",
      Key: KEY,
      UpdateExpression: "SET specVersion = if_not_exists(specVersion, :zero) + :one",
      ExpressionAttributeValues: { ":zero": { N: "0" }, ":one": { N: "1" } },
      ReturnValues: "UPDATED_NEW",
    });
  });

  it("readHeadParams() reads strongly", () => {
    expect(readHeadParams("state", PARTITION)).toEqual({
      TableName: "state",
      Key: KEY,
      ConsistentRead: true,
    });
  });

  it("headToIndexParams() asks for head and index in one query, which nothing else stands between", () => {
    for (const consistent of [true, false]) {
      expect(headToIndexParams("state", PARTITION, consistent)).toEqual({
        TableName: "state",
        KeyConditionExpression: "pk = :pk AND sk BETWEEN :head AND :index",
        ExpressionAttributeValues: {
          ":pk": { S: "partition#eu-1#default" },
          ":head": { S: "head" },
          ":index": { S: "index" },
        },
        ConsistentRead: consistent,
      });
    }
    const others = [
      pageKey(PARTITION, 1, 0),
      summaryKey(PARTITION),
      storedBytesKey(PARTITION, "a"),
    ].map(({ sk }) => sk);
    expect(
      others.filter((sk) => sk >= headKey(PARTITION).sk && sk <= indexKey(PARTITION).sk),
    ).toEqual([]);
  });

  it("withdrawParams() stays inside the service's limits with as many intents as one update may remove", () => {
    const ids = Array.from(
      { length: 100 },
      (_, at) => `0b0cf6ee-57de-4a07-8d6e-7d3f5ff3c3c${at}:1234567`,
    );
    const { UpdateExpression = "", ExpressionAttributeNames = {} } = withdrawParams(
      "state",
      HELD,
      ids,
      "t",
    );
    expect(UpdateExpression.length).toBeLessThan(4_096);
    expect(Object.keys(ExpressionAttributeNames)).toHaveLength(101);
  });
});
