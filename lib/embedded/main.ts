import { CommanderError } from "commander";
import { errorLines, text, usageMessage } from "../stack/report/printed.ts";
import { failureText } from "./host/failure-text.ts";
import { closing } from "./host/closing.ts";
import { startCommand } from "./run/options.ts";
import { run } from "./run/run.ts";
import { terminalOf } from "./host/terminal.ts";

const INTERRUPTED = 130;
/** The exit codes of `tidemark`: 1 for a failure and for wrong arguments. */
const EXIT = { done: 0, failed: 1 } as const;
/** Two signals within this time count as one. */
const ECHO_MS = 1_000;
/** How long a run that has crashed may take to close. */
const CLOSING_MS = 5_000;

/**
 * The process of `npm start`: signals end the run in good order, errors are one line each and an
 * exit code.
 */
export const startRun = async (): Promise<void> => {
  const stop = new AbortController();
  let askedAt = Number.POSITIVE_INFINITY;
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.on(signal, () => {
      // A second signal ends the process at once, which the folder survives as it survives a kill.
      // Under npm one Ctrl-C arrives twice, from the terminal and from npm.
      if (performance.now() - askedAt > ECHO_MS) process.exit(INTERRUPTED);
      askedAt = Math.min(askedAt, performance.now());
      stop.abort();
    });
  }
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    // The reader of the pipe has closed it. The run ends in good order and writes nothing more.
    if (error.code !== "EPIPE") throw error;
    stop.abort();
  });
  const closer = closing();
  // The embedded tables throw errors of their files, such as a full disk, where no caller can catch
  // them. The run then closes as far as it can.
  process.on("uncaughtException", (error) => {
    say(error);
    setTimeout(() => process.exit(EXIT.failed), CLOSING_MS);
    closer.closeAll().then(
      () => process.exit(EXIT.failed),
      () => process.exit(EXIT.failed),
    );
  });
  const args = process.argv.slice(2);
  try {
    await startCommand(
      (options) => run(options, terminalOf(process.stdout, process.env), stop, closer),
      args,
    ).parseAsync(args, { from: "user" });
  } catch (error) {
    process.exitCode = error instanceof CommanderError ? misuse(error) : failure(error);
  }
};

const misuse = ({ code, message }: CommanderError): number => {
  if (code === "commander.helpDisplayed") return EXIT.done;
  process.stderr.write(
    text`error: ${usageMessage(message)}\n(--help shows all options)\n`.written(),
  );
  return EXIT.failed;
};

const failure = (error: unknown): number => {
  say(error);
  return EXIT.failed;
};

/** A programmer's mistake is printed with its stack. */
const say = (error: unknown): void => {
  process.stderr.write(
    errorLines(
      failureText(error) ??
        (error instanceof Error ? (error.stack ?? error.message) : String(error)),
    ).written(),
  );
};
