import {
  type BatchExecuteStatementCommand,
  type DynamoDBClient,
  GetItemCommand,
} from "@aws-sdk/client-dynamodb";
import { describe, expect, it } from "vitest";
import { insertByStatement, type HistoryItem } from "../../lib/stack/store/history/item.ts";
import type { Tables } from "../../lib/stack/store/table/tables.ts";

const item = (sk: string): HistoryItem => ({ pk: "p", sk, body: sk, ttlSeconds: 9 });
const failed = (Code: string) => ({ Error: { Code, Message: `planted ${Code}` } });

/**
 * Answers of the service to one batch after the other: no engine here ever throttles a part of a
 * batch.
 */
const answering = (...answers: readonly (readonly object[])[]) => {
  const sent: string[][] = [];
  const send = async (command: GetItemCommand | BatchExecuteStatementCommand): Promise<object> => {
    if (command instanceof GetItemCommand) {
      return {
        Item: {
          pk: { S: "p" },
          sk: command.input.Key?.["sk"],
          ttl: { N: "9" },
          body: { S: "stored" },
        },
      };
    }
    sent.push((command.input.Statements ?? []).map(({ Parameters }) => Parameters?.[1]?.S ?? ""));
    return { Responses: answers[sent.length - 1] ?? [] };
  };
  const tables: Tables = {
    client: { send: send as unknown as DynamoDBClient["send"] },
    stateTable: "state",
    historyTable: "history",
    clock: () => 0,
    wait: async () => {},
    random: () => 1,
    token: () => "t",
  };
  return { insert: insertByStatement(tables), sent };
};

describe("insertByStatement()", () => {
  it("sends again what was throttled inside a batch, alone, and answers in order", async () => {
    const { insert, sent } = answering(
      [{}, failed("ThrottlingError"), failed("DuplicateItem")],
      [failed("InternalServerError")],
      [{}],
    );
    const stored = { ...item("c"), body: "stored" };
    expect(await insert(["a", "b", "c"].map(item))).toEqual([
      { kind: "inserted" },
      { kind: "inserted" },
      { kind: "duplicate", stored },
    ]);
    expect(sent).toEqual([["a", "b", "c"], ["b"], ["b"]]);
  });

  it("sends at most 25 statements at once", async () => {
    const { insert, sent } = answering(
      Array.from({ length: 25 }, () => ({})),
      Array.from({ length: 5 }, () => ({})),
    );
    expect(await insert(Array.from({ length: 30 }, (_, at) => item(String(at))))).toHaveLength(30);
    expect(sent.map(({ length }) => length)).toEqual([25, 5]);
  });

  it("throws what the service says of an item that it will never take", async () => {
    const { insert } = answering([failed("AccessDeniedException")]);
    await expect(insert([item("a")])).rejects.toMatchObject({
      name: "TidemarkError",
      code: "store.insert-refused",
      message:
        'Cannot insert the history item "a": AccessDeniedException: planted AccessDeniedException',
    });
  });

  it("never takes an answer without a word about an item for its insertion", async () => {
    const { insert } = answering([{}]);
    await expect(insert([item("a"), item("b")])).rejects.toThrow(
      new TypeError("2 statements were answered by 1 responses"),
    );
  });

  it("gives up when a part stays throttled", async () => {
    const { insert, sent } = answering(
      ...Array.from({ length: 20 }, () => [failed("ThrottlingError")]),
    );
    await expect(insert([item("a")])).rejects.toMatchObject({
      code: "store.unclear",
      message: "Cannot insert into history: no clear answer after 8 attempts",
    });
    expect(sent).toHaveLength(8);
  });
});
