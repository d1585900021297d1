import * as z from "zod";
import { md5OfBody } from "./message.ts";
import type { Queue } from "./queue.ts";
import { SqsFailure } from "./sqs-failure.ts";
import { checkBatch, draftOf } from "./sqs-limits.ts";

/** A request of `SendMessageBatch` in the JSON protocol of SQS, as far as our functions send it. Other members are ignored. */
const requestSchema = z.object({
  QueueUrl: z.string(),
  Entries: z.array(
    z.object({
      Id: z.string(),
      MessageBody: z.string().optional(),
      DelaySeconds: z.number().optional(),
      MessageGroupId: z.string().optional(),
    }),
  ),
});

export type SendBatchRequest = z.infer<typeof requestSchema>;

/** Throws SqsFailure for a body of another shape. */
export const readSendBatch = (body: string): SendBatchRequest => {
  const parsed = requestSchema.safeParse(JSON.parse(body === "" ? "{}" : body));
  if (parsed.success) return parsed.data;
  throw new SqsFailure("SerializationException", parsed.error.issues.map(({ path, message }) => `${path.join(".")}: ${message}`).join("; "));
};

/** Sends the entries to the queue. Each one succeeds or fails alone. Throws SqsFailure for a batch that SQS refuses as a whole. */
export const sendBatch = (queue: Queue, { Entries }: SendBatchRequest): object => {
  checkBatch(Entries);
  const Successful: object[] = [];
  const Failed: object[] = [];
  for (const entry of Entries) {
    try {
      const { id, body } = queue.send(draftOf(entry));
      Successful.push({ Id: entry.Id, MessageId: id, MD5OfMessageBody: md5OfBody(body) });
    } catch (error) {
      if (!(error instanceof SqsFailure)) throw error;
      Failed.push({ Id: entry.Id, SenderFault: true, Code: error.query, Message: error.message });
    }
  }
  return { Successful, Failed };
};
