import type { Message } from "./message.ts";
import type { Queue } from "./queue.ts";

/** The account and sender that everything local belongs to. */
export const LOCAL_ACCOUNT = "000000000000";
const SENDER_ID = "AIDALOCAL";

export const queueArn = (name: string, region: string): string => `arn:aws:sqs:${region}:${LOCAL_ACCOUNT}:${name}`;

/** What SQS knows of a message besides its body; all are text. */
export type SystemAttributes = {
  readonly SenderId: string;
  readonly SentTimestamp: string;
  readonly ApproximateReceiveCount: string;
  readonly ApproximateFirstReceiveTimestamp: string;
  readonly MessageGroupId?: string;
};

export const allSystemAttributes = (message: Message): SystemAttributes => ({
  SenderId: SENDER_ID,
  SentTimestamp: String(message.sentMs),
  ApproximateReceiveCount: String(message.receiveCount),
  ApproximateFirstReceiveTimestamp: String(message.firstReceivedMs ?? message.sentMs),
  ...(message.groupId !== undefined && { MessageGroupId: message.groupId }),
});

export const systemAttributes = (message: Message, names: readonly string[]): Readonly<Record<string, string>> =>
  pick(allSystemAttributes(message), names);

export const queueAttributes = (queue: Queue, names: readonly string[]): Readonly<Record<string, string>> => {
  const { visible, inFlight, delayed } = queue.counts();
  const { name, visibilityTimeoutMs, retentionMs, redrive } = queue.settings;
  const all = {
    QueueArn: queueArn(name, "local"),
    ApproximateNumberOfMessages: String(visible),
    ApproximateNumberOfMessagesNotVisible: String(inFlight),
    ApproximateNumberOfMessagesDelayed: String(delayed),
    VisibilityTimeout: String(visibilityTimeoutMs / 1000),
    MessageRetentionPeriod: String(retentionMs / 1000),
    ...(redrive && {
      RedrivePolicy: JSON.stringify({ deadLetterTargetArn: queueArn(redrive.deadLetterQueue, "local"), maxReceiveCount: redrive.maxReceiveCount }),
    }),
  };
  return pick(all, names);
};

const pick = (all: Readonly<Record<string, string | undefined>>, names: readonly string[]): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(all).flatMap(([name, value]) => (value !== undefined && (names.includes("All") || names.includes(name)) ? [[name, value]] : [])),
  );
