import { open, rename } from "node:fs/promises";
import { dirname } from "node:path";

/** Readable by the owner alone: keys and tokens are written with it too. */
const PRIVATE_MODE = 0o600;

/** Replaces a file atomically. After a crash it holds the old text or the new one; after this function has returned, the new one even when the power fails. */
export const writeDurably = async (path: string, text: string): Promise<void> => {
  const draft = `${path}.${process.pid}.draft`;
  const file = await open(draft, "w", PRIVATE_MODE);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(draft, path);
  await syncFolder(dirname(path));
};

/** Makes the names in a folder durable. */
export const syncFolder = async (path: string): Promise<void> => {
  const folder = await open(path, "r");
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
};
