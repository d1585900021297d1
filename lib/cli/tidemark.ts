import { enableCompileCache } from "node:module";
import { userInfo } from "node:os";
import { join } from "node:path";

// Caches compiled code of everything imported after this line, because the command starts often and loads much code.
enableCompileCache(join(import.meta.dirname, "../../node_modules/.cache/tidemark"));
const { EXIT, main } = await import("./main.ts");
const { failureText } = await import("../local/folder/failure-text.ts");

/** Who the person at this terminal is, as the system says; a container may know its user by number only. */
const person = (): string => {
  try {
    return userInfo().username;
  } catch {
    return `uid ${process.getuid?.() ?? "unknown"}`;
  }
};

// The embedded tables throw file errors, such as a full disk, outside of any promise.
process.on("uncaughtException", (error) => {
  process.stderr.write(`error: ${failureText(error) ?? error.stack ?? error.message}\n`);
  process.exit(EXIT.failed);
});

const INTERRUPTED = 130;
const SIGNALS = ["SIGINT", "SIGTERM"] as const;

const interruptible = async <Result>(work: (signal: AbortSignal) => Promise<Result>): Promise<Result> => {
  const stop = new AbortController();
  const asked = (): void => {
    if (stop.signal.aborted) process.exit(INTERRUPTED);
    stop.abort();
  };
  for (const signal of SIGNALS) process.on(signal, asked);
  try {
    return await work(stop.signal);
  } finally {
    for (const signal of SIGNALS) process.off(signal, asked);
  }
};

const { NO_COLOR: noColor, TERM: term, TIDEMARK_URL: stackUrl } = process.env;

process.exitCode = await main(process.argv.slice(2), {
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
  terminal: process.stderr.isTTY === true,
  interruptible,
  colours: process.stdout.isTTY === true && !noColor && term !== "dumb",
  by: person(),
  ...(stackUrl !== undefined && { stackUrl }),
  // Loaded on demand, because help and usage errors need neither tables nor SDK.
  open: async (place, by) => (await import("./session.ts")).openTarget(place, by),
});
