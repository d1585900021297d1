import { randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import * as z from "zod";
import { closeServer, listenForOwnUser } from "../run/loopback.ts";
import { LOCAL_ACCOUNT, md5OfBody } from "./message.ts";
import type { Queue } from "./queue.ts";
import { checkBatch, draftOf, noSuchQueue, SqsFailure } from "./sqs-limits.ts";

/** The only operation that our functions call. The event source mapping takes messages from the queue itself. */
const TARGET = "AmazonSQS.SendMessageBatch";
const CONTENT_TYPE = "application/x-amz-json-1.0";

export interface SqsServer {
  readonly endpoint: string;
  readonly urlOf: (queue: Queue) => string;
  readonly close: () => Promise<void>;
}

/** Answers `SendMessageBatch` of the SDK on loopback, in the JSON protocol, for the given queues. */
export const startSqsServer = async (queues: readonly Queue[]): Promise<SqsServer> => {
  let endpoint = "";
  const urlOf = (queue: Queue) => `${endpoint}/${LOCAL_ACCOUNT}/${queue.settings.name}`;
  const server: Server = createServer((request, response) => {
    answer(queues, request).then(
      (body) => respond(response, 200, body),
      (error: unknown) => refuse(response, error),
    );
  });
  endpoint = await listenForOwnUser(server);
  return { endpoint, urlOf, close: () => closeServer(server) };
};

const answer = async (queues: readonly Queue[], request: IncomingMessage): Promise<object> => {
  const target = String(request.headers["x-amz-target"] ?? "");
  if (target !== TARGET)
    throw new SqsFailure("UnsupportedOperation", `The queue has no operation "${target}".`, "AWS.SimpleQueueService.UnsupportedOperation");
  const batch = readSendBatch(await text(request));
  const name = new URL(batch.QueueUrl).pathname.split("/").at(-1);
  const queue = queues.find(({ settings }) => settings.name === name);
  if (!queue) throw noSuchQueue();
  return sendBatch(queue, batch);
};

const respond = (response: ServerResponse, status: number, body: object, headers: Readonly<Record<string, string>> = {}): void => {
  response.writeHead(status, { "content-type": CONTENT_TYPE, "x-amzn-requestid": randomUUID(), ...headers });
  response.end(JSON.stringify(body));
};

const refuse = (response: ServerResponse, error: unknown): void => {
  if (error instanceof SqsFailure) {
    respond(response, 400, { __type: `com.amazonaws.sqs#${error.shape}`, message: error.message }, { "x-amzn-query-error": `${error.query};Sender` });
    return;
  }
  // A fault of our own. The SDK repeats a request after a 500, as it does with SQS.
  respond(response, 500, { __type: "com.amazonaws.sqs#InternalFailure", message: error instanceof Error ? error.message : String(error) });
};

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

type SendBatchRequest = z.infer<typeof requestSchema>;

/** Throws SqsFailure for a body of another shape. */
const readSendBatch = (body: string): SendBatchRequest => {
  const parsed = requestSchema.safeParse(JSON.parse(body === "" ? "{}" : body));
  if (parsed.success) return parsed.data;
  throw new SqsFailure("SerializationException", parsed.error.issues.map(({ path, message }) => `${path.join(".")}: ${message}`).join("; "));
};

/** Sends the entries to the queue. Each one succeeds or fails by itself. Throws SqsFailure for a batch that SQS refuses as a whole. */
const sendBatch = (queue: Queue, { Entries }: SendBatchRequest): object => {
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
