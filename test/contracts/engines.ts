import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import dynalite from "dynalite";
import { closeServer, LOOPBACK_CREDENTIALS, LOOPBACK_REGION, listenOnLoopback } from "../../lib/local/loopback.ts";
import { ensureTables } from "../../lib/local/tables.ts";
import type { InsertHistory } from "../../lib/store/history-port.ts";
import { insertByPut } from "../../lib/store/history-put.ts";
import { type Tables, tableDefinitions } from "../../lib/store/tables.ts";

/** A table engine with both tables made, and the way it appends to history. */
export interface Engine {
  readonly client: DynamoDBClient;
  readonly tables: Pick<Tables, "stateTable" | "historyTable">;
  readonly insert: (tables: Tables) => InsertHistory;
  readonly close: () => Promise<void>;
}

const TABLES = { stateTable: "state", historyTable: "history" };

export const clientAt = (endpoint: string): DynamoDBClient =>
  new DynamoDBClient({ endpoint, region: LOOPBACK_REGION, credentials: LOOPBACK_CREDENTIALS, maxAttempts: 1 });

/** Makes both tables behind an endpoint. */
export const engineAt = async (endpoint: string, insert: Engine["insert"], stop: () => Promise<void>): Promise<Engine> => {
  const client = clientAt(endpoint);
  await ensureTables(client, tableDefinitions(TABLES));
  const close = async (): Promise<void> => {
    client.destroy();
    await stop();
  };
  return { client, tables: TABLES, insert, close };
};

/** The embedded engine, in memory and in this process. */
export const startDynalite = async (): Promise<Engine> => {
  const server = dynalite({ createTableMs: 0, deleteTableMs: 0, updateTableMs: 0 });
  return engineAt(await listenOnLoopback(server), insertByPut, () => closeServer(server));
};
