import { existsSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { insertByStatement } from "../../../lib/store/history/insert.ts";
import { PURE_PART } from "../../../lib/sync/decide/pure-part.ts";
import { sync } from "../../../lib/sync/sync.ts";
import { warmCache } from "../../../lib/sync/load/warm-cache.ts";

/** What of a build a seed plays: the sync with its store, its rules and its memory. */
export interface Build {
  readonly sync: typeof sync;
  readonly insertByStatement: typeof insertByStatement;
  readonly rules: typeof PURE_PART;
  readonly warmCache: typeof warmCache;
}

export const THIS_BUILD: Build = { sync, insertByStatement, rules: PURE_PART, warmCache };

/** Files of `lib` and the names that they export, the newest place first. */
const EXPORTS = {
  sync: [["sync/sync.ts", "sync"]],
  insertByStatement: [["store/history/insert.ts", "insertByStatement"]],
  rules: [
    ["sync/pure-part.ts", "PURE_PART"],
    ["sync/rules.ts", "RULES"],
  ],
  warmCache: [["sync/warm-cache.ts", "warmCache"]],
} as const;

/** The build whose sources are in a folder. Throws a RangeError for one that is too old: its sync needs other ports than this one. */
export const buildIn = async (folder: string): Promise<Build> => {
  const found = Object.entries(EXPORTS).map(async ([part, places]) => {
    const [path, name] = places.find(([file]) => existsSync(join(folder, "lib", file))) ?? places[0];
    const file: object = await import(pathToFileURL(join(folder, "lib", path)).href);
    const value: unknown = Reflect.get(file, name);
    if (value === undefined) throw new RangeError(`Cannot play the build in "${folder}": lib/${path} has no "${name}"`);
    return [part, value] as const;
  });
  return Object.fromEntries(await Promise.all(found)) as unknown as Build;
};
