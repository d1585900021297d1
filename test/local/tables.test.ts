import diagnostics from "node:diagnostics_channel";
import { randomBytes } from "node:crypto";
import { cpSync, mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  BatchExecuteStatementCommand,
  DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  QueryCommand,
} from "@aws-sdk/client-dynamodb";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { withoutLogger } from "../../lib/stack/aws/bounded-requests.ts";
import { LOOPBACK_CREDENTIALS, LOOPBACK_REGION } from "../../lib/embedded/host/loopback.ts";
import { TABLE_NAMES } from "../../lib/embedded/layout.ts";
import {
  ensureTables,
  startTables,
  type EmbeddedTables,
} from "../../lib/embedded/tables/embedded-tables.ts";
import { logsOf } from "../../lib/embedded/tables/embedded-tables.ts";
import { tablesClient } from "../../lib/embedded/tables/tables-client.ts";
import { clientOver, startTablesThread } from "../../lib/embedded/tables/tables-thread.ts";
import { tableDefinitions } from "../../lib/stack/store/table/tables.ts";

const ITEM_BYTES = 100_000;
const OVERWRITES = 200;
const bytesOf = (folder: string): number =>
  readdirSync(folder).reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);

const { stateTable, historyTable } = TABLE_NAMES;
const Key = { pk: { S: "p" }, sk: { S: "s" } };

const startInThread = (path = ""): Promise<EmbeddedTables> => startTablesThread(path);

describe.each([
  ["in the thread of the run", startTables],
  ["in a thread of their own", startInThread],
])("The embedded tables %s", (_where, start) => {
  let dir: string;
  let tables: EmbeddedTables;
  let clients: DynamoDBClient[];
  beforeEach(async () => {
    dir = mkdtempSync(join(tmpdir(), "tidemark-tables-"));
    tables = await start(join(dir, "tables"));
    clients = [tables.client(), tablesClient(tables.endpoint)];
    for (const client of clients) await ensureTables(client, tableDefinitions(TABLE_NAMES));
  });
  afterEach(async () => {
    for (const client of clients) client.destroy();
    await tables.close();
    rmSync(dir, { recursive: true, force: true });
  });

  it("refuse at once what is asked after they were closed", { timeout: 10_000 }, async () => {
    const late = [tables.client()];
    const port = await tables.port?.();
    if (port) late.push(clientOver(port));
    await tables.close();
    const ask = new GetItemCommand({ TableName: stateTable, Key });
    for (const client of late) await expect(client.send(ask)).rejects.toThrow(/closed|ended/);
    tables = await start(join(dir, "tables"));
  });

  it("count what any client writes, in this process and over loopback, and nothing that is read", async () => {
    const before = tables.writes();
    for (const client of clients) {
      await client.send(new GetItemCommand({ TableName: stateTable, Key }));
      await client.send(
        new QueryCommand({
          TableName: stateTable,
          KeyConditionExpression: "pk = :p",
          ExpressionAttributeValues: { ":p": { S: "p" } },
        }),
      );
    }
    expect(tables.writes()).toBe(before);
    for (const client of clients)
      await client.send(new PutItemCommand({ TableName: stateTable, Item: Key }));
    // An answer over loopback may be here before the thread of the tables has counted it.
    await expect.poll(() => tables.writes()).toBe(before + clients.length);
  });

  it("answer the process that serves them without a socket", async () => {
    const requests: unknown[] = [];
    const note = (message: unknown) => requests.push(message);
    diagnostics.subscribe("http.client.request.start", note);
    try {
      const [own, other] = clients;
      await own?.send(new PutItemCommand({ TableName: stateTable, Item: Key }));
      expect(requests).toHaveLength(0);
      expect(await other?.send(new GetItemCommand({ TableName: stateTable, Key }))).toMatchObject({
        Item: Key,
      });
      expect(requests).toHaveLength(1);
    } finally {
      diagnostics.unsubscribe("http.client.request.start", note);
    }
  });

  it("give the disk free that overwritten items took, while they are read and written, and the rest when they are compacted", async () => {
    const [client] = clients;
    // The engine reads the whole item, and need not send it.
    const query = {
      ...{
        TableName: stateTable,
        KeyConditionExpression: "pk = :p",
        ExpressionAttributeValues: { ":p": { S: "p" } },
      },
      ProjectionExpression: "pk",
    };
    const overwrite = async (times: number): Promise<void> => {
      for (let at = 0; at < times; at++) {
        await client?.send(
          new PutItemCommand({
            TableName: stateTable,
            Item: { ...Key, body: { B: randomBytes(ITEM_BYTES) } },
          }),
        );
        await client?.send(new QueryCommand(query));
      }
    };
    await overwrite(OVERWRITES);
    // The engine compacts in the background: on a busy machine it is behind by some files.
    expect(bytesOf(join(dir, "tables"))).toBeLessThan(ITEM_BYTES * OVERWRITES * 0.85);
    await tables.compact();
    // A log of LevelDB has 4 MB at most.
    expect(bytesOf(join(dir, "tables"))).toBeLessThan(5 * 2 ** 20);
    expect((await client?.send(new QueryCommand(query)))?.Items).toHaveLength(1);
  });

  it("refuse in the same words with and without a socket", async () => {
    const refusals = clients.map((client) =>
      client
        .send(new PutItemCommand({ TableName: "another", Item: Key }))
        .catch((error: Error) => [error.name, error.message]),
    );
    const [own, other] = await Promise.all(refusals);
    expect(own).toEqual(["ResourceNotFoundException", "Requested resource not found"]);
    expect(own).toEqual(other);
  });

  it("insert by a batch of statements, and refuse every statement that is no INSERT of an item", async () => {
    const insert = `INSERT INTO "${historyTable}" VALUE {'pk': ?, 'sk': ?, 'body': ?}`;
    const item = [{ S: "p" }, { S: "s" }, { B: Buffer.of(0, 255) }];
    for (const [at, client] of clients.entries()) {
      const { Responses = [] } = await client.send(
        new BatchExecuteStatementCommand({
          Statements: [
            { Statement: insert, Parameters: item },
            { Statement: insert, Parameters: item.slice(1) },
            { Statement: `DELETE FROM "${historyTable}" WHERE pk = ?`, Parameters: [{ S: "p" }] },
            { Statement: insert.replace(historyTable, "another"), Parameters: item },
          ],
        }),
      );
      expect(Responses.map(({ Error: error }) => error?.Code)).toEqual([
        at === 0 ? undefined : "DuplicateItem",
        "ValidationError",
        "ValidationError",
        "ResourceNotFound",
      ]);
    }
    const found = await clients[0]?.send(new GetItemCommand({ TableName: historyTable, Key }));
    expect(Buffer.from(found?.Item?.["body"]?.B ?? [])).toEqual(Buffer.of(0, 255));
  });

  it("refuse a batch of more statements than DynamoDB takes", async () => {
    const Statement = `INSERT INTO "${historyTable}" VALUE {'pk': ?, 'sk': ?}`;
    const Statements = Array.from({ length: 26 }, (_, at) => ({
      Statement,
      Parameters: [{ S: "p" }, { S: String(at) }],
    }));
    await expect(
      clients[0]?.send(new BatchExecuteStatementCommand({ Statements })),
    ).rejects.toMatchObject({ name: "ValidationException" });
  });

  it("take many requests at once, give each its own answer, and keep what was answered", async () => {
    const client = tables.client();
    const numbered = (at: number) => ({ ...Key, sk: { S: String(at) } });
    const all = Array.from({ length: 60 }, (_item, at) => at);
    await Promise.all(
      all.map((at) =>
        client.send(
          new PutItemCommand({
            TableName: stateTable,
            Item: { ...numbered(at), at: { N: String(at) } },
          }),
        ),
      ),
    );
    const read = await Promise.all(
      all.map((at) =>
        client.send(new GetItemCommand({ TableName: stateTable, Key: numbered(at) })),
      ),
    );
    expect(read.map((answer) => answer.Item?.["at"]?.N)).toEqual(all.map(String));
    client.destroy();
    await tables.close();
    tables = await startTables(join(dir, "tables"));
    const again = tables.client();
    expect(
      (
        await again.send(
          new GetItemCommand({ TableName: stateTable, Key: { ...Key, sk: { S: "59" } } }),
        )
      ).Item?.["at"]?.N,
    ).toBe("59");
    again.destroy();
  });

  it("are called by clients that do not walk through inputs and outputs for a log", async () => {
    const lines: unknown[] = [];
    const note = (line: unknown) => void lines.push(line);
    const logger = { debug: () => {}, info: note, warn: note, error: note };
    const plain = new DynamoDBClient({
      endpoint: tables.endpoint,
      region: LOOPBACK_REGION,
      credentials: LOOPBACK_CREDENTIALS,
      logger,
    });
    await plain.send(new GetItemCommand({ TableName: stateTable, Key }));
    const logged = lines.length;
    expect(logged).toBeGreaterThan(0);
    await withoutLogger(plain).send(new GetItemCommand({ TableName: stateTable, Key }));
    expect(lines).toHaveLength(logged);
    plain.destroy();
  });
});

describe("The durable tables of a run on a real cluster", () => {
  const folders: string[] = [];
  const newFolder = (): string => {
    const folder = mkdtempSync(join(tmpdir(), "tidemark-durable-"));
    folders.push(folder);
    return folder;
  };
  afterEach(() => {
    for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
  });
  const put = (client: DynamoDBClient, sk: string) =>
    client.send(
      new PutItemCommand({ TableName: stateTable, Item: { pk: { S: "p" }, sk: { S: sk } } }),
    );

  it("answer no write before the disk has it: what was answered is in the copy of the last commit", async () => {
    const path = join(newFolder(), "tables");
    const after = join(newFolder(), "tables");
    const real = logsOf(path);
    let commits = 0;
    /** The power is cut after this commit: later ones do not reach the copy. */
    let cut = Number.POSITIVE_INFINITY;
    const sync = async (): Promise<void> => {
      await real();
      if (++commits > cut) throw new Error("the power is cut");
      rmSync(after, { recursive: true, force: true });
      cpSync(path, after, { recursive: true });
    };
    const tables = await startTables(path, { durable: true, sync });
    const client = tables.client();
    await ensureTables(client, tableDefinitions(TABLE_NAMES));
    const before = commits;
    await Promise.all(Array.from({ length: 40 }, (_, at) => put(client, `together-${at}`)));
    // One write takes the first commit, the others share the next.
    expect(commits - before).toBeLessThanOrEqual(3);
    await put(client, "last");
    cut = commits;
    await expect(put(client, "lost")).rejects.toThrow(
      "the tables cannot be kept on the disk: the power is cut",
    );
    await expect(put(client, "after it"), "every later write").rejects.toThrow(
      "cannot be kept on the disk",
    );
    client.destroy();
    await tables.close();
    const again = await startTables(after);
    const reader = again.client();
    const { Items = [] } = await reader.send(
      new QueryCommand({
        TableName: stateTable,
        KeyConditionExpression: "pk = :p",
        ExpressionAttributeValues: { ":p": { S: "p" } },
      }),
    );
    expect(Items.map(({ sk }) => sk?.S).toSorted()).toEqual(
      [...Array.from({ length: 40 }, (_, at) => `together-${at}`), "last"].toSorted(),
    );
    reader.destroy();
    await again.close();
  });

  it("take no commit for what only reads", async () => {
    let commits = 0;
    const tables = await startTables(join(newFolder(), "tables"), {
      durable: true,
      sync: async () => {
        commits++;
      },
    });
    const client = tables.client();
    await ensureTables(client, tableDefinitions(TABLE_NAMES));
    const before = commits;
    await client.send(new GetItemCommand({ TableName: stateTable, Key }));
    expect(commits).toBe(before);
    client.destroy();
    await tables.close();
  });
});
