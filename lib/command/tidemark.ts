import { existsSync } from "node:fs";
import { failureText } from "../embedded/host/failure-text.ts";
import { userName } from "../embedded/host/terminal.ts";
import { present } from "../rules/model/json.ts";
import { errorLines } from "../stack/report/printed.ts";
import { EXIT, main } from "./main.ts";

// The embedded tables throw file errors, such as a full disk, outside of any promise.
process.on("uncaughtException", (error) => {
  process.stderr.write(errorLines(failureText(error) ?? error.stack ?? error.message).written());
  process.exit(EXIT.failed);
});

const INTERRUPTED = 130;
const SIGNALS = ["SIGINT", "SIGTERM"] as const;

const interruptible = async <Result>(
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> => {
  const stop = new AbortController();
  const onSignal = (): void => {
    if (stop.signal.aborted) process.exit(INTERRUPTED);
    stop.abort();
  };
  for (const signal of SIGNALS) process.on(signal, onSignal);
  try {
    return await work(stop.signal);
  } finally {
    for (const signal of SIGNALS) process.off(signal, onSignal);
  }
};

const {
  NO_COLOR: noColor,
  TERM: term,
  TIDEMARK_STACK: stackName,
  TIDEMARK_URL: stackUrl,
} = process.env;

/**
 * What shows that stacks are worked on from here: credentials or a region of AWS in the
 * environment, or what a deployment leaves in this folder.
 */
const SIGNS = [
  "AWS_PROFILE",
  "AWS_ACCESS_KEY_ID",
  "AWS_WEB_IDENTITY_TOKEN_FILE",
  "AWS_REGION",
  "AWS_DEFAULT_REGION",
] as const;
const DEPLOYED = ".serverless";
const sign = SIGNS.find((name) => process.env[name]);
const stackSign =
  sign === undefined
    ? existsSync(DEPLOYED)
      ? `there is a folder "${DEPLOYED}"`
      : undefined
    : `${sign} is set`;

process.exitCode = await main(process.argv.slice(2), {
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
  terminal: process.stderr.isTTY === true,
  screen: process.stdout.isTTY === true,
  ...(process.stdout.isTTY && { columns: process.stdout.columns }),
  interruptible,
  colours: process.stdout.isTTY === true && !noColor && term !== "dumb",
  by: userName(),
  editFile: async (file) => (await import("./run-program.ts")).editFile(process.env, file),
  openBrowser: async (url) => (await import("./run-program.ts")).openBrowser(url),
  runOsls: async (args, profile) => (await import("./run-program.ts")).runOsls(args, profile),
  ...(process.stdin.isTTY &&
    process.stderr.isTTY && {
      ask: async (question: string) => (await import("./run-program.ts")).ask(question),
    }),
  ...present({ stackName, stackUrl, stackSign }),
  // Loaded on demand, because help and usage errors need neither tables nor SDK.
  open: async (target, by) => (await import("./session.ts")).openTarget(target, by),
});
