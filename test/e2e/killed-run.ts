import { once } from "node:events";
import { setTimeout as wait } from "node:timers/promises";
import { folderLayout } from "../../lib/embedded/layout.ts";
import { readSavedClock } from "../../lib/embedded/engine/clock.ts";
import { VIRTUAL_START_MS } from "../../lib/embedded/run/setup.ts";
import { type Started, startRun } from "./start-process.ts";

/**
 * When a run is killed: `ms` after it was spawned, after it said its first word, or after its
 * virtual time reached a point of the whole run.
 */
export type Kill = { readonly ms: number } & (
  | { readonly since: "spawn" | "greeting" }
  | { readonly since: "virtual"; readonly atMs: number }
);

export interface KillPlan {
  readonly data: string;
  readonly args: readonly string[];
  /** Virtual time of the whole run, whatever happens to it. */
  readonly totalMs: number;
  readonly kills: readonly Kill[];
}

export interface Killed {
  /** Virtual time of the whole run at each kill that met a living run. */
  readonly killedAtMs: readonly number[];
  /** What each start said. */
  readonly said: readonly string[];
}

/**
 * Starts a run again and again, killing it each time with SIGKILL, and lets it come to its end at
 * last. A run that ended before its kill ends the plan.
 */
export const killedRun = async ({ data, args, totalMs, kills }: KillPlan): Promise<Killed> => {
  const said: string[] = [];
  const killedAtMs: number[] = [];
  for (const kill of [...kills, undefined]) {
    const run = startRun([
      "--data",
      data,
      "--for",
      `${Math.max(1, totalMs - playedMs(data))}ms`,
      ...args,
    ]);
    if (kill) await killAfter(run, data, kill);
    const { code, signal, out, err } = await run.ended;
    said.push(out);
    if (signal === "SIGKILL") killedAtMs.push(playedMs(data));
    else if (code === 0) break;
    else throw new Error(`The run ended with ${code}: ${err}`);
  }
  return { killedAtMs, said };
};

/** Virtual time that a folder's runs have played so far. */
const playedMs = (data: string): number =>
  (readSavedClock(folderLayout(data))?.nowMs ?? VIRTUAL_START_MS) - VIRTUAL_START_MS;

/** Between two looks at a living run's clock: less than one of its syncs takes. */
const LOOK_MS = 2;

const killAfter = async ({ child, ended }: Started, data: string, kill: Kill): Promise<void> => {
  if (kill.since === "greeting" && child.stdout)
    await Promise.race([once(child.stdout, "data"), ended]);
  if (kill.since === "virtual")
    while (child.exitCode === null && playedMs(data) < kill.atMs) await wait(LOOK_MS);
  await Promise.race([wait(kill.ms), ended]);
  child.kill("SIGKILL");
};
