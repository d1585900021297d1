import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { GetItemCommand, PutItemCommand, QueryCommand } from "@aws-sdk/client-dynamodb";
import { expect, it } from "vitest";
import { TABLE_NAMES } from "../../lib/local/run/names.ts";
import { ensureTables, startTables, tablesClient } from "../../lib/local/run/tables.ts";
import { tableDefinitions } from "../../lib/store/table/tables.ts";

it("The embedded tables count what any client writes, and nothing that is read", async () => {
  const dir = mkdtempSync(join(tmpdir(), "tidemark-tables-"));
  const tables = await startTables(join(dir, "tables"));
  const [one, other] = [tablesClient(tables.endpoint), tablesClient(tables.endpoint)];
  try {
    await ensureTables(one, tableDefinitions(TABLE_NAMES));
    const before = tables.writes();
    const Key = { pk: { S: "p" }, sk: { S: "s" } };
    await one.send(new GetItemCommand({ TableName: TABLE_NAMES.stateTable, Key }));
    await one.send(
      new QueryCommand({ TableName: TABLE_NAMES.stateTable, KeyConditionExpression: "pk = :p", ExpressionAttributeValues: { ":p": { S: "p" } } }),
    );
    expect(tables.writes()).toBe(before);
    await one.send(new PutItemCommand({ TableName: TABLE_NAMES.stateTable, Item: Key }));
    await other.send(new PutItemCommand({ TableName: TABLE_NAMES.historyTable, Item: Key }));
    expect(tables.writes()).toBe(before + 2);
  } finally {
    one.destroy();
    other.destroy();
    await tables.close();
    rmSync(dir, { recursive: true, force: true });
  }
});
