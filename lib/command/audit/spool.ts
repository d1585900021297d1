import { appendFile, mkdtemp, open, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { batches } from "../output/documents.ts";

/**
 * Keeps a list of any length in a file that only this user may read, so that its totals can be
 * printed before it. The file goes with the end of the work.
 */
export const withSpool = async <Item, Result>(
  items: AsyncIterable<Item>,
  work: (kept: () => AsyncIterable<Item>) => Promise<Result>,
): Promise<Result> => {
  const dir = await mkdtemp(join(tmpdir(), "tidemark-audit-"));
  try {
    const file = join(dir, "records");
    await appendFile(file, "", { mode: 0o600 });
    for await (const batch of batches(items))
      await appendFile(file, batch.map((item) => `${JSON.stringify(item)}\n`).join(""));
    return await work(() => parsedLines<Item>(file));
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
};

async function* parsedLines<Item>(file: string): AsyncGenerator<Item> {
  for await (const line of linesOfFile(file)) yield JSON.parse(line) as Item;
}

/** The lines of a file, however long it is. */
export async function* linesOfFile(file: string): AsyncGenerator<string> {
  const handle = await open(file);
  try {
    for await (const line of handle.readLines({ encoding: "utf8", autoClose: false })) yield line;
  } finally {
    await handle.close();
  }
}
