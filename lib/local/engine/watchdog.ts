import { Worker } from "node:worker_threads";

export interface Watchdog {
  /** Begins one piece of work that must end within the limit. The caller calls the returned function when it has ended. */
  readonly watch: () => () => void;
  readonly close: () => Promise<void>;
}

/** One slot of shared memory for each piece of work. Further work would not be watched; the concurrency is lower than this number. */
const SLOTS = 64;
const CHECK_MS = 250;

/**
 * Ends this process when a piece of work takes longer than `limitMs`, even if its event loop is stuck or the process was stopped for a while: the deadline of an intent
 * relies on the writer being gone by then (docs/architecture.md, "Exactly one effect"). The clock is read in a thread of its own, and the end is a SIGKILL, because
 * nothing of the stalled thread may run again. Wall time: a stopped process does not stop it.
 */
export const startWatchdog = (limitMs: number): Watchdog => {
  const slots = new Float64Array(new SharedArrayBuffer(SLOTS * Float64Array.BYTES_PER_ELEMENT));
  const worker = new Worker(WATCH, { eval: true, execArgv: [], workerData: { slots, limitMs, checkMs: CHECK_MS, pid: process.pid } });
  // The watchdog never keeps a run alive that has nothing more to do.
  worker.unref();
  return {
    watch: () => {
      const slot = slots.indexOf(0);
      if (slot < 0) return () => {};
      slots[slot] = Date.now();
      return () => {
        slots[slot] = 0;
      };
    },
    close: async () => {
      await worker.terminate();
    },
  };
};

const WATCH = `
const { workerData: { slots, limitMs, checkMs, pid } } = require("node:worker_threads");
const { writeSync } = require("node:fs");
setInterval(() => {
  for (const startedMs of slots) {
    const tookMs = Date.now() - startedMs;
    if (startedMs === 0 || tookMs <= limitMs) continue;
    writeSync(2, "Ended the run: a sync has been at work for " + Math.round(tookMs / 1000) + " s, and may take " + limitMs / 1000 + " s at most\\n");
    process.kill(pid, "SIGKILL");
  }
}, checkMs);
`;
