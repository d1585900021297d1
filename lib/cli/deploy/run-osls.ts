import { spawn } from "node:child_process";
import { once } from "node:events";
import { createRequire } from "node:module";
import { join } from "node:path";
import { createInterface } from "node:readline/promises";
import { TidemarkError } from "../../model/errors.ts";

/** Runs the osls of the checkout in this folder, with its output on this terminal. Resolves with its exit code. Throws `stack.checkout` where it is not installed. */
export const runOsls = async (args: readonly string[], profile?: string): Promise<number> => {
  const child = spawn(process.execPath, [oslsFile(), ...args], {
    stdio: ["ignore", "inherit", "inherit"],
    env: { ...process.env, SLS_TELEMETRY_DISABLED: "1", SLS_NOTIFICATIONS_MODE: "off", ...(profile !== undefined && { AWS_PROFILE: profile }) },
  });
  const [code]: readonly (number | null)[] = await once(child, "exit");
  // A signal ends it without a code.
  return code ?? 1;
};

const oslsFile = (): string => {
  try {
    return createRequire(join(process.cwd(), "package.json")).resolve("osls/bin/serverless.js");
  } catch (cause) {
    throw new TidemarkError("stack.checkout", "Cannot deploy: this checkout has no osls; run npm ci in it", {}, { cause });
  }
};

/** Asks one question on the terminal of the person. */
export const ask = async (question: string): Promise<string> => {
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return (await terminal.question(question)).trim();
  } finally {
    terminal.close();
  }
};
