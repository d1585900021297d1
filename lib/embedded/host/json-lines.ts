import { closeSync, fdatasync, fsyncSync, ftruncateSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { promisify } from "node:util";
import { namingFile, openOwn, readIfThere, syncFolder, writeWhole } from "./whole-file.ts";

/**
 * Reads one line of a journal. `fault` makes the error of a line that cannot be read; lines are
 * counted from 1.
 */
export interface LineFormat<Line> {
  readonly read: (value: unknown, number: number) => Line;
  readonly fault: (number: number, cause: unknown) => Error;
}

/** An append-only file of JSON lines. */
export interface JsonLines {
  /**
   * After it returns, the line survives the death of the process, because the kernel has it. A line
   * that could not be written whole is taken back.
   */
  readonly append: (line: unknown) => void;
  /**
   * Settles when every line appended so far also survives a loss of power. Calls that arrive
   * together share one fdatasync.
   */
  readonly durable: () => Promise<void>;
  /** Replaces the whole file by these lines, at once. */
  readonly rewrite: (lines: readonly unknown[]) => void;
  readonly close: () => void;
}

/**
 * The lines of a journal, which stays as it is; none where there is no file. Throws the `fault` of
 * the format.
 */
export const readJsonLines = <Line>(path: string, format: LineFormat<Line>): readonly Line[] =>
  parsed(wholeLines(readIfThere(path) ?? ""), format);

/** Opens a journal for appending, with the lines that it has. Throws the `fault` of the format. */
export const openJsonLines = <Line>(
  path: string,
  format: LineFormat<Line>,
): JsonLines & { readonly lines: readonly Line[] } => {
  const text = readIfThere(path) ?? "";
  const whole = wholeLines(text);
  const lines = parsed(whole, format);
  const file = openOwn(path, "append");
  if (whole.length < text.length) ftruncateSync(file, Buffer.byteLength(whole));
  syncFolder(dirname(path));
  return { lines, ...appendingTo(path, file, Buffer.byteLength(whole)) };
};

/**
 * A crash cut off the text after the last line end before its line was answered, so that line does
 * not count.
 */
const wholeLines = (text: string): string => text.slice(0, text.lastIndexOf("\n") + 1);

const parsed = <Line>(whole: string, { read, fault }: LineFormat<Line>): readonly Line[] =>
  whole
    .split("\n")
    .slice(0, -1)
    .map((line, index) => {
      try {
        return read(JSON.parse(line), index + 1);
      } catch (cause) {
        throw fault(index + 1, cause);
      }
    });

const textOf = (line: unknown): string => `${JSON.stringify(line)}\n`;
const syncData = promisify(fdatasync);

const appendingTo = (path: string, opened: number, bytesAtOpening: number): JsonLines => {
  let file = opened;
  let bytes = bytesAtOpening;
  let unusable: unknown;
  const onFile = <Value>(work: () => Value): Value => {
    if (unusable !== undefined) throw unusable;
    return namingFile(path, work);
  };
  return {
    append: (line) =>
      onFile(() => {
        const text = textOf(line);
        try {
          writeFileSync(file, text);
        } catch (error) {
          // On doubt, the file is unusable: nothing may follow half a line.
          unusable = error;
          ftruncateSync(file, bytes);
          unusable = undefined;
          throw error;
        }
        bytes += Buffer.byteLength(text);
      }),
    durable: groupCommit(() => onFile(() => syncData(file))),
    rewrite: (lines) =>
      onFile(() => {
        const text = lines.map(textOf).join("");
        writeWhole(path, text);
        closeSync(file);
        file = openOwn(path, "append");
        bytes = Buffer.byteLength(text);
      }),
    close: () => {
      unusable = new TypeError(`"${path}" is closed`);
      fsyncSync(file);
      closeSync(file);
    },
  };
};

/**
 * A function that settles once everything which was written before its call is durable. Calls that
 * arrive while a commit is under way share the next one. After a failed commit every later call
 * fails too: the kernel may have dropped what it could not write.
 */
export const groupCommit = (commit: () => Promise<void>): (() => Promise<void>) => {
  let last: Promise<void> = Promise.resolve();
  let waits = false;
  return () => {
    if (waits) return last;
    waits = true;
    last = last.then(() => {
      waits = false;
      return commit();
    });
    return last;
  };
};
