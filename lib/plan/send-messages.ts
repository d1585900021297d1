import { type BatchResultErrorEntry, SendMessageBatchCommand, type SendMessageBatchCommandInput, type SQSClient } from "@aws-sdk/client-sqs";
import { TidemarkError } from "../model/errors.ts";
import { messageBody, type SyncMessage } from "./message.ts";

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
export const BATCH_MAX = 10;
const ATTEMPTS_MAX = 5;
const FIRST_WAIT_MS = 100;

/** The message group is the cluster. In a standard queue this makes waits fair between clusters; nothing relies on it. */
export const sendParams = (queueUrl: string, batch: readonly DelayedMessage[]): SendMessageBatchCommandInput => ({
  QueueUrl: queueUrl,
  Entries: batch.map(({ message, delaySeconds }, at) => ({
    Id: String(at),
    MessageBody: messageBody(message),
    DelaySeconds: delaySeconds,
    MessageGroupId: message.cluster,
  })),
});

/**
 * Sends one batch, and sends the refused entries again. `delayOf` gives the delay of a message at each attempt, because waits between attempts take seconds; a message without one has become too old and is
 * left out. Returns how many were sent. Throws `plan.unsent` when some are refused at every attempt: then the minute is not marked, and the next call plans it.
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
      const delaySeconds = delayOf(message);
      return delaySeconds === undefined ? [] : [{ message, delaySeconds }];
    });
    if (delayed.length === 0) return sent;
    const { Failed = [] } = await queue.client.send(new SendMessageBatchCommand(sendParams(queue.queueUrl, delayed)));
    const refused = new Set(Failed.map(({ Id }) => Id));
    left = delayed.flatMap(({ message }, at) => (refused.has(String(at)) ? [message] : []));
    sent += delayed.length - left.length;
    if (left.length === 0) return sent;
    if (attempt >= ATTEMPTS_MAX) throw unsent(left.length, Failed[0]);
    await queue.wait(queue.random() * FIRST_WAIT_MS * 2 ** (attempt - 1));
  }
};

const unsent = (count: number, first: BatchResultErrorEntry | undefined): TidemarkError =>
  new TidemarkError("plan.unsent", `Cannot send ${count} planned syncs: ${first?.Code}: ${first?.Message ?? "no reason was given"}`, {
    unsent: count,
    code: first?.Code,
  });
