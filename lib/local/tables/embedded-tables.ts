import type { IncomingMessage, RequestListener, Server, ServerResponse } from "node:http";
import { setTimeout as wait } from "node:timers/promises";
import {
  CreateTableCommand,
  type CreateTableCommandInput,
  DescribeTableCommand,
  type DynamoDBClient,
  ResourceInUseException,
} from "@aws-sdk/client-dynamodb";
import { TidemarkError } from "../../model/errors.ts";
import { closeServer, listenForOwnUser } from "../run/loopback.ts";
import { logsOf, READS, withDurableWrites } from "./durable-writes.ts";
import { openEngine } from "./engine-store.ts";
import { withInsertStatements } from "./insert-statements.ts";
import { inProcessClient } from "./tables-client.ts";

const TABLE_POLL_MS = 5;
/** A table is made within milliseconds. A table whose engine died while it was made never becomes ready. */
const TABLE_PATIENCE_MS = 10_000;

export interface Tables {
  /** Where other processes of this user reach the tables, on loopback, with the secret of this run. */
  readonly endpoint: string;
  /** A new client for this process. */
  readonly client: () => DynamoDBClient;
  /** Write requests answered so far, those of other processes among them. */
  readonly writes: () => number;
  /** Gives the disk free that overwritten and deleted items took, while requests go on. */
  readonly compact: () => Promise<void>;
  readonly close: () => Promise<void>;
}

export interface TablesOptions {
  /** Answers a write only once it survives a loss of power, not only the death of the process. */
  readonly durable?: boolean;
  /** Makes durable what the engine has written. */
  readonly sync?: () => Promise<void>;
}

/** Every key begins with the name of what it belongs to, in ASCII. */
const [FIRST_KEY, LAST_KEY] = ["\u0000", "\uffff"];

/** Starts the embedded DynamoDB on a LevelDB folder, or in memory, on a free port of 127.0.0.1. The caller must hold the data folder: LevelDB admits one process. */
export const startTables = async (path?: string, { durable = false, sync }: TablesOptions = {}): Promise<Tables> => {
  const { server, store } = openEngine(path);
  const [engine] = server.listeners("request") as RequestListener[];
  if (!engine) throw new TypeError("the embedded engine has no request listener");
  const statements = withInsertStatements(engine);
  const listener = path !== undefined && durable ? withDurableWrites(statements, sync ?? logsOf(path)) : statements;
  server.removeAllListeners("request").on("request", listener);
  let writes = 0;
  const count = (target: string): void => {
    if (!READS.test(target)) writes++;
  };
  countAnswers(server, count);
  const endpoint = await listenForOwnUser(server);
  return {
    endpoint,
    client: () => inProcessClient(listener, count),
    writes: () => writes,
    compact: async () => store.compactRange?.(FIRST_KEY, LAST_KEY),
    close: () => closeServer(server),
  };
};

/** Counts after the answer was sent: a reader that sees the count also sees what was written. */
const countAnswers = (server: Server, count: (target: string) => void): void => {
  server.on("request", ({ headers }: IncomingMessage, response: ServerResponse) => {
    response.once("finish", () => count(String(headers["x-amz-target"])));
  });
};

/** Creates the tables that are not there yet and waits until all answer. */
export const ensureTables = async (client: DynamoDBClient, definitions: readonly CreateTableCommandInput[]): Promise<void> => {
  for (const definition of definitions) {
    try {
      await client.send(new CreateTableCommand(definition));
    } catch (error) {
      // The table is there already: the folder was used before.
      if (!(error instanceof ResourceInUseException)) throw error;
    }
    await untilActive(client, definition.TableName);
  }
};

const untilActive = async (client: DynamoDBClient, TableName: string | undefined): Promise<void> => {
  const giveUpAt = performance.now() + TABLE_PATIENCE_MS;
  for (;;) {
    const { Table } = await client.send(new DescribeTableCommand({ TableName }));
    if (Table?.TableStatus === "ACTIVE") return;
    if (performance.now() > giveUpAt)
      throw new TidemarkError("local.table-not-ready", `Cannot make table "${TableName}": it is still ${Table?.TableStatus}`, { TableName });
    await wait(TABLE_POLL_MS);
  }
};
