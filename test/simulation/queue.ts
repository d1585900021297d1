import { SendMessageBatchCommand, type SQSClient } from "@aws-sdk/client-sqs";
import { messageOf, type SyncMessage } from "../../lib/stack/plan/message.ts";
import type { Network, Process } from "./process.ts";
import type { Random } from "./random.ts";
import type { Scheduler } from "./scheduler.ts";
import { syncName } from "./watch/planned.ts";

/** A message on its way; it is delivered again while it is not deleted. */
export interface QueuedMessage {
  readonly message: SyncMessage;
  received: number;
  deleted: boolean;
}

export interface QueueFaults {
  /** Chance that a message that is due at an instant is dropped, delivered twice, or late. */
  readonly rate: (dueMs: number) => number;
  readonly random: Random;
}

export interface SimulatedQueue {
  readonly clientFor: (sender: Process) => Pick<SQSClient, "send">;
  /** Makes a message visible again after a time. */
  readonly redeliver: (queued: QueuedMessage, afterMs: number) => void;
}

const LATE_MAX_MS = 60_000;
const SECOND_MS = 1_000;

/**
 * Aims messages at their instants, as SQS does with DelaySeconds; the seed drops, doubles and
 * delays some.
 */
export const simulatedQueue = (
  scheduler: Scheduler,
  network: Network,
  faults: QueueFaults & { readonly queued: Set<string> },
  deliver: (queued: QueuedMessage) => void,
): SimulatedQueue => {
  const deliverAt = (queued: QueuedMessage, ms: number): void =>
    scheduler.at(ms, () => {
      if (!queued.deleted) deliver(queued);
    });
  const sent = (message: SyncMessage, visibleMs: number): void => {
    const { random } = faults;
    faults.queued.add(syncName(message));
    const rate = faults.rate(message.dueMs);
    if (random.chance(rate)) return;
    const queued = { message, received: 0, deleted: false };
    deliverAt(
      queued,
      visibleMs + random.int(0, 50) + (random.chance(rate * 2) ? random.int(0, LATE_MAX_MS) : 0),
    );
    if (random.chance(rate * 3))
      deliverAt({ ...queued }, visibleMs + random.int(0, random.chance(1 / 2) ? 500 : LATE_MAX_MS));
  };
  const take = ({ input }: SendMessageBatchCommand): object => {
    for (const { MessageBody = "", DelaySeconds = 0 } of input.Entries ?? []) {
      sent(messageOf(MessageBody), scheduler.nowMs() + DelaySeconds * SECOND_MS);
    }
    return { Successful: [], Failed: [] };
  };
  return {
    clientFor: (sender) => {
      const send = (command: object): Promise<object> =>
        network.call<object>(sender, {
          kind: "queue",
          name: "queue",
          what: "SendMessageBatch",
          timeoutMs: 3_000,
          lateMs: 0,
          execute: () => {
            if (!(command instanceof SendMessageBatchCommand))
              throw new TypeError("the queue only knows SendMessageBatch");
            return take(command);
          },
          unclear: () => {
            throw Object.assign(new Error("no answer of the queue"), { name: "TimeoutError" });
          },
        });
      return { send: send as SQSClient["send"] };
    },
    redeliver: (queued, afterMs) => deliverAt(queued, scheduler.nowMs() + afterMs),
  };
};
