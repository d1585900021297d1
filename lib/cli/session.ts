import { randomUUID } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";
import { openFolder } from "../local/folder/data-folder.ts";
import { findFolder } from "../local/folder/find-folder.ts";
import { TABLE_NAMES } from "../local/run/names.ts";
import { openService } from "../service/open.ts";
import { insertByStatement } from "../store/history/insert.ts";
import type { Session } from "./io.ts";
import type { Place } from "./place.ts";
import { usage } from "./usage.ts";

/** Opens what a command works on. */
export const openPlace = async (place: Place, by: string): Promise<Session> => {
  // The one needs no signatures, the other no tables.
  if (place.kind === "stack") return (await import("./stack-session.ts")).openStack(place);
  return openDataFolder(place.from === "default" ? theFolder() : place.dir, by);
};

/** The folder of a command that names none. Throws a usage error where there are several to choose from. */
const theFolder = (): string => {
  const found = findFolder();
  if (found.kind === "one") return found.dir;
  const names = found.dirs.map((dir) => `"${dir}"`).join(", ");
  throw usage(`Cannot choose a data folder: ${found.alive ? "runs are alive in" : "no run is alive, and there are"} ${names}; name one with --data`);
};

/** Opens the data folder of an embedded run, alive or ended, for one command. Throws `local.no-data`, `local.folder-in-use`. */
export const openDataFolder = async (dataDir: string, by: string): Promise<Session> => {
  const folder = await openFolder(dataDir);
  const client = folder.client();
  const tables = {
    client,
    ...TABLE_NAMES,
    clock: () => performance.now(),
    wait: async (ms: number) => wait(ms),
    random: Math.random,
    token: randomUUID,
    // No end: an export may take long. Each call is repeated a bounded number of times (lib/store/table/repeat.ts).
  };
  const service = openService({ tables, insert: insertByStatement(tables), clock: folder.clock, by, newUid: randomUUID });
  return {
    service,
    nowMs: folder.clock(),
    endsInOrder: true,
    close: async () => {
      client.destroy();
      await folder.close();
    },
  };
};
