import { type Message, md5OfAttributes, md5OfBody } from "./message.ts";
import type { Queue } from "./queue.ts";
import { invalidValue, noSuchQueue, SqsFailure, sqsFailure } from "./sqs-failure.ts";
import {
  checkBatch,
  checkBatchSize,
  draftOf,
  MAX_BATCH_ENTRIES,
  MAX_VISIBILITY_SECONDS,
  MAX_WAIT_SECONDS,
  type SendInput,
  wholeSeconds,
} from "./sqs-limits.ts";
import type { Requests } from "./sqs-requests.ts";
import { queueAttributes, systemAttributes } from "./system-attributes.ts";

export interface SqsService {
  readonly queues: readonly Queue[];
  readonly urlOf: (queue: Queue) => string;
}

type Actions = { readonly [Action in keyof Requests]: (service: SqsService, request: Requests[Action]) => object };

/** What each call answers. Nothing waits here: a long poll is answered at once, since virtual time stands still while anything is being done. */
export const actions: Actions = {
  GetQueueUrl: (service, { QueueName }) => ({ QueueUrl: service.urlOf(named(service, QueueName)) }),
  GetQueueAttributes: (service, { QueueUrl, AttributeNames = [] }) => ({ Attributes: queueAttributes(at(service, QueueUrl), AttributeNames) }),
  SendMessage: (service, request) => sent(at(service, request.QueueUrl), request),
  SendMessageBatch: (service, { QueueUrl, Entries }) => {
    const queue = at(service, QueueUrl);
    checkBatch(Entries);
    checkBatchSize(Entries);
    return eachEntry(Entries, (entry) => sent(queue, entry));
  },
  ReceiveMessage: (service, request) => {
    const queue = at(service, request.QueueUrl);
    const { MaxNumberOfMessages, VisibilityTimeout, WaitTimeSeconds } = request;
    if (!Number.isInteger(MaxNumberOfMessages) || MaxNumberOfMessages < 1 || MaxNumberOfMessages > MAX_BATCH_ENTRIES) {
      throw invalidValue("MaxNumberOfMessages", MaxNumberOfMessages, `Must be between 1 and ${MAX_BATCH_ENTRIES}, if provided`);
    }
    wholeSeconds("WaitTimeSeconds", WaitTimeSeconds, 0, MAX_WAIT_SECONDS);
    const timeoutMs = VisibilityTimeout === undefined ? undefined : visibilityMs(VisibilityTimeout);
    const messages = queue.receive(MaxNumberOfMessages, timeoutMs).map((message) => receivedMessage(message, request));
    return messages.length === 0 ? {} : { Messages: messages };
  },
  DeleteMessage: (service, { QueueUrl, ReceiptHandle }) => removed(at(service, QueueUrl), ReceiptHandle),
  DeleteMessageBatch: (service, { QueueUrl, Entries }) => {
    const queue = at(service, QueueUrl);
    checkBatch(Entries);
    return eachEntry(Entries, ({ ReceiptHandle }) => removed(queue, ReceiptHandle));
  },
  ChangeMessageVisibility: (service, { QueueUrl, ReceiptHandle, VisibilityTimeout }) => {
    const outcome = at(service, QueueUrl).changeVisibility(ReceiptHandle, visibilityMs(VisibilityTimeout));
    if (outcome === "unknown") throw badReceipt(ReceiptHandle);
    if (outcome === "not-in-flight") throw sqsFailure("MessageNotInflight", "The specified message is not in flight.");
    return {};
  },
};

const visibilityMs = (seconds: number): number => wholeSeconds("VisibilityTimeout", seconds, 0, MAX_VISIBILITY_SECONDS);

const named = ({ queues }: SqsService, name: string): Queue => {
  const queue = queues.find(({ settings }) => settings.name === name);
  if (!queue) throw noSuchQueue();
  return queue;
};

const at = (service: SqsService, url: string): Queue => named(service, new URL(url).pathname.split("/").at(-1) ?? "");

const sent = (queue: Queue, input: SendInput): object => {
  const message = queue.send(draftOf(input));
  const md5 = md5OfAttributes(message.attributes);
  return { MessageId: message.id, MD5OfMessageBody: md5OfBody(message.body), ...(md5 !== undefined && { MD5OfMessageAttributes: md5 }) };
};

const removed = (queue: Queue, receipt: string): object => {
  if (!queue.remove(receipt)) throw badReceipt(receipt);
  return {};
};

const badReceipt = (receipt: string): SqsFailure =>
  new SqsFailure("ReceiptHandleIsInvalid", `The input receipt handle "${receipt}" is not a valid receipt handle.`);

/** Each entry succeeds or fails alone. */
const eachEntry = <Entry extends { readonly Id: string }>(entries: readonly Entry[], act: (entry: Entry) => object): object => {
  const Successful: object[] = [];
  const Failed: object[] = [];
  for (const entry of entries) {
    try {
      Successful.push({ Id: entry.Id, ...act(entry) });
    } catch (error) {
      if (!(error instanceof SqsFailure)) throw error;
      Failed.push({ Id: entry.Id, SenderFault: true, Code: error.query, Message: error.message });
    }
  }
  return { Successful, Failed };
};

const receivedMessage = (message: Message, request: Requests["ReceiveMessage"]): object => {
  const system = systemAttributes(message, [...(request.AttributeNames ?? []), ...(request.MessageSystemAttributeNames ?? [])]);
  const attributes = chosen(message.attributes, request.MessageAttributeNames ?? []);
  const md5 = md5OfAttributes(attributes);
  return {
    MessageId: message.id,
    ReceiptHandle: message.inFlight?.receipt,
    MD5OfBody: md5OfBody(message.body),
    Body: message.body,
    ...(Object.keys(system).length > 0 && { Attributes: system }),
    ...(md5 !== undefined && { MessageAttributes: attributes, MD5OfMessageAttributes: md5 }),
  };
};

/** Names may be exact, "All", ".*", or a prefix as in "trace.*". */
const chosen = (attributes: Message["attributes"], names: readonly string[]): Message["attributes"] =>
  Object.fromEntries(
    Object.entries(attributes).filter(([name]) =>
      names.some((wanted) => wanted === "All" || wanted === name || (wanted.endsWith(".*") && name.startsWith(wanted.slice(0, -2)))),
    ),
  );
