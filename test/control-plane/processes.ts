import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { openSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { closeServer, listenOnLoopback } from "../../lib/embedded/host/loopback.ts";

export interface Program {
  readonly process: ChildProcess;
  /** Of user and system together, so far. */
  readonly cpuSeconds: () => number;
  readonly stop: () => Promise<void>;
}

const TICKS_PER_SECOND = 100;
/**
 * Fields of /proc/PID/stat after the name in brackets: state is the first of them, user time the
 * twelfth, system time the thirteenth.
 */
const USER_TIME = 11;
const STOP_MAX_MS = 5_000;

/**
 * A signal would end this process without its programs: as an exit it takes them with it. A process
 * that listens to signals itself closes its parts.
 */
let heedsSignals = false;
const heedSignals = (): void => {
  if (heedsSignals) return;
  heedsSignals = true;
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    if (process.listenerCount(signal) === 0) process.once(signal, () => process.exit(1));
  }
};

interface Started {
  readonly dir: string;
  readonly name: string;
  /** Variables beside the ones of this process. */
  readonly env?: Readonly<Record<string, string>>;
}

/** Starts a program that logs into its folder. It ends with this process. */
export const startProgram = (
  path: string,
  args: readonly string[],
  { dir, name, env }: Started,
): Program => {
  const log = openSync(join(dir, `${name}.log`), "a");
  const child = spawn(path, args, { stdio: ["ignore", log, log], env: { ...process.env, ...env } });
  const kill = () => child.kill("SIGKILL");
  heedSignals();
  process.once("exit", kill);
  return {
    process: child,
    cpuSeconds: () => {
      const fields =
        readFileSync(`/proc/${child.pid}/stat`, "utf8").split(") ").at(-1)?.split(" ") ?? [];
      return (Number(fields[USER_TIME]) + Number(fields[USER_TIME + 1])) / TICKS_PER_SECOND;
    },
    stop: async () => {
      process.removeListener("exit", kill);
      if (child.exitCode !== null || child.signalCode !== null) return;
      const impatient = setTimeout(kill, STOP_MAX_MS);
      child.kill("SIGTERM");
      await once(child, "exit");
      clearTimeout(impatient);
    },
  };
};

export const freePort = async (): Promise<number> => {
  const server = createServer();
  const port = Number(new URL(await listenOnLoopback(server)).port);
  await closeServer(server);
  return port;
};
