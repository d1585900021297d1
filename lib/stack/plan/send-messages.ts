import {
  type BatchResultErrorEntry,
  SendMessageBatchCommand,
  type SendMessageBatchCommandInput,
  type SQSClient,
} from "@aws-sdk/client-sqs";
import { TidemarkError } from "../../rules/model/errors.ts";
import { messageBody, type SyncMessage } from "./message.ts";
import type { ClusterRecord } from "../../rules/model/records.ts";
import { mapWithLimit } from "../store/table/wait-for-all.ts";
import { delaySeconds, planCluster } from "./plan.ts";
import { MINUTE_MS } from "../../rules/model/time-text.ts";

/** The queue of planned syncs. */
export interface MessageQueue {
  readonly client: Pick<SQSClient, "send">;
  readonly queueUrl: string;
  readonly wait: (ms: number) => Promise<void>;
  /** Uniform in [0, 1); the jitter of a repeated send. */
  readonly random: () => number;
}

export interface DelayedMessage {
  readonly message: SyncMessage;
  readonly delaySeconds: number;
}

/** Most entries of one SendMessageBatch (limit of SQS). */
const BATCH_MAX = 10;
const ATTEMPTS_MAX = 5;
const FIRST_WAIT_MS = 100;

/**
 * The message group is the cluster. In a standard queue this makes waits fair between clusters;
 * nothing relies on it.
 */
export const sendParams = (
  queueUrl: string,
  batch: readonly DelayedMessage[],
): SendMessageBatchCommandInput => ({
  QueueUrl: queueUrl,
  Entries: batch.map(({ message, delaySeconds: delay }, at) => ({
    Id: String(at),
    MessageBody: messageBody(message),
    DelaySeconds: delay,
    MessageGroupId: message.cluster,
  })),
});

/**
 * Sends one batch, and sends the refused entries again. `delayOf` gives the delay of a message at
 * each attempt, because waits between attempts take seconds; a message without one has become too
 * old and is left out. Returns how many were sent. Throws `plan.unsent` when some are refused at
 * every attempt: then the minute is not marked, and the next call plans it.
 */
export const sendBatch = async (
  queue: MessageQueue,
  batch: readonly SyncMessage[],
  delayOf: (message: SyncMessage) => number | undefined,
): Promise<number> => {
  let sent = 0;
  let left = batch;
  for (let attempt = 1; ; attempt++) {
    const delayed = left.flatMap((message) => {
      const delay = delayOf(message);
      return delay === undefined ? [] : [{ message, delaySeconds: delay }];
    });
    if (delayed.length === 0) return sent;
    const { Failed = [] } = await queue.client.send(
      new SendMessageBatchCommand(sendParams(queue.queueUrl, delayed)),
    );
    const refused = new Set(Failed.map(({ Id }) => Id));
    left = delayed.flatMap(({ message }, at) => (refused.has(String(at)) ? [message] : []));
    sent += delayed.length - left.length;
    if (left.length === 0) return sent;
    if (attempt >= ATTEMPTS_MAX) throw unsent(left.length, Failed[0]);
    await queue.wait(queue.random() * FIRST_WAIT_MS * 2 ** (attempt - 1));
  }
};

const unsent = (count: number, first: BatchResultErrorEntry | undefined): TidemarkError =>
  new TidemarkError(
    "plan.unsent",
    `Cannot send ${count} planned syncs: ${first?.Code}: ${first?.Message ?? "no reason was given"}`,
    {
      unsent: count,
      code: first?.Code,
    },
  );

/**
 * A batch that took longer than this was sent with delays that are wrong by as much. A queue that
 * is merely slow answers sooner: its batches must not be doubled.
 */
const LATE_MS = 5_000;
/** Two more copies: the function lives 30 s, and a third pause of seconds in it is rare. */
const SENDS_MAX = 3;

export interface SendingPorts {
  readonly queue: MessageQueue;
  readonly clock: () => number;
}

/**
 * Sends each message with the delay to its due time, the soonest first, in parallel and bounded
 * batches. Returns how many were sent; the others had become too old.
 */
export const sendPlanned = async (
  ports: SendingPorts,
  messages: readonly SyncMessage[],
  parallel: number,
): Promise<number> => {
  const soonest = messages.toSorted((one, other) => one.dueMs - other.dueMs);
  const batches = Array.from({ length: Math.ceil(soonest.length / BATCH_MAX) }, (_, at) =>
    soonest.slice(at * BATCH_MAX, (at + 1) * BATCH_MAX),
  );
  let sent = 0;
  await mapWithLimit(batches, parallel, async (batch) => {
    const count = await sendOnTime(ports, batch);
    sent += count;
  });
  return sent;
};

/**
 * Sends one batch. A delay is relative: where the function was frozen while it sent, the messages
 * come as much later. They are sent again with the delays of now, and the claim refuses the late
 * copies, because their due times are done.
 */
const sendOnTime = async (
  { queue, clock }: SendingPorts,
  batch: readonly SyncMessage[],
): Promise<number> => {
  const delayOf = (message: SyncMessage): number | undefined => delaySeconds(message, clock());
  let ahead = batch;
  let sent = 0;
  for (let sends = 0; sends < SENDS_MAX && ahead.length > 0; sends++) {
    const sentMs = clock();
    const count = await sendBatch(queue, ahead, delayOf);
    if (sends === 0) sent = count;
    const answeredMs = clock();
    ahead = answeredMs - sentMs > LATE_MS ? ahead.filter(({ dueMs }) => dueMs > answeredMs) : [];
  }
  return sent;
};

/**
 * Until then the next call of the scheduler has planned this cluster: it comes within a minute, and
 * up to a minute late.
 */
const AHEAD_MS = 2 * MINUTE_MS;
const PARALLEL = 4;

/**
 * Plans the next two minutes of a cluster that was just added or divided, so that its first sync
 * need not wait for the next call of the scheduler. That call plans the same minutes again; the
 * claim refuses a due time that is done.
 */
export const planNow = async (
  ports: SendingPorts,
  cluster: Pick<ClusterRecord, "name" | "partitions" | "syncPeriodMs">,
  stampAt: (dueMs: number) => Pick<SyncMessage, "term" | "untilMs"> = () => ({}),
): Promise<void> => {
  const nowMs = ports.clock();
  const planned = planCluster(cluster, { fromMs: nowMs, untilMs: nowMs + AHEAD_MS });
  await sendPlanned(
    ports,
    planned.map((message) => ({ ...message, ...stampAt(message.dueMs) })),
    PARALLEL,
  );
};
