import type { Message } from "./message.ts";

/** The account and sender of every local resource. */
export const LOCAL_ACCOUNT = "000000000000";
const SENDER_ID = "AIDALOCAL";

export const queueArn = (name: string, region: string): string => `arn:aws:sqs:${region}:${LOCAL_ACCOUNT}:${name}`;

/** The attributes that SQS gives a message beside its body. All are text. */
export type SystemAttributes = {
  readonly SenderId: string;
  readonly SentTimestamp: string;
  readonly ApproximateReceiveCount: string;
  readonly ApproximateFirstReceiveTimestamp: string;
  readonly MessageGroupId?: string;
};

export const systemAttributes = (message: Message): SystemAttributes => ({
  SenderId: SENDER_ID,
  SentTimestamp: String(message.sentMs),
  ApproximateReceiveCount: String(message.receiveCount),
  ApproximateFirstReceiveTimestamp: String(message.firstReceivedMs ?? message.sentMs),
  ...(message.groupId !== undefined && { MessageGroupId: message.groupId }),
});
