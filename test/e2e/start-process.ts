import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import type { EventView } from "../../lib/answers/views/event.ts";

const START = fileURLToPath(new URL("../../lib/embedded/start.ts", import.meta.url));
const TIDEMARK = fileURLToPath(new URL("../../bin/tidemark.js", import.meta.url));

export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly out: string;
  readonly err: string;
}

export interface Started {
  readonly child: ChildProcess;
  readonly ended: Promise<Ended>;
}

const started = (
  file: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  cwd?: string,
): Started => {
  const child = spawn(process.execPath, [file, ...args], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, ...env },
    cwd,
  });
  const [out, err] = [text(child.stdout), text(child.stderr)];
  const ended = (async () => {
    const [code, signal] = (await once(child, "exit")) as [number | null, NodeJS.Signals | null];
    return { code, signal, out: await out, err: await err };
  })();
  return { child, ended };
};

/** `npm start` as a process of its own, its output in a pipe. */
export const startRun = (
  args: readonly string[],
  env?: Readonly<Record<string, string>>,
): Started => started(START, args, env);

/** `npm start` in a folder of its own, for what depends on the working directory. */
export const startRunIn = (cwd: string, args: readonly string[]): Started =>
  started(START, args, {}, cwd);

/** The command of people in a folder of its own. */
export const tidemarkIn = (cwd: string, args: readonly string[]): Promise<Ended> =>
  started(TIDEMARK, args, {}, cwd).ended;

/** The command of people, as a process of its own. */
export const tidemark = (args: readonly string[]): Promise<Ended> => started(TIDEMARK, args).ended;

/** All scale events of a folder, as people export them. */
export const exportedEvents = async (data: string): Promise<readonly EventView[]> => {
  const { code, out, err } = await tidemark(["events", "--all", "-o", "jsonl", "--data", data]);
  if (code !== 0) throw new Error(`tidemark events ended with ${code}: ${err}`);
  return out
    .split("\n")
    .filter((line) => line !== "")
    .map((line): EventView => JSON.parse(line));
};

/** Current replicas of every autoscaler of a folder, by name. */
export const replicasNow = async (data: string): Promise<Readonly<Record<string, number>>> => {
  const { code, out, err } = await tidemark(["get", "-o", "json", "--data", data]);
  if (code !== 0) throw new Error(`tidemark get ended with ${code}: ${err}`);
  const {
    items,
  }: {
    readonly items: readonly {
      readonly metadata: { readonly name: string };
      readonly status: { readonly currentReplicas: number };
    }[];
  } = JSON.parse(out);
  return Object.fromEntries(
    items.map(({ metadata, status }) => [metadata.name, status.currentReplicas]),
  );
};
