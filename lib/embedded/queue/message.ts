import { createHash, randomUUID } from "node:crypto";
import * as z from "zod";
import { arnOf } from "../../rules/model/aws-partitions.ts";

/** A message of a journal. */
export const messageSchema = z.object({
  id: z.string(),
  /** Order of arrival. It decides between messages that become visible at the same instant. */
  sequence: z.int(),
  body: z.string(),
  groupId: z.string().optional(),
  sentMs: z.number(),
  /** The end of its delay, or of its visibility timeout. It is not received before. */
  visibleAtMs: z.number(),
  receiveCount: z.int(),
  firstReceivedMs: z.number().optional(),
  /** Set from its first receive on: the last receipt, and `visibleAtMs` before it. */
  inFlight: z.object({ receipt: z.string(), waitedMs: z.number() }).optional(),
});

export type QueueMessage = z.infer<typeof messageSchema>;

/**
 * A receipt contains the id of its message, so that an outdated receipt differs from an invalid
 * one.
 */
export const newReceipt = (id: string): string =>
  Buffer.from(`${id} ${randomUUID()}`).toString("base64url");
export const idOfReceipt = (receipt: string): string | undefined => {
  const [id, serial] = Buffer.from(receipt, "base64url").toString().split(" ");
  return serial === undefined ? undefined : id;
};

export const md5OfBody = (body: string): string => createHash("md5").update(body).digest("hex");

/** The account and sender of every local resource. */
export const LOCAL_ACCOUNT = "000000000000";
const SENDER_ID = "AIDALOCAL";

export const queueArn = (name: string, region: string): string =>
  arnOf("sqs", region, LOCAL_ACCOUNT, name);

/** The attributes that SQS gives a message beside its body. All are text. */
type SystemAttributes = {
  readonly SenderId: string;
  readonly SentTimestamp: string;
  readonly ApproximateReceiveCount: string;
  readonly ApproximateFirstReceiveTimestamp: string;
  readonly MessageGroupId?: string;
};

export const systemAttributes = (message: QueueMessage): SystemAttributes => ({
  SenderId: SENDER_ID,
  SentTimestamp: String(message.sentMs),
  ApproximateReceiveCount: String(message.receiveCount),
  ApproximateFirstReceiveTimestamp: String(message.firstReceivedMs ?? message.sentMs),
  ...(message.groupId !== undefined && { MessageGroupId: message.groupId }),
});
