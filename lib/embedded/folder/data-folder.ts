import { setTimeout as wait } from "node:timers/promises";
import { type DynamoDBClient, ListTablesCommand } from "@aws-sdk/client-dynamodb";
import { isTidemarkError, TidemarkError } from "../../rules/model/errors.ts";
import { tableDefinitions } from "../../stack/store/table/tables.ts";
import { TABLE_NAMES, DEFAULT_DATA_FOLDER, type FolderLayout, folderLayout } from "../layout.ts";
import type { EmbeddedTables } from "../tables/embedded-tables.ts";
import { tablesClient } from "../tables/tables-client.ts";
import { refuseDamaged, damaged } from "./damage.ts";
import { type Holder, holdFolder, livingRun } from "./folder-lock.ts";
import { flowingNowMs, readSavedClock, restingNowMs } from "../engine/clock.ts";
import { closedWithNames } from "./names.ts";
import { breakSeal, sealFolder } from "./seal.ts";
import { type FolderState, folderState, refuseUnsafeFolder } from "./state.ts";

export { DEFAULT_DATA_FOLDER };

/**
 * How long a command waits for another command that holds the folder, or for a run that is
 * starting.
 */
const PATIENCE_MS = 10_000;
const LOOK_AGAIN_MS = 50;

/** A data folder as a command sees it: its tables and its time. */
export interface OpenFolder {
  readonly dir: string;
  /** Where the tables answer other processes. */
  readonly endpoint: string;
  /**
   * A new client of the tables: over loopback to the run, without a socket where this process
   * serves them.
   */
  readonly client: () => DynamoDBClient;
  /** The folder's time: the running clock, or where the last run stopped. */
  readonly clock: () => number;
  /**
   * The process that is running on the folder; absent when nothing runs and this process serves the
   * tables itself.
   */
  readonly run?: Holder;
  readonly close: () => Promise<void>;
}

/**
 * Opens the data folder for one command, during a run or after it. Without a run this process
 * serves the tables until `close`, and holds the folder meanwhile. Throws `local.no-data` when no
 * run was ever started there, `local.folder-in-use` when another command does not release it,
 * `local.damaged` and `local.not-ours`.
 */
export const openFolder = async (folder: string = DEFAULT_DATA_FOLDER): Promise<OpenFolder> => {
  const layout = folderLayout(folder);
  const giveUpAt = performance.now() + PATIENCE_MS;
  for (;;) {
    const state = folderState(layout);
    if (state.kind !== "absent") refuseUnsafeFolder(layout);
    const run = state.kind === "absent" ? undefined : livingRun(layout);
    const opened = run ? openLiving(layout, run) : await openResting(layout, state);
    if (opened) return opened;
    // A run that is starting or closing has no endpoint.
    if (performance.now() > giveUpAt) throw notReady(layout, run?.pid);
    await wait(LOOK_AGAIN_MS);
  }
};

const openLiving = (layout: FolderLayout, run: Holder): OpenFolder | undefined => {
  const saved = readSavedClock(layout);
  const { tablesEndpoint } = run;
  if (!saved || tablesEndpoint === undefined) return undefined;
  return {
    dir: layout.dir,
    endpoint: tablesEndpoint,
    client: () => tablesClient(tablesEndpoint),
    clock: () => flowingNowMs(readSavedClock(layout) ?? saved, Date.now()),
    run,
    close: async () => {},
  };
};

const openResting = async (
  layout: FolderLayout,
  state: FolderState,
): Promise<OpenFolder | undefined> => {
  if (state.kind !== "ready")
    throw new TidemarkError("local.no-data", `No data in "${layout.named}": start a run first`, {
      folder: layout.named,
    });
  const { identity } = state;
  const held = await holdFolder(layout, "command", PATIENCE_MS).catch((error: unknown) => {
    // A run has started meanwhile and will serve the tables.
    if (isTidemarkError(error, "local.folder-in-use") && livingRun(layout)) return undefined;
    throw error;
  });
  if (!held) return undefined;
  try {
    refuseDamaged(layout, identity, "command");
    const saved = readSavedClock(layout);
    const sealed = breakSeal(layout, "command");
    // A virtual run can be played again; what a run on a real cluster has written is the memory of
    // real workloads.
    const tables = await openTables(layout, { usedBefore: true, durable: saved?.kind === "real" });
    return {
      dir: layout.dir,
      endpoint: tables.endpoint,
      client: tables.client,
      clock: () => (saved ? restingNowMs(saved, Date.now()) : identity.startMs),
      close: async () => {
        try {
          sealFolder(layout, "command", sealed, await closedWithNames(tables, sealed.names));
        } finally {
          held.release();
        }
      },
    };
  } catch (error) {
    held.release();
    throw error;
  }
};

const notReady = (layout: FolderLayout, pid: number | undefined): TidemarkError =>
  new TidemarkError(
    "local.not-ready",
    `Cannot open "${layout.dir}": the run with pid ${pid} has no tables yet`,
    { dir: layout.dir, pid },
  );

/**
 * Starts the embedded tables of a folder, in a thread of their own beside the syncs of many
 * clusters. In a folder that was used before none is made anew: it would be empty. Throws
 * `local.damaged` when one is gone.
 */
export const openTables = async (
  layout: FolderLayout,
  {
    usedBefore,
    durable,
    inThread = false,
  }: { readonly usedBefore: boolean; readonly durable: boolean; readonly inThread?: boolean },
): Promise<EmbeddedTables> => {
  // Loaded on demand: beside a living run a command needs no engine.
  const { ensureTables, startTables } = await import("../tables/embedded-tables.ts");
  const inOwnThread = inThread && (await import("../tables/tables-thread.ts"));
  const tables = await (inOwnThread
    ? inOwnThread.startTablesThread(layout.tables)
    : startTables(layout.tables, { durable }));
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
  if (lost.length > 0)
    throw damaged(layout, [`tables does not hold the table "${lost.join('" and the table "')}"`]);
};
