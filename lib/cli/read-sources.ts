import { textOfBytes, textOfFile } from "../local/run/text-file.ts";
import { MAX_TEXT_BYTES } from "../manifest/budget.ts";
import type { ManifestSource } from "../service/service.ts";
import type { Io } from "./io.ts";
import { usage } from "./usage-error.ts";

const STDIN = "-";

/**
 * Reads the files of `-f` in order, standard input for "-". It runs before the data folder is opened: the writer of the pipe may be a command on the same folder,
 * and both would wait for each other. Throws `local.unreadable`.
 */
export const readSources = async (files: readonly string[], stdin: Io["stdin"]): Promise<readonly ManifestSource[]> => {
  if (files.filter((file) => file === STDIN).length > 1) throw usage("Cannot read standard input twice: give -f - only once");
  const sources: ManifestSource[] = [];
  for (const file of files) sources.push(file === STDIN ? await sourceOf(stdin) : { file, text: textOfFile(file, MAX_TEXT_BYTES) });
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
