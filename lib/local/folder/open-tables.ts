import { type DynamoDBClient, ListTablesCommand } from "@aws-sdk/client-dynamodb";
import { tableDefinitions } from "../../store/table/tables.ts";
import { TABLE_NAMES } from "../run/names.ts";
import { ensureTables, startTables, type Tables } from "../tables/embedded-tables.ts";
import type { FolderLayout } from "./layout.ts";
import { damaged } from "./refused-folder.ts";

/** Starts the embedded tables of a folder. In a folder that was used before none is made anew: it would be empty. Throws `local.damaged` when one is gone. */
export const openTables = async (layout: FolderLayout, usedBefore: boolean): Promise<Tables> => {
  const tables = await startTables(layout.tables);
  const client = tables.client();
  try {
    if (usedBefore) await refuseLost(layout, client);
    else await ensureTables(client, tableDefinitions(TABLE_NAMES));
    return tables;
  } catch (error) {
    await tables.close().catch(() => undefined);
    throw error;
  } finally {
    client.destroy();
  }
};

const refuseLost = async (layout: FolderLayout, client: DynamoDBClient): Promise<void> => {
  const { TableNames = [] } = await client.send(new ListTablesCommand({}));
  const lost = Object.values(TABLE_NAMES).filter((name) => !TableNames.includes(name));
  if (lost.length > 0) throw damaged(layout, [`tables does not hold the table "${lost.join('" and the table "')}"`]);
};
