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
 * Ends this process when a piece of work takes longer than `limitMs`, also if its event loop is blocked or the process was stopped for a while. The deadline of an intent is only safe if the
 * writer has ended by then (docs/architecture.md, "Exactly one effect"). A separate thread reads the clock. It ends the process by SIGKILL, because no code of the blocked thread may run again.
 * It measures wall time, which goes on while a process is stopped.
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
