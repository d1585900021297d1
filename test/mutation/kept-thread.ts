import { join } from "node:path";
import { Worker } from "node:worker_threads";
import type { PoolOptions, PoolWorker } from "vitest/node";

/** A thread serves so many mutants: each start leaves listeners in it. */
const STARTS = 60;

interface Kept {
  readonly thread: Worker;
  starts: number;
}

let kept: Kept | undefined;

const newThread = ({ distPath, env, execArgv }: PoolOptions): Kept => {
  const thread = new Worker(join(distPath, "workers/threads.js"), { env: { ...env }, execArgv });
  thread.unref();
  return { thread, starts: 0 };
};

/**
 * What is computed when a file is loaded must be loaded under its mutant, and must not be loaded
 * again.
 */
const isStatic = ({ project }: PoolOptions): boolean =>
  Object.entries(project.getProvidedContext()).some(
    ([key, value]) => key === "mutantActivation" && value === "static",
  );

/**
 * A thread that outlives the run of one mutant, so that the next finds the rooms loaded: loading
 * them takes longer than the tests that most mutants need. Test files are loaded anew each time.
 * Who is stopped without being asked first (an endless loop) is ended.
 */
export const keptThread = (options: PoolOptions): PoolWorker => {
  const alone = isStatic(options);
  const held = alone ? newThread(options) : (kept ?? newThread(options));
  if (!alone) kept = held;
  const { thread } = held;
  let asked = false;
  return {
    name: "kept",
    on: (event, callback) => void thread.on(event, callback),
    off: (event, callback) => void thread.off(event, callback),
    send: (message) => {
      if (message.type !== "stop") return thread.postMessage(message);
      asked = true;
      thread.emit("message", { type: "stopped", __vitest_worker_response__: true });
    },
    deserialize: (data) => data,
    start: async () => {
      held.starts++;
    },
    stop: async () => {
      thread.removeAllListeners("message");
      if (asked && !alone && held.starts < STARTS) return;
      if (kept === held) kept = undefined;
      await thread.terminate();
    },
  };
};
