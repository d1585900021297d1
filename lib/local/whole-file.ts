import { readFileSync, renameSync, writeFileSync } from "node:fs";

/**
 * Replaces a small file so that a reader, or the next process after a `kill -9`, finds the old text or the new one and never half of either.
 * No fsync: what must be survived here is the death of the process, not of the machine.
 */
export const writeWhole = (path: string, text: string): void => {
  const draft = `${path}.${process.pid}.draft`;
  writeFileSync(draft, text);
  renameSync(draft, path);
};

/** The text of a file, or nothing when there is none. */
export const readIfThere = (path: string): string | undefined => {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
};

export const isMissing = (error: unknown): boolean => error instanceof Error && "code" in error && error.code === "ENOENT";
