import {
  closeSync,
  constants,
  fsyncSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname } from "node:path";
import { TidemarkError } from "../../rules/model/errors.ts";

/** The name of the file that `writeWhole` fills before it takes the place of `path`. */
export const draftOf = (path: string): string => `${path}.${process.pid}.draft`;

/**
 * Replaces a small file so that a reader, or the next process after a `kill -9`, finds the old text
 * or the new one and never half of either. No fsync: the file must survive the death of the
 * process, not the crash of the machine.
 */
export const writeWhole = (path: string, text: string): void =>
  replace(path, text, () => undefined);

/** Keys, tokens and secrets of a run lie in these files: only the owner may read them. */
const PRIVATE_MODE = 0o600;

const FLAGS = {
  read: constants.O_RDONLY,
  append: constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT,
  new: constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL,
} as const;

/**
 * Opens a file of a data folder. A link in its place is refused (O_NOFOLLOW): a data folder may lie
 * where others can write, and through their link a run would read or change a file elsewhere.
 * Throws `local.link`.
 */
export const openOwn = (path: string, how: keyof typeof FLAGS): number => {
  try {
    return openSync(path, FLAGS[how] | constants.O_NOFOLLOW, PRIVATE_MODE);
  } catch (cause) {
    if (isSystemError(cause) && cause.code === "ELOOP") throw isLinkError(path, cause);
    throw cause;
  }
};

export const isLinkError = (path: string, cause?: unknown): TidemarkError =>
  new TidemarkError(
    "local.link",
    `Cannot open "${path}": it is a symbolic link, and Tidemark follows no link in a data folder; replace it by what it links to, or name another folder with --data`,
    { path },
    { cause },
  );

/** The same for a file that must also survive a loss of power, once this function has returned. */
export const writeDurably = (path: string, text: string): void => {
  replace(path, text, fsyncSync);
  syncFolder(dirname(path));
};

/** Makes the names in a folder durable. */
export const syncFolder = (path: string): void => {
  const folder = openSync(path, "r");
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
};

const replace = (path: string, text: string, settle: (file: number) => void): void => {
  const draft = draftOf(path);
  // A process that was killed may have had the same pid. Of a link only the link is removed.
  rmSync(draft, { force: true });
  try {
    namingFile(path, () => {
      const file = openOwn(draft, "new");
      try {
        writeFileSync(file, text);
        settle(file);
      } finally {
        closeSync(file);
      }
    });
    renameSync(draft, path);
  } catch (error) {
    // On a full disk the draft exists and is empty.
    rmSync(draft, { force: true });
    throw error;
  }
};

/**
 * Gives an error of the system the path of the file where the system does not say it, as for a
 * write to a full disk.
 */
export const namingFile = <Value>(path: string, work: () => Value): Value => {
  try {
    return work();
  } catch (error) {
    if (isSystemError(error) && error.path === undefined) error.path = path;
    throw error;
  }
};

/** The text of a file. Undefined when there is none. */
export const readIfThere = (path: string): string | undefined => {
  let file: number | undefined;
  try {
    file = openOwn(path, "read");
    return readFileSync(file, "utf8");
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  } finally {
    if (file !== undefined) closeSync(file);
  }
};

/** What a JSON file must hold, such as a schema of zod. */
export interface FileShape<Value> {
  /** Throws for any other value. */
  readonly parse: (value: unknown) => Value;
}

/**
 * A shape that is written out, because zod takes longer to load than a shell may wait for names
 * (names.ts).
 */
export const shapeOf = <Value>(
  isSo: (value: unknown) => value is Value,
  what: string,
): FileShape<Value> => ({
  parse: (value) => {
    if (!isSo(value)) throw new TypeError(`no ${what} of a data folder`);
    return value;
  },
});

/**
 * The value of a JSON file, undefined when there is none. Throws `local.unreadable` when the file
 * is damaged, or of another program, or of a newer version.
 */
export const readJsonIfThere = <Value>(
  path: string,
  shape: FileShape<Value>,
): Value | undefined => {
  const text = readIfThere(path);
  if (text === undefined) return undefined;
  try {
    return shape.parse(JSON.parse(text));
  } catch (cause) {
    throw new TidemarkError(
      "local.unreadable",
      `Cannot read "${path}": it does not hold what was written there`,
      { path },
      { cause },
    );
  }
};

export const isMissing = (error: unknown): boolean =>
  isSystemError(error) && error.code === "ENOENT";

/** An error of a call to the system, such as ENOSPC. */
export const isSystemError = (
  error: unknown,
): error is NodeJS.ErrnoException & { readonly code: string } =>
  error instanceof Error && "code" in error && "syscall" in error && typeof error.code === "string";
