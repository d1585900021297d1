import { type DynamoDBClient, paginateScan, PutItemCommand } from "@aws-sdk/client-dynamodb";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { TABLE_NAMES } from "../../lib/embedded/layout.ts";
import {
  ensureTables,
  startTables,
  type EmbeddedTables,
} from "../../lib/embedded/tables/embedded-tables.ts";
import { expiry } from "../../lib/embedded/tables/expiry.ts";
import { tableDefinitions } from "../../lib/stack/store/table/tables.ts";

const START_MS = Date.UTC(2026, 0, 5, 8);
const START_S = START_MS / 1_000;
const DAY_S = 86_400;
const { stateTable, historyTable } = TABLE_NAMES;
let tables: EmbeddedTables;
let client: DynamoDBClient;
let nowMs: number;
let failures: unknown[];

beforeEach(async () => {
  tables = await startTables();
  client = tables.client();
  await ensureTables(client, tableDefinitions(TABLE_NAMES));
  nowMs = START_MS;
  failures = [];
});
afterEach(async () => {
  client.destroy();
  await tables.close();
});

const put = async (TableName: string, sk: string, ttl?: number, body = ""): Promise<void> =>
  void (await client.send(
    new PutItemCommand({
      TableName,
      Item: {
        pk: { S: "journal" },
        sk: { S: sk },
        body: { S: body },
        ...(ttl !== undefined && { ttl: { N: String(ttl) } }),
      },
    }),
  ));
const stored = async (TableName: string): Promise<readonly unknown[]> => {
  const names: unknown[] = [];
  for await (const { Items = [] } of paginateScan(
    { client },
    { TableName, ProjectionExpression: "sk" },
  ))
    names.push(...Items.map(({ sk }) => sk?.S));
  return names.toSorted();
};
const activity = () =>
  expiry({
    client,
    tables: [stateTable, historyTable],
    clock: () => nowMs,
    onFailure: (error) => failures.push(error),
  });
/** Plays what is due until `untilMs`, and counts the looks. */
const playing = async (played: ReturnType<typeof activity>, untilMs: number): Promise<number> => {
  let looks = 0;
  for (
    let dueMs = played.nextMs();
    dueMs !== undefined && dueMs <= untilMs;
    dueMs = played.nextMs()
  ) {
    nowMs = Math.max(nowMs, dueMs);
    await played.happen();
    looks++;
  }
  nowMs = untilMs;
  return looks;
};

describe("expiry of the embedded tables", () => {
  it("deletes what is expired in both tables, and nothing that has time left or no end", async () => {
    for (const table of [stateTable, historyTable]) {
      await put(table, "expired", START_S - 1);
      await put(table, "later", START_S + DAY_S);
      await put(table, "endless");
    }
    await playing(activity(), START_MS + 600_000);
    expect([await stored(stateTable), await stored(historyTable)]).toEqual([
      ["endless", "later"],
      ["endless", "later"],
    ]);
    expect(failures).toEqual([]);
  });

  it("looks ten minutes after the start, and then once a day", async () => {
    await put(historyTable, "of the second day", START_S + DAY_S);
    const played = activity();
    expect(await playing(played, START_MS + 599_999)).toBe(0);
    expect(await playing(played, START_MS + 23 * 3_600_000)).toBe(2);
    expect(await stored(historyTable)).toEqual(["of the second day"]);
    await playing(played, START_MS + 25 * 3_600_000);
    expect(await stored(historyTable)).toEqual([]);
  });

  it("reads tables of any size, a megabyte at a time", async () => {
    const body = "x".repeat(300_000);
    for (let item = 0; item < 12; item++)
      await put(historyTable, `item ${item}`, item % 2 === 0 ? START_S : START_S + DAY_S, body);
    expect(await playing(activity(), START_MS + 600_000)).toBeGreaterThan(4);
    expect(await stored(historyTable)).toHaveLength(6);
  });

  it("keeps an item that was written again since it was read", async () => {
    await put(historyTable, "again", START_S - 1);
    client.middlewareStack.add(
      (next, context) => async (args) => {
        if (context.commandName === "DeleteItemCommand")
          await put(historyTable, "again", START_S + DAY_S);
        return next(args);
      },
      { step: "initialize", name: "write-again" },
    );
    await playing(activity(), START_MS + 600_000);
    expect([await stored(historyTable), failures]).toEqual([["again"], []]);
  });

  it("reports a failure, and looks again a day later", async () => {
    await put(historyTable, "expired", START_S - 1);
    let broken = true;
    client.middlewareStack.add(
      (next, context) => async (args) => {
        if (broken && context.commandName === "ScanCommand") throw new Error("the disk is full");
        return next(args);
      },
      { step: "initialize", name: "broken" },
    );
    const played = activity();
    await playing(played, START_MS + 600_000);
    broken = false;
    expect([await stored(historyTable), failures]).toEqual([
      ["expired"],
      [new Error("the disk is full")],
    ]);
    await playing(played, START_MS + 600_000 + DAY_S * 1_000);
    expect(await stored(historyTable)).toEqual([]);
  });
});
