import * as z from "zod";
import { attributeSchema } from "./message.ts";

/** Shapes of the requests in the JSON protocol of SQS, as far as the queue knows them; other members are ignored. */
const queueUrl = z.string();
const attributes = z.record(z.string(), attributeSchema).optional();
const entry = { Id: z.string() };

const send = z.object({
  MessageBody: z.string().optional(),
  DelaySeconds: z.number().optional(),
  MessageGroupId: z.string().optional(),
  MessageAttributes: attributes,
});

const names = z.array(z.string()).optional();

export const requests = {
  GetQueueUrl: z.object({ QueueName: z.string() }),
  GetQueueAttributes: z.object({ QueueUrl: queueUrl, AttributeNames: names }),
  SendMessage: send.extend({ QueueUrl: queueUrl }),
  SendMessageBatch: z.object({ QueueUrl: queueUrl, Entries: z.array(send.extend(entry)) }),
  ReceiveMessage: z.object({
    QueueUrl: queueUrl,
    MaxNumberOfMessages: z.number().default(1),
    VisibilityTimeout: z.number().optional(),
    WaitTimeSeconds: z.number().default(0),
    AttributeNames: names,
    MessageSystemAttributeNames: names,
    MessageAttributeNames: names,
  }),
  DeleteMessage: z.object({ QueueUrl: queueUrl, ReceiptHandle: z.string() }),
  DeleteMessageBatch: z.object({ QueueUrl: queueUrl, Entries: z.array(z.object({ ...entry, ReceiptHandle: z.string() })) }),
  ChangeMessageVisibility: z.object({ QueueUrl: queueUrl, ReceiptHandle: z.string(), VisibilityTimeout: z.number() }),
} as const;

export type Requests = { readonly [Action in keyof typeof requests]: z.infer<(typeof requests)[Action]> };
export type ActionName = keyof Requests;

export const isAction = (name: string): name is ActionName => Object.hasOwn(requests, name);
