import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { TABLE_NAMES } from "../../../lib/local/run/names.ts";
import { ensureTables, startTables } from "../../../lib/local/tables/embedded-tables.ts";
import { tablesClient } from "../../../lib/local/tables/tables-client.ts";
import type { ServiceContext } from "../../../lib/service/context.ts";
import { insertByStatement } from "../../../lib/store/history/item.ts";
import { type Tables, tableDefinitions } from "../../../lib/store/table/tables.ts";
import { NOON } from "../../noon.ts";

export interface ServiceWorld {
  readonly context: ServiceContext;
  readonly tables: Tables;
  /** Moves the clock that every answer is measured by. */
  readonly set: (nowMs: number) => void;
  readonly close: () => Promise<void>;
}

export const tablesOn = (endpoint: string): Tables => ({
  client: tablesClient(endpoint),
  ...TABLE_NAMES,
  clock: () => performance.now(),
  wait: async (ms) => wait(ms),
  random: Math.random,
  token: randomUUID,
});

/** A context over a DynamoDB engine of its own, on disk in a folder that is gone afterwards. Uids count up: uid-1, uid-2. */
export const serviceWorld = async (by = "ada"): Promise<ServiceWorld> => {
  const dir = mkdtempSync(join(tmpdir(), "tidemark-service-"));
  const engine = await startTables(join(dir, "tables"));
  const client = tablesClient(engine.endpoint);
  await ensureTables(client, tableDefinitions(TABLE_NAMES));
  client.destroy();
  const tables = tablesOn(engine.endpoint);
  let nowMs = NOON;
  let uids = 0;
  return {
    tables,
    context: { tables, insert: insertByStatement(tables), clock: () => nowMs, by, newUid: () => `uid-${++uids}` },
    set: (ms) => {
      nowMs = ms;
    },
    close: async () => {
      await engine.close();
      rmSync(dir, { recursive: true, force: true });
    },
  };
};
