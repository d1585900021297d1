import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline/promises";
import { pathToFileURL } from "node:url";
import { TidemarkError } from "../rules/model/errors.ts";

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

/** The program of each system that opens a file in the browser of the person. */
const OPENERS: Readonly<Partial<Record<NodeJS.Platform, readonly [string, ...string[]]>>> = {
  darwin: ["open"],
  win32: ["cmd", "/c", "start", ""],
};

/**
 * Opens an address in the browser. Every user of a machine can read the words of a program, and the
 * address holds a token: so the browser is given a file of this user, which leads to the address.
 * Throws `cli.browser`.
 */
export const openBrowser = async (url: string): Promise<void> => {
  const dir = mkdtempSync(join(tmpdir(), "tidemark-open-"));
  process.once("exit", () => rmSync(dir, { recursive: true, force: true }));
  const file = join(dir, "open.html");
  writeFileSync(file, `<meta http-equiv="refresh" content="0;url=${url}">\n`, { mode: 0o600 });
  const [program, ...words] = OPENERS[process.platform] ?? ["xdg-open"];
  const child = spawn(program, [...words, pathToFileURL(file).href], {
    stdio: "ignore",
    detached: true,
  });
  child.unref();
  await once(child, "spawn").catch((cause: unknown) => {
    throw new TidemarkError(
      "cli.browser",
      `Cannot open the browser: "${program}" cannot be started; open the address above`,
      {},
      { cause },
    );
  });
};

export const ask = async (question: string): Promise<string> => {
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return (await terminal.question(question)).trim();
  } finally {
    terminal.close();
  }
};
