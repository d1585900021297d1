import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";

/** What came of an attack on a checkout. */
export interface Seen {
  /** True where it reached nothing. */
  readonly held: boolean;
  /** The machine was too busy for the work without the attack: nothing is shown. */
  readonly isUnknown?: boolean;
  /** The figures or words behind that. */
  readonly saw: string;
}

/** An attack that is played on the code in a folder: on this checkout, or on an earlier one. */
export interface Attack {
  readonly name: string;
  readonly play: (folder: string) => Promise<Seen>;
}

/** Calls with a folder that is removed afterwards. */
export const withFolder = async <Result>(
  use: (dir: string) => Promise<Result>,
): Promise<Result> => {
  const dir = mkdtempSync(join(tmpdir(), "tidemark-attack-"));
  try {
    return await use(dir);
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
};

export const commandOf = (folder: string, args: readonly string[], cwd: string): ChildProcess =>
  spawn(process.execPath, [join(folder, "bin/tidemark.js"), ...args], {
    cwd,
    env: { ...process.env, NO_COLOR: "1" },
  });

/** Runs `tidemark ARGS` of a checkout to its end. */
export const said = async (
  folder: string,
  args: readonly string[],
  cwd: string,
): Promise<{ readonly out: string; readonly code: number }> => {
  const child = commandOf(folder, args, cwd);
  child.stdin?.end();
  const ended = new Promise<number>((resolve) => child.once("close", (code) => resolve(code ?? 1)));
  const [out, err, code] = await Promise.all([
    child.stdout && text(child.stdout),
    child.stderr && text(child.stderr),
    ended,
  ]);
  return { out: `${out}${err}`, code };
};
