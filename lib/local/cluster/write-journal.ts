import { type FileHandle, open, readFile } from "node:fs/promises";
import { dirname } from "node:path";
import * as z from "zod";
import { TidemarkError } from "../../model/errors.ts";
import { syncFolder, writeDurably } from "../folder/whole-file.ts";
import type { AcceptedWrite } from "./simulation.ts";

/** What a run is made of besides its writes; a journal belongs to exactly one such run. */
const RunHeader = z.object({ format: z.literal(1), seed: z.int(), startMs: z.int(), definitions: z.string() });
export type RunHeader = z.infer<typeof RunHeader>;

const Write = z.object({ atMs: z.number(), namespace: z.string(), name: z.string(), replicas: z.int() });

/**
 * The accepted writes of a run, one JSON line each after a line that says which run. A write is on the disk (fdatasync) before it is answered, so that what a client was
 * told outlives a kill and a power cut; writes that arrive together share one fdatasync.
 */
export interface WriteJournal {
  readonly header: RunHeader;
  /** Those found when it was opened, oldest first. */
  readonly writes: readonly AcceptedWrite[];
  /** Settles when the write is durable. Once an append failed, all fail: the file may end in half a line, and nothing may follow it. */
  append(write: AcceptedWrite): Promise<void>;
  /** Settles when everything appended so far is durable. */
  settled(): Promise<void>;
  close(): Promise<void>;
}

/** Opens the journal, or begins it with `fresh` where there is none. Throws TidemarkError "local.journal-broken". */
export const openWriteJournal = async (path: string, fresh: RunHeader): Promise<WriteJournal> => {
  const text = await readText(path);
  if (text === undefined) {
    writeDurably(path, `${JSON.stringify(fresh)}\n`);
    return appendingTo(await open(path, "a"), fresh, []);
  }
  // A crash cut off a last line without a line end before its write was answered, so that write was never accepted.
  const whole = text.slice(0, text.lastIndexOf("\n") + 1);
  const [first = "", ...rest] = whole.split("\n").slice(0, -1);
  const header = parseLine(RunHeader, path, first, 1);
  const writes = rest.map((line, index) => parseLine(Write, path, line, index + 2));
  const file = await open(path, "a");
  if (whole.length < text.length) await file.truncate(Buffer.byteLength(whole));
  syncFolder(dirname(path));
  return appendingTo(file, header, writes);
};

const appendingTo = (file: FileHandle, header: RunHeader, writes: readonly AcceptedWrite[]): WriteJournal => {
  let waiting: string[] = [];
  let tail: Promise<void> = Promise.resolve();
  const flush = async (): Promise<void> => {
    const lines = waiting;
    waiting = [];
    if (lines.length === 0) return;
    await file.appendFile(lines.join(""));
    await file.datasync();
  };
  return {
    header,
    writes,
    append: (write) => {
      waiting.push(`${JSON.stringify(write)}\n`);
      tail = tail.then(flush);
      return tail;
    },
    settled: () => tail,
    close: async () => {
      await tail.catch(() => {
        // The callers of append got the error already.
      });
      await file.close();
    },
  };
};

const readText = async (path: string): Promise<string | undefined> => {
  try {
    return await readFile(path, "utf8");
  } catch (cause) {
    if (cause instanceof Error && "code" in cause && cause.code === "ENOENT") return undefined;
    throw cause;
  }
};

const parseLine = <Shape>(shape: z.ZodType<Shape>, path: string, line: string, number: number): Shape => {
  try {
    return shape.parse(JSON.parse(line));
  } catch (cause) {
    throw new TidemarkError(
      "local.journal-broken",
      `Cannot continue the simulated cluster: line ${number} of "${path}" is not what was written there`,
      { path, line: number },
      { cause },
    );
  }
};
