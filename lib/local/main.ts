import { isTidemarkError } from "../model/errors.ts";
import { startCommand } from "./options.ts";
import { run } from "./run.ts";
import { terminalOf } from "./terminal.ts";

const INTERRUPTED = 130;
/** Two signals closer together than this are one. */
const ECHO_MS = 1_000;

/** The process of `npm start`: signals end the run in good order, errors are one line each and exit code 1. */
export const main = async (): Promise<void> => {
  const stop = new AbortController();
  let askedAt = Number.POSITIVE_INFINITY;
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.on(signal, () => {
      // Asked again, somebody means it: the folder bears it as it bears a kill. One Ctrl-C comes twice under npm, from the terminal and from npm itself.
      if (performance.now() - askedAt > ECHO_MS) process.exit(INTERRUPTED);
      askedAt = Math.min(askedAt, performance.now());
      stop.abort();
    });
  }
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    // Whoever read the pipe has gone: the run ends in good order, with nobody to tell.
    if (error.code !== "EPIPE") throw error;
    stop.abort();
  });
  try {
    await startCommand((options) => run(options, terminalOf(process.stdout, process.env), stop)).parseAsync();
  } catch (error) {
    // A programmer's mistake is no message for people: it goes up as it is, with its stack.
    if (!isTidemarkError(error)) throw error;
    for (const line of error.message.split("\n")) process.stderr.write(`error: ${line}\n`);
    process.exitCode = 1;
  }
};
