import { createHash } from "node:crypto";
import { existsSync, lstatSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { startCommand } from "../../../lib/embedded/run/options.ts";
import { run } from "../../../lib/embedded/run/run.ts";
import type { Printed } from "../../../lib/stack/report/printed.ts";

/** `npm start -- ARGS` inside this process; gives what it printed, and throws what refused it. */
export const start = async (...args: readonly string[]): Promise<string> => {
  const out: string[] = [];
  const terminal = {
    stream: process.stdout,
    write: (text: Printed) => void out.push(text.written()),
    live: false,
  };
  await startCommand((options) => run(options, terminal, new AbortController()), args).parseAsync(
    [...args],
    { from: "user" },
  );
  return out.join("");
};

/** What refuses a start: its message. */
export const refusal = async (...args: readonly string[]): Promise<string> => {
  const started = start(...args);
  return started.then(
    () => "it started",
    (error: unknown) => (error instanceof Error ? error.message : String(error)),
  );
};

/**
 * Every file, folder and link below a path with its mode and content: equal before and after means
 * untouched.
 */
export const treeOf = (path: string, name = ""): Readonly<Record<string, string>> => {
  if (!existsSync(path) && !lstatSync(path, { throwIfNoEntry: false })) return {};
  const found = lstatSync(path);
  if (found.isSymbolicLink()) return { [name]: `link to ${readlinkSync(path)}` };
  if (!found.isDirectory())
    return {
      [name]: `${found.mode} ${createHash("sha256").update(readFileSync(path)).digest("hex")}`,
    };
  const below = readdirSync(path).map((entry) => treeOf(join(path, entry), `${name}/${entry}`));
  return Object.assign({ [name]: `folder ${found.mode}` }, ...below);
};
