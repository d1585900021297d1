import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { setTimeout as wait } from "node:timers/promises";
import {
  CreateTableCommand,
  type CreateTableCommandInput,
  DescribeTableCommand,
  DynamoDBClient,
  ResourceInUseException,
} from "@aws-sdk/client-dynamodb";
import dynalite from "dynalite";
import { boundedRequests } from "../../aws/bounded-requests.ts";
import { TidemarkError } from "../../model/errors.ts";
import { closeServer, LOOPBACK_CREDENTIALS, LOOPBACK_REGION, listenOnLoopback } from "./loopback.ts";

const TABLE_POLL_MS = 5;
/** A table is made in milliseconds; one that was being made when its engine died stays so for ever. */
const TABLE_PATIENCE_MS = 10_000;

/** Many times what the slowest call takes: a process that serves the tables and does not answer, because it is stopped, must not hold a command for ever. */
const CONNECT_MS = 5_000;
const ANSWER_MS = 30_000;

export interface Tables {
  readonly endpoint: string;
  /** Write requests answered so far, those of other processes among them. */
  readonly writes: () => number;
  readonly close: () => Promise<void>;
}

/** Starts the embedded DynamoDB on a LevelDB folder, on a free port of 127.0.0.1. The caller must hold the data folder: LevelDB admits one process. */
export const startTables = async (path: string): Promise<Tables> => {
  const server = dynalite({ path, createTableMs: 0, deleteTableMs: 0, updateTableMs: 0 });
  const writes = countWrites(server);
  const endpoint = await listenOnLoopback(server);
  return { endpoint, writes, close: () => closeServer(server) };
};

const READS = /\.(?:GetItem|BatchGetItem|Query|Scan|DescribeTable|ListTables)$/;

/** Counts after the answer was sent: a reader that sees the count also sees what was written. */
const countWrites = (server: Server): (() => number) => {
  let count = 0;
  server.on("request", ({ headers }: IncomingMessage, response: ServerResponse) => {
    if (READS.test(String(headers["x-amz-target"]))) return;
    response.once("finish", () => {
      count++;
    });
  });
  return () => count;
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

/** A client for the embedded tables. Connections are kept, since a sync makes several calls in a row. */
export const tablesClient = (endpoint: string): DynamoDBClient =>
  new DynamoDBClient({
    endpoint,
    region: LOOPBACK_REGION,
    credentials: LOOPBACK_CREDENTIALS,
    requestHandler: boundedRequests({ connectMs: CONNECT_MS, wholeMs: ANSWER_MS }),
  });

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
