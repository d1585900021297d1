import { closeSync, fstatSync, openSync, readdirSync, readFileSync, readSync } from "node:fs";
import { join } from "node:path";
import { logRecords } from "./leveldb-log.ts";
import { type Manifest, readManifest } from "./leveldb-manifest.ts";
import { isMissing, readIfThere } from "./whole-file.ts";

/** The last eight bytes of a table file. */
const TABLE_MAGIC = Buffer.from("57fb808b247547db", "hex");

/**
 * What LevelDB would go on without, one sentence for each: it begins an empty database where CURRENT is missing, leaves out what it cannot read of its newest log, and looks into
 * a table only when it is asked for something in it. Files that a `kill -9` cut off are no problem. Reads only; the folder must be at rest.
 */
export const levelDbProblems = (folder: string): readonly string[] => {
  const current = readIfThere(join(folder, "CURRENT"))?.trimEnd();
  if (current === undefined) return ["tables/CURRENT is missing"];
  if (!/^MANIFEST-\d+$/.test(current)) return ["tables/CURRENT does not hold what was written there"];
  const bytes = bytesIfThere(join(folder, current));
  if (!bytes) return [`tables/${current} is missing`];
  const manifest = readManifest(logRecords(bytes));
  if (!manifest) return [`tables/${current} is damaged`];
  return [...tableProblems(folder, manifest), ...logProblems(folder, manifest)];
};

const tableProblems = (folder: string, { tables }: Manifest): readonly string[] =>
  [...tables].flatMap(([number, bytes]) => {
    const names = [`${padded(number)}.ldb`, `${padded(number)}.sst`];
    const table = names.map((name) => tableEnd(join(folder, name))).find((end) => end !== undefined);
    if (!table) return [`tables/${names[0]} is missing`];
    return table.bytes === bytes && table.magic.equals(TABLE_MAGIC) ? [] : [`tables/${names[0]} is damaged`];
  });

const logProblems = (folder: string, { logNumber }: Manifest): readonly string[] => {
  const logs = readdirSync(folder).filter((name) => /^\d+\.log$/.test(name) && Number.parseInt(name, 10) >= logNumber);
  const newest = `${padded(logNumber)}.log`;
  if (!logs.includes(newest)) return [`tables/${newest} is missing`];
  return logs.filter((name) => logRecords(readFileSync(join(folder, name))) === undefined).map((name) => `tables/${name} is damaged`);
};

const padded = (number: number): string => String(number).padStart(6, "0");

/** Size and last bytes of a file, without reading the rest. */
const tableEnd = (path: string): { readonly bytes: number; readonly magic: Buffer } | undefined => {
  const file = opened(path);
  if (file === undefined) return undefined;
  try {
    const bytes = fstatSync(file).size;
    const magic = Buffer.alloc(TABLE_MAGIC.length);
    readSync(file, magic, 0, magic.length, Math.max(0, bytes - magic.length));
    return { bytes, magic };
  } finally {
    closeSync(file);
  }
};

const opened = (path: string): number | undefined => orMissing(() => openSync(path, "r"));

const bytesIfThere = (path: string): Buffer | undefined => orMissing(() => readFileSync(path));

const orMissing = <Value>(read: () => Value): Value | undefined => {
  try {
    return read();
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
};
