import type { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { TABLE_NAMES } from "../../lib/embedded/layout.ts";
import { ensureTables } from "../../lib/embedded/tables/embedded-tables.ts";
import { tableDefinitions } from "../../lib/stack/store/table/tables.ts";
import { clientAt, isLocalThere, startDynalite, startLocal } from "../contracts/engines.ts";

/** The engine behind the tables of a run, in a place that other processes reach. */
export interface ChaosTables {
  readonly name: string;
  readonly endpoint: string;
  readonly client: DynamoDBClient;
  readonly close: () => Promise<void>;
}

/** Starts DynamoDB Local where it is, else the embedded engine. */
export const startChaosTables = async (): Promise<ChaosTables> => {
  const engine = isLocalThere ? await startLocal() : await startDynalite();
  const { endpoint } = engine;
  if (endpoint === undefined) throw new TypeError("both engines have an address");
  const client = clientAt(endpoint);
  await ensureTables(client, tableDefinitions(TABLE_NAMES));
  const close = async (): Promise<void> => {
    client.destroy();
    await engine.close();
  };
  return { name: isLocalThere ? "DynamoDB Local" : "the embedded tables", endpoint, client, close };
};
