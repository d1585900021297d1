import { textOfBytes, textOfFile } from "../local/run/text-file.ts";
import { MAX_TEXT_BYTES, newBudget } from "../manifest/budget.ts";
import type { ManifestSource } from "../service/service.ts";
import type { Io } from "./io.ts";
import { filesOf } from "./manifest-folder.ts";
import { usage } from "./usage-error.ts";

const STDIN = "-";

/** `-f` and `-R`. */
export interface FileOptions {
  readonly filename: readonly string[];
  readonly recursive?: true;
}

/**
 * Reads the files and folders of `-f` in order, standard input for "-". It runs before the data folder is opened: the writer of the pipe may be a command on the same folder,
 * and both would wait for each other. Throws `local.unreadable`, and `manifest.unreadable` as soon as they have more bytes than one step may have.
 */
export const readSources = async ({ filename, recursive }: FileOptions, stdin: Io["stdin"]): Promise<readonly ManifestSource[]> => {
  if (filename.filter((file) => file === STDIN).length > 1) throw usage("Cannot read standard input twice: give -f - only once");
  const budget = newBudget();
  const sources: ManifestSource[] = [];
  for (const file of filename.flatMap((path) => (path === STDIN ? [STDIN] : filesOf(path, recursive === true)))) {
    const source = file === STDIN ? await sourceOf(stdin) : { file, text: textOfFile(file, MAX_TEXT_BYTES) };
    budget.spend("bytes", Buffer.byteLength(source.text), { where: source.file });
    sources.push(source);
  }
  return sources;
};

const STANDARD_INPUT = "standard input";

const sourceOf = async (stdin: Io["stdin"]): Promise<ManifestSource> => {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of stdin) {
    const bytes = Buffer.from(chunk);
    chunks.push(bytes);
    length += bytes.length;
    // Stops reading an endless input.
    if (length > MAX_TEXT_BYTES) break;
  }
  return { file: STANDARD_INPUT, text: textOfBytes(STANDARD_INPUT, Buffer.concat(chunks), MAX_TEXT_BYTES) };
};
