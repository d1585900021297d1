import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { TABLE_NAMES } from "../../../lib/embedded/layout.ts";
import { ensureTables, startTables } from "../../../lib/embedded/tables/embedded-tables.ts";
import { tablesClient } from "../../../lib/embedded/tables/tables-client.ts";
import type { ServiceContext } from "../../../lib/answers/service/context.ts";
import { insertByStatement } from "../../../lib/stack/store/history/item.ts";
import { type Tables, tableDefinitions } from "../../../lib/stack/store/table/tables.ts";
import { memoryEngine } from "../../contracts/memory-engine.ts";
import { NOON } from "../../noon.ts";

export interface ServiceWorld {
  readonly context: ServiceContext;
  readonly tables: Tables;
  /** Moves the clock that every answer is measured by. */
  readonly set: (nowMs: number) => void;
  readonly close: () => Promise<void>;
}

export const tablesOn = (endpoint: string): Tables => tablesThrough(tablesClient(endpoint));

export const tablesThrough = (client: Tables["client"]): Tables => ({
  client,
  ...TABLE_NAMES,
  clock: () => performance.now(),
  wait: async (ms) => wait(ms),
  random: Math.random,
  token: randomUUID,
});

type OpenTables = Pick<ServiceWorld, "tables" | "close">;

/** The embedded engine, in a folder that is gone afterwards. */
export const tablesOnDisk = async (): Promise<OpenTables> => {
  const dir = mkdtempSync(join(tmpdir(), "tidemark-service-"));
  const engine = await startTables(join(dir, "tables"));
  const client = tablesClient(engine.endpoint);
  await ensureTables(client, tableDefinitions(TABLE_NAMES));
  client.destroy();
  const close = async (): Promise<void> => {
    await engine.close();
    rmSync(dir, { recursive: true, force: true });
  };
  return { tables: tablesOn(engine.endpoint), close };
};

/** The engine that passes the contract suite of the others. */
export const tablesInMemory = async (): Promise<OpenTables> => ({
  tables: tablesThrough(memoryEngine().client),
  close: () => Promise.resolve(),
});

/** A context over tables of its own, as a rule in memory. Uids count up: uid-1, uid-2. */
export const serviceWorld = async (
  by = "ada",
  open: () => Promise<OpenTables> = tablesInMemory,
): Promise<ServiceWorld> => {
  const { tables, close } = await open();
  let nowMs = NOON;
  let uids = 0;
  return {
    tables,
    context: {
      tables,
      insert: insertByStatement(tables),
      clock: () => nowMs,
      by,
      newUid: () => `uid-${++uids}`,
    },
    set: (ms) => {
      nowMs = ms;
    },
    close,
  };
};
