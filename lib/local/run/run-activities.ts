import type { SQSBatchResponse, SQSEvent } from "aws-lambda";
import type { Activity } from "../engine/drive.ts";
import { type Delivery, eventSource } from "../engine/event-source.ts";
import type { Handler } from "../engine/invocation.ts";
import { scheduler } from "../engine/schedule-activity.ts";
import { startWatchdog, type Watchdog } from "../engine/watchdog.ts";
import type { FolderLayout } from "../folder/layout.ts";
import type { View } from "../view/view.ts";
import { LOOPBACK_REGION } from "./loopback.ts";
import { FUNCTION_NAMES } from "./names.ts";
import type { Run } from "./open-run.ts";

/** As in the template (serverless.yml). */
const TIMEOUT_MS = 30_000;
const CONCURRENCY = 50;

/**
 * What happens in a run: the scheduler's minutes and the queue's deliveries. `lifeMs`: no sync may take longer in real time, or a watchdog ends the process; virtual time
 * waits for every sync, so no deadline depends on its end.
 */
export const runActivities = (
  layout: FolderLayout,
  { clock, queues, stack, counter, setup, standIn }: Run,
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
    onFailure: (scheduledTime, error) => view.say(`The schedule of ${scheduledTime} failed: ${reasonOf(error)}`),
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
    onBegin: counter.begin,
    onDelivered: ({ wallMs, failure }: Delivery) => {
      counter.sync(wallMs, failure !== undefined);
      if (failure !== undefined) view.say(`A sync failed and is delivered again: ${reasonOf(failure)}; see ${layout.log}`);
    },
  });
  return { activities: [...(standIn ? [standIn] : []), ticks, deliveries], close: async () => dog?.close() };
};

const guarded =
  (handler: Handler<SQSEvent, SQSBatchResponse | undefined>, dog: Watchdog): Handler<SQSEvent, SQSBatchResponse | undefined> =>
  async (event, context) => {
    const done = dog.watch();
    try {
      return await handler(event, context);
    } finally {
      done();
    }
  };

const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
