import { once } from "node:events";
import type { Readable, Writable } from "node:stream";
import type { Service } from "../service/service.ts";
import { type Paint, painter } from "./output/paint.ts";
import type { Place } from "./place.ts";

/** Everything the command touches of the process that runs it, so that tests can run it inside their own. */
export interface Io {
  readonly stdin: Readable;
  readonly stdout: Writable;
  readonly stderr: Writable;
  /** True when standard output is a terminal that shows colours, and nobody asked for none. */
  readonly colours: boolean;
  /** True when standard error is a terminal: long work tells there how far it is. */
  readonly terminal?: boolean;
  /** Runs work that can end in good order, under a signal that Ctrl-C aborts; asked a second time, the process ends at once. */
  readonly interruptible?: <Result>(work: (signal: AbortSignal) => Promise<Result>) => Promise<Result>;
  /** Who the edits of a data folder are recorded for; a stack knows its callers itself. */
  readonly by: string;
  /** TIDEMARK_URL, where it is set. */
  readonly stackUrl?: string;
  readonly open: (place: Place, by: string) => Promise<Session>;
}

/** The data folder or the stack that a command works on, from opening to closing. */
export interface Session {
  readonly service: Service;
  /** The folder's clock, or the machine's for a stack: every age and every "since" is measured by it. */
  readonly nowMs: number;
  /** Absent for a stack, which goes on with what it was asked: a command that waits for it can be ended at any time. */
  readonly endsInOrder?: true;
  close(): Promise<void>;
}

/** Prints to standard output and learns when nobody reads it any more. */
export interface Printer {
  readonly paint: Paint;
  /** Resolves to false once the reader has gone (`| head -1`): nothing more needs to be read for it. */
  print(text: string): Promise<boolean>;
}

/** Text that a reader leaves behind unread is no error; any other failure of the output is one. */
export const printerOn = (io: Pick<Io, "stdout" | "colours">): Printer => {
  let gone = false;
  let failure: Error | undefined;
  io.stdout.on("error", (error: NodeJS.ErrnoException) => {
    gone = true;
    if (error.code !== "EPIPE") failure = error;
  });
  return {
    paint: painter(io.colours),
    print: async (text) => {
      if (!gone && !io.stdout.write(text)) await drained(io.stdout);
      if (failure) throw failure;
      return !gone;
    },
  };
};

/** Waits until the output takes more or is closed, and leaves no listener behind: a long export waits thousands of times. */
const drained = async (stdout: Writable): Promise<void> => {
  const over = new AbortController();
  const { signal } = over;
  await Promise.race([once(stdout, "drain", { signal }), once(stdout, "close", { signal })]).catch(() => undefined);
  over.abort();
};
