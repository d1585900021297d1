import { existsSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { insertByStatement } from "../../../lib/stack/store/history/item.ts";
import { PURE_PART } from "../../../lib/stack/sync/pure-part.ts";
import { sync } from "../../../lib/stack/sync/sync.ts";
import { warmCache } from "../../../lib/stack/sync/load/warm-cache.ts";

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
  sync: [
    ["stack/sync/sync.ts", "sync"],
    ["sync/sync.ts", "sync"],
  ],
  insertByStatement: [
    ["stack/store/history/item.ts", "insertByStatement"],
    ["store/history/item.ts", "insertByStatement"],
    ["store/history/insert.ts", "insertByStatement"],
  ],
  rules: [
    ["stack/sync/pure-part.ts", "PURE_PART"],
    ["stack/sync/decide/pure-part.ts", "PURE_PART"],
    ["sync/decide/pure-part.ts", "PURE_PART"],
    ["sync/pure-part.ts", "PURE_PART"],
    ["sync/rules.ts", "RULES"],
  ],
  warmCache: [
    ["stack/sync/load/warm-cache.ts", "warmCache"],
    ["sync/load/warm-cache.ts", "warmCache"],
    ["sync/warm-cache.ts", "warmCache"],
  ],
} as const;

type Places = readonly (readonly [file: string, name: string])[];

/** What the checkout in a folder exports, by part. Throws a RangeError for one without a part. */
export const exportsIn = async (
  folder: string,
  parts: Readonly<Record<string, Places>>,
): Promise<Readonly<Record<string, unknown>>> => {
  const found = Object.entries(parts).map(async ([part, places]) => {
    // An earlier checkout may have a file of the same name without the part.
    for (const [file, name] of places.filter(([path]) => existsSync(join(folder, "lib", path)))) {
      const value: unknown = Reflect.get(
        (await import(pathToFileURL(join(folder, "lib", file)).href)) as object,
        name,
      );
      if (value !== undefined) return [part, value] as const;
    }
    throw new RangeError(
      `Cannot use the checkout in "${folder}": none of ${places.map(([path]) => `lib/${path}`).join(", ")} has its "${part}"`,
    );
  });
  return Object.fromEntries(await Promise.all(found));
};

/**
 * The build whose sources are in a folder. Throws a RangeError for one that is too old: its sync
 * needs other ports than this one.
 */
export const buildIn = async (folder: string): Promise<Build> =>
  (await exportsIn(folder, EXPORTS)) as unknown as Build;
