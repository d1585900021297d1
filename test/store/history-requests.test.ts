import { describe, expect, it } from "vitest";
import { autoscalerUid } from "../../lib/rules/model/ids.ts";
import { changesOfUidParams, changesParams } from "../../lib/stack/store/history/changes.ts";
import {
  autoscalerEventsParams,
  dayEventsParams,
  daysOf,
} from "../../lib/stack/store/history/events.ts";
import { insertHistoryParams } from "../../lib/stack/store/history/item.ts";
import { journalParams } from "../../lib/stack/store/history/journal.ts";
import { dayEventKey, eventKey } from "../../lib/stack/store/table/keys.ts";
import { event, PARTITION, REF } from "./records.ts";

const item = {
  pk: "autoscaler#eu-1#shop#web",
  sk: "event#001795262400000#uid-web:5",
  body: "{}",
  ttlSeconds: 100,
};
const stretch = { sinceMs: Date.UTC(2026, 10, 20, 23), untilMs: Date.UTC(2026, 10, 21, 1) };

describe("the requests of history", () => {
  it("insertHistoryParams() inserts by statement, values apart", () => {
    expect(insertHistoryParams("history", [item, { ...item, body: Buffer.of(1) }])).toEqual({
      Statements: [
        {
          Statement: `INSERT INTO "history" VALUE {'pk': ?, 'sk': ?, 'ttl': ?, 'body': ?}`,
          Parameters: [{ S: item.pk }, { S: item.sk }, { N: "100" }, { S: "{}" }],
        },
        {
          Statement: `INSERT INTO "history" VALUE {'pk': ?, 'sk': ?, 'ttl': ?, 'body': ?}`,
          Parameters: [{ S: item.pk }, { S: item.sk }, { N: "100" }, { B: Buffer.of(1) }],
        },
      ],
    });
  });

  it("autoscalerEventsParams() reads a stretch of one autoscaler and leaves out what has expired", () => {
    expect(autoscalerEventsParams("history", REF, stretch)).toEqual({
      TableName: "history",
      KeyConditionExpression: "pk = :pk AND sk BETWEEN :since AND :until",
      FilterExpression: "#ttl > :now",
      ExpressionAttributeNames: { "#ttl": "ttl" },
      ExpressionAttributeValues: {
        ":pk": { S: "autoscaler#eu-1#shop#web" },
        ":since": { S: `event#00${stretch.sinceMs}` },
        ":until": { S: `event#00${stretch.untilMs}~` },
        ":now": { N: String(stretch.untilMs / 1_000) },
      },
      ScanIndexForward: true,
    });
  });

  it("dayEventsParams() reads one day of a cluster, newest first when asked", () => {
    const params = dayEventsParams("history", REF.cluster, "2026-11-21", {
      ...stretch,
      newestFirst: true,
      pageSize: 25,
    });
    expect(params).toMatchObject({
      ExpressionAttributeValues: { ":pk": { S: "day#eu-1#2026-11-21" } },
      ScanIndexForward: false,
      Limit: 25,
    });
  });

  it("daysOf() names the days that a stretch touches, and none before the oldest event that is kept", () => {
    expect(daysOf(stretch)).toEqual(["2026-11-20", "2026-11-21"]);
    expect(daysOf({ ...stretch, newestFirst: true })).toEqual(["2026-11-21", "2026-11-20"]);
    expect(daysOf({ sinceMs: 0, untilMs: stretch.untilMs })).toHaveLength(397);
  });

  it("changesParams() and journalParams() read one autoscaler's changes and one page's journal", () => {
    expect(changesParams("history", REF)).toMatchObject({
      ExpressionAttributeValues: {
        ":pk": { S: "autoscaler#eu-1#shop#web" },
        ":prefix": { S: "change#" },
      },
    });
    expect(changesOfUidParams("history", REF, autoscalerUid("uid-1"))).toMatchObject({
      ConsistentRead: true,
      ExpressionAttributeValues: {
        ":pk": { S: "autoscaler#eu-1#shop#web" },
        ":prefix": { S: "change#uid-1:" },
      },
    });
    expect(
      journalParams("history", PARTITION, {
        page: 3,
        sinceMs: 5,
        untilMs: 2_000,
        newestFirst: true,
        pageSize: 1,
      }),
    ).toEqual({
      TableName: "history",
      KeyConditionExpression: "pk = :pk AND sk BETWEEN :since AND :until",
      FilterExpression: "#ttl > :now",
      ExpressionAttributeNames: { "#ttl": "ttl" },
      ExpressionAttributeValues: {
        ":pk": { S: "journal#eu-1#default" },
        ":since": { S: "000003#000000000000005" },
        ":until": { S: "000003#000000000002000~" },
        ":now": { N: "2" },
      },
      ScanIndexForward: false,
      Limit: 1,
    });
  });

  it("keys of an event follow from its intent alone", () => {
    const settled = [event(), event({ outcome: "unknown", settledMs: event().settledMs + 60_000 })];
    expect(
      new Set(
        settled.map((one) => JSON.stringify([eventKey(one, one), dayEventKey(one.cluster, one)])),
      ).size,
    ).toBe(1);
  });
});
