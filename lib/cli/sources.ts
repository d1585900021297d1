import { textOfBytes, textOfFile } from "../local/run/text-file.ts";
import { MAX_TEXT_BYTES } from "../manifest/budget.ts";
import type { ManifestSource } from "../service/service.ts";
import type { Io } from "./io.ts";
import { usage } from "./usage.ts";

const STDIN = "-";

/**
 * Reads the files of `-f`, standard input for "-", in the order given. Done before the data folder is opened: what writes to the pipe may be a command on the same folder,
 * and would wait for this one while this one waits for it. Throws `local.unreadable`.
 */
export const readSources = async (files: readonly string[], stdin: Io["stdin"]): Promise<readonly ManifestSource[]> => {
  if (files.filter((file) => file === STDIN).length > 1) throw usage("Cannot read standard input (-f -) twice");
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
    // An endless input is left where it is.
    if (length > MAX_TEXT_BYTES) break;
  }
  return { file: STANDARD_INPUT, text: textOfBytes(STANDARD_INPUT, Buffer.concat(chunks), MAX_TEXT_BYTES) };
};
