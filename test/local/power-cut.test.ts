import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  truncateSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type DynamoDBClient, GetItemCommand, PutItemCommand } from "@aws-sdk/client-dynamodb";
import { afterAll, describe, expect, it } from "vitest";
import { ensureTables, logsOf, startTables } from "../../lib/embedded/tables/embedded-tables.ts";
import { randomOf } from "../simulation/random.ts";

const folder = mkdtempSync(join(tmpdir(), "tidemark-power-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const TABLE = "state";
const DEFINITION = {
  TableName: TABLE,
  KeySchema: [{ AttributeName: "pk", KeyType: "HASH" as const }],
  AttributeDefinitions: [{ AttributeName: "pk", AttributeType: "S" as const }],
  BillingMode: "PAY_PER_REQUEST" as const,
};

const put = (client: DynamoDBClient, key: string, value: number): Promise<unknown> =>
  client.send(
    new PutItemCommand({
      TableName: TABLE,
      Item: { pk: { S: key }, value: { N: String(value) }, filler: { S: "x".repeat(500) } },
    }),
  );

const countIn = async (client: DynamoDBClient, key: string): Promise<number> => {
  const { Item } = await client.send(
    new GetItemCommand({ TableName: TABLE, Key: { pk: { S: key } }, ConsistentRead: true }),
  );
  return Number(Item?.["value"]?.N ?? 0);
};

const sizesOf = (path: string): ReadonlyMap<string, number> =>
  new Map(readdirSync(path).map((name) => [name, statSync(join(path, name)).size]));

/**
 * What the disk has after a loss of power: each file as it is, and of a log every byte that was
 * made durable, and any number of those after it.
 */
const diskAfterCut = (
  path: string,
  durable: ReadonlyMap<string, number>,
  into: string,
  share: number,
): void => {
  mkdirSync(into);
  for (const [name, bytes] of sizesOf(path)) {
    if (name === "LOCK") continue;
    copyFileSync(join(path, name), join(into, name));
    const kept = durable.get(name) ?? 0;
    if (name.endsWith(".log"))
      truncateSync(join(into, name), kept + Math.floor((bytes - kept) * share));
  }
};

const WRITERS = 6;
const CUTS = 12;

describe("a loss of power", () => {
  it("takes no write that was answered, wherever it cuts off the log, and the tables open", {
    timeout: 120_000,
  }, async () => {
    const random = randomOf(27, "accidents");
    const path = join(folder, "tables");
    let durable = sizesOf(folder);
    const sync = logsOf(path);
    const tables = await startTables(path, {
      durable: true,
      sync: async () => {
        const before = sizesOf(path);
        await sync();
        durable = before;
      },
    });
    const client = tables.client();
    await ensureTables(client, [DEFINITION]);
    // A table that the power was cut off from while it was made is another matter: nothing is in
    // it.
    await put(client, "first", 1);
    const answered = new Map<string, number>();
    const cuts: { readonly disk: string; readonly answered: ReadonlyMap<string, number> }[] = [];
    let stops = false;
    const writer = async (key: string): Promise<void> => {
      for (let value = 1; !stops; value++) {
        await put(client, key, value);
        answered.set(key, value);
      }
    };
    const writers = Array.from({ length: WRITERS }, (_, at) => writer(`writer-${at}`));
    for (let cut = 0; cut < CUTS; cut++) {
      await new Promise((resolve) => setTimeout(resolve, random.int(5, 60)));
      const disk = join(folder, `cut-${cut}`);
      const known = new Map(answered);
      diskAfterCut(path, durable, disk, random.chance(1 / 4) ? 0 : random.real());
      cuts.push({ disk, answered: known });
    }
    stops = true;
    await Promise.all(writers);
    await tables.close();
    expect(answered.size).toBe(WRITERS);
    for (const { disk, answered: known } of cuts) {
      const again = await startTables(disk);
      const reader = again.client();
      for (const [key, value] of known)
        expect(await countIn(reader, key), `${key} in ${disk}`).toBeGreaterThanOrEqual(value);
      await again.close();
    }
  });
});
