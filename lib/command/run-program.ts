import { spawn } from "node:child_process";
import { TidemarkError } from "../rules/model/errors.ts";
import { once } from "node:events";
import { createRequire } from "node:module";
import { join } from "node:path";
import { createInterface } from "node:readline/promises";

/**
 * The editor of the environment, as kubectl chooses it. The variable may hold options too: "code
 * --wait".
 */
const editorIn = ({ KUBE_EDITOR, EDITOR }: NodeJS.ProcessEnv): string =>
  KUBE_EDITOR || EDITOR || "vi";

/**
 * Opens a file in an editor on this terminal, until the editor ends. Throws `cli.editor` where it
 * fails.
 */
export const editFile = async (env: NodeJS.ProcessEnv, file: string): Promise<void> => {
  const editor = editorIn(env);
  // The shell splits the variable into words; the file is an argument of its own, which the shell
  // does not read.
  const child = spawn("sh", ["-c", `${editor} "$1"`, "sh", file], { stdio: "inherit" });
  const [code]: readonly (number | null)[] = await once(child, "close");
  if (code !== 0)
    throw new TidemarkError(
      "cli.editor",
      `Cannot edit: the editor "${editor}" ended with ${code ?? "a signal"}; choose one with KUBE_EDITOR or EDITOR`,
      {},
    );
};

/**
 * Runs the osls of the checkout in this folder, with its output on this terminal. Resolves with its
 * exit code. Throws `stack.checkout` where it is not installed.
 */
export const runOsls = async (args: readonly string[], profile?: string): Promise<number> => {
  const child = spawn(process.execPath, [oslsFile(), ...args], {
    stdio: ["ignore", "inherit", "inherit"],
    env: {
      ...process.env,
      SLS_TELEMETRY_DISABLED: "1",
      SLS_NOTIFICATIONS_MODE: "off",
      ...(profile !== undefined && { AWS_PROFILE: profile }),
    },
  });
  const [code]: readonly (number | null)[] = await once(child, "exit");
  // A signal ends it without a code.
  return code ?? 1;
};

const oslsFile = (): string => {
  try {
    return createRequire(join(process.cwd(), "package.json")).resolve("osls/bin/serverless.js");
  } catch (cause) {
    throw new TidemarkError(
      "stack.checkout",
      "Cannot deploy: this checkout has no osls; run npm ci in it",
      {},
      { cause },
    );
  }
};

export const ask = async (question: string): Promise<string> => {
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return (await terminal.question(question)).trim();
  } finally {
    terminal.close();
  }
};
