import type { SQSBatchResponse, SQSEvent } from "aws-lambda";
import { type Activity, type Delivery, eventSource, type Handler } from "../engine/event-source.ts";
import { scheduler } from "../engine/schedule-activity.ts";
import { type FolderLayout, FUNCTION_NAMES, TABLE_NAMES } from "../layout.ts";
import { expiry } from "../tables/expiry.ts";
import type { View } from "../view/plain-view.ts";
import { LOOPBACK_REGION } from "../host/loopback.ts";
import type { Run } from "./open-run.ts";
import { clusterIn } from "./stack.ts";
import { Worker } from "node:worker_threads";

/** As in the template (serverless.yml). */
const TIMEOUT_MS = 30_000;
const CONCURRENCY = 50;
/**
 * Syncs of different clusters at work at once, two in each of the threads that clusters may have:
 * while one waits for the tables, another one decides.
 */
const OVERLAPPING = 8;

/**
 * What happens in a run: the scheduler's minutes and the queue's deliveries. `lifeMs`: no sync may
 * take longer in real time, or a watchdog ends the process; virtual time waits for every sync, so
 * no deadline depends on its end.
 */
export const runActivities = (
  layout: FolderLayout,
  { clock, queues, stack, counter, setup, standIn, lanes, tables }: Run,
  view: View,
  lifeMs: number | undefined,
): { readonly activities: readonly Activity[]; readonly close: () => Promise<void> } => {
  const dog = lifeMs === undefined ? undefined : startWatchdog(lifeMs);
  const ticks = scheduler({
    path: layout.schedule,
    clock: clock.now,
    region: LOOPBACK_REGION,
    functionName: FUNCTION_NAMES.schedule,
    timeoutMs: TIMEOUT_MS,
    handler: stack.schedule,
    onFailure: (scheduledTime, error) =>
      view.say(`The schedule of ${scheduledTime} failed: ${reasonOf(error)}`),
    skipsMissed: setup.identity.kind === "kubeconfig",
  });
  const deliveries = eventSource({
    queue: queues.sync,
    clock: clock.now,
    region: LOOPBACK_REGION,
    functionName: FUNCTION_NAMES.sync,
    timeoutMs: TIMEOUT_MS,
    handler: dog ? guarded(stack.sync, dog) : stack.sync,
    concurrency: CONCURRENCY,
    ...(lanes && { lanes: { laneOf: clusterIn, most: OVERLAPPING, hold: lanes.hold } }),
    onBegin: counter.begin,
    onDelivered: ({ wallMs, failure }: Delivery) => {
      counter.sync(wallMs, failure !== undefined);
      if (failure !== undefined)
        view.say(`A sync failed and is delivered again: ${reasonOf(failure)}; see ${layout.log}`);
    },
  });
  const client = tables.client();
  const expired = expiry({
    client,
    tables: Object.values(TABLE_NAMES),
    clock: clock.now,
    onFailure: (error) =>
      view.say(
        `Expired history was not deleted, and is looked for again a day later: ${reasonOf(error)}`,
      ),
  });
  const close = async (): Promise<void> => {
    client.destroy();
    await dog?.close();
  };
  return { activities: [...(standIn ? [standIn] : []), ticks, deliveries, expired], close };
};

const guarded =
  (
    handler: Handler<SQSEvent, SQSBatchResponse | undefined>,
    dog: Watchdog,
  ): Handler<SQSEvent, SQSBatchResponse | undefined> =>
  async (event, context) => {
    const done = dog.watch();
    try {
      return await handler(event, context);
    } finally {
      done();
    }
  };

const reasonOf = (error: unknown): string =>
  error instanceof Error ? error.message : String(error);

interface Watchdog {
  /**
   * Begins one piece of work that must end within the limit. The caller calls the returned function
   * when it has ended.
   */
  readonly watch: () => () => void;
  readonly close: () => Promise<void>;
}

/**
 * One slot of shared memory for each piece of work. Further work would not be watched; the
 * concurrency is lower than this number.
 */
const SLOTS = 64;

const CHECK_MS = 250;

/**
 * Ends this process when a piece of work takes longer than `limitMs`, also if its event loop is
 * blocked or the process was stopped for a while. The deadline of an intent is only safe if the
 * writer has ended by then (docs/architecture.md, "Exactly one effect"). A separate thread reads
 * the clock. It ends the process by SIGKILL, because no code of the blocked thread may run again.
 * It measures wall time, which goes on while a process is stopped.
 */
export const startWatchdog = (limitMs: number): Watchdog => {
  const slots = new Float64Array(new SharedArrayBuffer(SLOTS * Float64Array.BYTES_PER_ELEMENT));
  const worker = new Worker(WATCH, {
    eval: true,
    execArgv: [],
    workerData: { slots, limitMs, checkMs: CHECK_MS, pid: process.pid },
  });
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
