import { once } from "node:events";
import type { Readable, Writable } from "node:stream";
import { setTimeout as wait } from "node:timers/promises";
import { withLocalTimes } from "../stack/report/instant-text.ts";
import {
  block,
  errorLines,
  type Printed,
  text,
  type Word,
  line,
  styled,
} from "../stack/report/printed.ts";
import type { Service } from "../answers/service/service.ts";
import type { DashboardSource } from "../dashboard/serve/server.ts";
import type { CommandTarget, TargetSettings } from "./select/command-target.ts";

/** Everything that the command uses of its process, so that tests can run it inside their own. */
export interface Io extends CommandIo {
  readonly stdout: Writable;
  readonly stderr: Writable;
  /** True when standard output is a terminal with colours, and NO_COLOR is not set. */
  readonly colours: boolean;
}

/** What a command uses of its process. Only the printer writes to its streams. */
export interface CommandIo extends TargetSettings {
  readonly stdin: Readable;
  /** True when standard error is a terminal; it then shows the progress of long work. */
  readonly terminal?: boolean;
  /** Width of the terminal; absent where standard output is none. */
  readonly columns?: number;
  /** True when standard output is a terminal, which `status --watch` draws over. */
  readonly screen?: boolean;
  /**
   * Runs work with a signal that the first Ctrl-C aborts. The second Ctrl-C ends the process at
   * once.
   */
  readonly interruptible?: <Result>(
    work: (signal: AbortSignal) => Promise<Result>,
  ) => Promise<Result>;
  /** Opens a file in the editor of the person, until it is closed. Absent where there is none. */
  readonly editFile?: (file: string) => Promise<void>;
  /** Asks the person on the terminal. Absent where there is none. */
  readonly ask?: (question: string) => Promise<string>;
  /**
   * Runs the osls of the checkout, with these words and a profile of AWS, and resolves with its
   * exit code. Absent where nothing is deployed from.
   */
  readonly runOsls?: (args: readonly string[], profile?: string) => Promise<number>;
  /** Opens an address in the browser of the person, without showing it to other users. */
  readonly openBrowser?: (url: string) => Promise<void>;
  /** How long `--watch` waits between two looks, in place of five seconds. */
  readonly watchEveryMs?: number;
  /** The editor that a data folder records. A stack verifies its callers itself. */
  readonly by: string;
  readonly open: (target: CommandTarget, by: string) => Promise<Session>;
}

/** What a command prints with, and what it uses of its process. */
export interface CommandSurroundings<Part extends keyof CommandIo> {
  readonly printer: Printer;
  readonly io: Pick<CommandIo, Part>;
}

export type Watching = "interruptible" | "watchEveryMs";

/** The open data folder or stack that a command works on. */
export interface Session {
  readonly service: Service;
  /** Where it is, in the words of a head: "stack tidemark-prod in eu-central-1". */
  readonly place: string;
  /** True for a data folder on which no run is alive: its clock stands. */
  readonly ended?: true;
  /**
   * The clock of the folder, or of this machine for a stack. All ages and times are measured by it.
   */
  readonly nowMs: number;
  /** The same clock, for a command that watches. */
  readonly clock: () => number;
  /**
   * True when interrupted work ends in order. Absent for a stack, which finishes a request anyway.
   */
  readonly endsInOrder?: true;
  /** What a page on this machine is served by. Absent where there is only a service. */
  readonly dashboard?: DashboardSource;
  close(): Promise<void>;
}

/** What a command prints: a document is for programs and has no head. */
export type Shows = "edit" | "sheet" | "table" | "document";

/** What a command with this format prints. */
export const showsOf = (output: string): Shows =>
  output === "text" ? "sheet" : output === "table" || output === "wide" ? "table" : "document";

/** Prints to standard output, and stops when the reader has gone. */
export interface Printer {
  readonly paint: Paint;
  /** Whether `paint` colours anything. */
  readonly colours: boolean;
  /**
   * Resolves to false when the reader has gone (`| head -1`), so that the rest need not be read.
   */
  print(text: Printed): Promise<boolean>;
  /**
   * Prints the line that says where an output was made: before a table on standard error, so that
   * the first line stays the header, and else with the output.
   */
  head(place: string, shows: Shows): Promise<void>;
  /** Prints a line on standard error, which no program reads as a result. */
  report(line: Word): void;
  /** The same with "note: " before it. */
  note(line: Word): void;
  /** Prints each line of the message of an error on standard error. */
  error(message: string): void;
  /** Prints the help of a command. */
  help(text: string): void;
  /**
   * Shows a line on standard error that the next one replaces, where that is a terminal. Without a
   * text it only removes the line.
   */
  progress(line?: Word): void;
}

const START_OF_LINE = text`\r\u001b[2K`;

/** A reader that ends early is no error; any other failure of the output is one. */
export const printerOn = (io: Pick<Io, "stdout" | "stderr" | "colours" | "terminal">): Printer => {
  let gone = false;
  let failure: Error | undefined;
  const report = (words: Printed): void => void io.stderr.write(words.written());
  io.stdout.on("error", (error: NodeJS.ErrnoException) => {
    gone = true;
    if (error.code !== "EPIPE") failure = error;
  });
  const print = async (words: Printed): Promise<boolean> => {
    if (!gone && !io.stdout.write(words.written())) await drained(io.stdout);
    if (failure) throw failure;
    return !gone;
  };
  return {
    paint: painter(io.colours),
    colours: io.colours,
    head: async (place, shows) => {
      const words = text`In ${place}:\n`;
      if (shows === "table") report(words);
      else if (shows !== "document") await print(words);
    },
    report: (words) => report(text`${withLocalTimes(words)}\n`),
    note: (words) => report(text`note: ${withLocalTimes(words)}\n`),
    error: (message) => report(errorLines(withLocalTimes(message))),
    help: (words) => void io.stdout.write(block(words).written()),
    progress: (shown = "") => (io.terminal ? report(text`${START_OF_LINE}${shown}`) : undefined),
    print,
  };
};

/**
 * Waits until the output takes more or is closed. It removes its listeners, because a long export
 * waits thousands of times.
 */
const drained = async (stdout: Writable): Promise<void> => {
  const over = new AbortController();
  const { signal } = over;
  await Promise.race([once(stdout, "drain", { signal }), once(stdout, "close", { signal })]).catch(
    () => undefined,
  );
  over.abort();
};

export type Style = "good" | "warn" | "bad" | "quiet" | "strong";

const FORMATS = {
  good: "green",
  warn: "yellow",
  bad: "red",
  quiet: "dim",
  strong: "bold",
} as const;

/** Colours a text. Without a terminal, or with NO_COLOR, the text stays as it is. */
export type Paint = (style: Style, text: Word) => Printed;

export const painter =
  (colours: boolean): Paint =>
  (style, word) =>
    colours ? styled(FORMATS[style], word) : line(word);

const WATCH_EVERY_MS = 5_000;

/** Runs work with a signal that Ctrl-C aborts, where Ctrl-C can reach it. */
export const interruptible = <Result>(
  io: Pick<CommandIo, "interruptible">,
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> =>
  io.interruptible ? io.interruptible(work) : work(new AbortController().signal);

/**
 * Runs the work every five seconds, or as often as `everyMs` says, until Ctrl-C, or until it says
 * that the reader of the output has gone. A failure ends it.
 */
export const watch = async (
  io: Pick<CommandIo, Watching>,
  work: (isFirst: boolean) => Promise<boolean>,
  everyMs: () => number = () => WATCH_EVERY_MS,
): Promise<void> => {
  await interruptible(io, async (signal) => {
    for (let isFirst = true; await work(isFirst); isFirst = false) {
      // Ctrl-C ends the wait too.
      await wait(io.watchEveryMs ?? everyMs(), undefined, { signal }).catch(() => undefined);
      if (signal.aborted) return;
    }
  });
};
