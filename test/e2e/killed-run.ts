import { once } from "node:events";
import { setTimeout as wait } from "node:timers/promises";
import { folderLayout } from "../../lib/local/folder-layout.ts";
import { readSavedClock } from "../../lib/local/saved-clock.ts";
import { VIRTUAL_START_MS } from "../../lib/local/setup.ts";
import { type Started, startRun } from "./start-process.ts";

/** When a run is killed: so long after it was spawned, or after it said its first word. */
export interface Kill {
  readonly since: "spawn" | "greeting";
  readonly ms: number;
}

export interface KillPlan {
  readonly data: string;
  readonly args: readonly string[];
  /** Virtual time of the whole run, whatever happens to it. */
  readonly totalMs: number;
  readonly kills: readonly Kill[];
}

export interface Killed {
  /** Kills that met a living run. */
  readonly kills: number;
  /** What each start said. */
  readonly said: readonly string[];
}

/** Starts a run again and again, killing it each time with SIGKILL, and lets it come to its end at last. */
export const killedRun = async ({ data, args, totalMs, kills: planned }: KillPlan): Promise<Killed> => {
  const said: string[] = [];
  let kills = 0;
  for (const kill of [...planned, undefined]) {
    const saved = readSavedClock(folderLayout(data));
    const leftMs = Math.max(1, VIRTUAL_START_MS + totalMs - (saved?.nowMs ?? VIRTUAL_START_MS));
    const run = startRun(["--data", data, "--for", `${leftMs}ms`, ...args]);
    if (kill) await killAfter(run, kill);
    const { code, signal, out, err } = await run.ended;
    said.push(out);
    if (signal === "SIGKILL") kills++;
    else if (code === 0) break;
    else throw new Error(`The run ended with ${code}: ${err}`);
  }
  return { kills, said };
};

const killAfter = async ({ child, ended }: Started, { since, ms }: Kill): Promise<void> => {
  if (since === "greeting" && child.stdout) await Promise.race([once(child.stdout, "data"), ended]);
  await Promise.race([wait(ms), ended]);
  child.kill("SIGKILL");
};
