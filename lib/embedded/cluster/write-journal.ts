import * as z from "zod";
import { TidemarkError } from "../../rules/model/errors.ts";
import { type Deployment, deploymentSchema } from "../folder/identity.ts";
import {
  type JsonLines,
  type LineFormat,
  openJsonLines,
  readJsonLines,
} from "../host/json-lines.ts";
import { readIfThere, writeDurably } from "../host/whole-file.ts";
import type { AcceptedWrite } from "./simulation.ts";

/** What a run is made of besides its writes; a journal belongs to exactly one such run. */
const RunHeader = z.object({
  format: z.literal(1),
  seed: z.int(),
  startMs: z.int(),
  definitions: z.string(),
});
export type RunHeader = z.infer<typeof RunHeader>;

const Write = z.object({
  atMs: z.number(),
  namespace: z.string(),
  name: z.string(),
  replicas: z.int(),
  manager: z.string().optional(),
});

/**
 * A workload that was made during the run, because an autoscaler that was applied meanwhile scales
 * it.
 */
const Made = z.object({ atMs: z.number(), made: deploymentSchema });
export type MadeWorkload = z.infer<typeof Made>;

/** What changed the cluster beside the time. */
export type JournalEntry = AcceptedWrite | MadeWorkload;

/**
 * The accepted writes of a run, one JSON line each after a line that says which run. A write is on
 * the disk (fdatasync) before it is answered, so that what a client was told outlives a kill and a
 * power cut; writes that arrive together share one fdatasync.
 */
export interface WriteJournal {
  readonly header: RunHeader;
  /** Those found when it was opened, oldest first. */
  readonly writes: readonly JournalEntry[];
  /**
   * Settles when the write is durable. Once an append failed, all fail: the simulated cluster made
   * the write, and its file lacks it.
   */
  append(write: JournalEntry): Promise<void>;
  /** Settles when everything appended so far is durable. */
  settled(): Promise<void>;
  close(): Promise<void>;
}

/**
 * Opens the journal, or begins it with `fresh` where there is none. Throws TidemarkError
 * "local.journal-broken".
 */
export const openWriteJournal = (path: string, fresh: RunHeader): WriteJournal => {
  if (readIfThere(path) === undefined) writeDurably(path, `${JSON.stringify(fresh)}\n`);
  const file = openJsonLines(path, formatOf(path));
  const [header, ...writes] = file.lines;
  if (header === undefined || !isHeader(header)) {
    file.close();
    throw faultOf(path)(1);
  }
  return { header, writes: writes.filter(isWrite), ...appendingTo(file) };
};

const Entry = z.union([Write, Made]);

const formatOf = (path: string): LineFormat<RunHeader | JournalEntry> => ({
  read: (value, number) => (number === 1 ? RunHeader.parse(value) : Entry.parse(value)),
  fault: faultOf(path),
});

/**
 * The workloads that were made during earlier starts, the newest first. Changes nothing. Throws
 * TidemarkError "local.journal-broken".
 */
export const madeEarlier = (path: string): readonly Deployment[] =>
  readJsonLines(path, formatOf(path))
    .flatMap((line) => ("made" in line ? [line.made] : []))
    .toReversed();

const isHeader = (line: RunHeader | JournalEntry): line is RunHeader => "format" in line;
const isWrite = (line: RunHeader | JournalEntry): line is JournalEntry => !isHeader(line);

const appendingTo = (file: JsonLines): Pick<WriteJournal, "append" | "settled" | "close"> => {
  let failed: Promise<never> | undefined;
  const settled = (): Promise<void> => failed ?? file.durable();
  return {
    append: (write) => {
      if (failed) return failed;
      try {
        file.append(write);
      } catch (error) {
        failed = Promise.reject(error);
      }
      return settled();
    },
    settled,
    close: async () => {
      await settled().catch(() => {
        // The callers of append got the error already.
      });
      file.close();
    },
  };
};

const faultOf =
  (path: string) =>
  (line: number, cause?: unknown): TidemarkError =>
    new TidemarkError(
      "local.journal-broken",
      `Cannot continue the simulated cluster: line ${line} of "${path}" is not what was written there`,
      { path, line },
      { cause },
    );
