import { readdirSync, statSync } from "node:fs";
import { extname, join } from "node:path";
import { MAX_MANIFESTS } from "../manifest/budget.ts";
import { TidemarkError } from "../model/errors.ts";

const EXTENSIONS: ReadonlySet<string> = new Set([".json", ".yaml", ".yml"]);

/** Files of one folder. A step has no more manifests either, and a deployed stack takes no more files. */
const MAX_FILES = MAX_MANIFESTS;

/** The path itself, or the manifest files of a folder in order of name, as kubectl takes them. Throws `local.unreadable`. */
export const filesOf = (path: string, recursive: boolean): readonly string[] => {
  if (!isFolder(path)) return [path];
  const files: string[] = [];
  for (const file of filesIn(path, recursive))
    if (files.push(file) > MAX_FILES)
      throw unreadable(path, `the folder holds more than ${MAX_FILES} .yaml, .yml and .json files; give its folders one by one`);
  if (files.length > 0) return files;
  const within = recursive ? "" : "; -R reads the folders in it too";
  throw unreadable(path, `the folder holds no .yaml, .yml or .json file${within}`);
};

/** What cannot be looked at is taken for a file, so that reading it says what is wrong. */
const isFolder = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;

/** A link to a folder is not followed, because it can lead back to where it came from. */
function* filesIn(folder: string, recursive: boolean): Generator<string> {
  for (const entry of entriesOf(folder)) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) {
      if (recursive) yield* filesIn(path, recursive);
    } else if (EXTENSIONS.has(extname(entry.name)) && !isFolder(path)) yield path;
  }
}

const entriesOf = (folder: string) => {
  try {
    return readdirSync(folder, { withFileTypes: true }).sort((left, right) => (left.name < right.name ? -1 : 1));
  } catch (cause) {
    throw unreadable(folder, "the folder may not be read", cause);
  }
};

const unreadable = (path: string, why: string, cause?: unknown): TidemarkError =>
  new TidemarkError("local.unreadable", `Cannot read "${path}": ${why}`, { file: path }, { cause });
