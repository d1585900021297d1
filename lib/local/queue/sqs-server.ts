import { randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { closeServer, listenForOwnUser } from "../run/loopback.ts";
import type { Queue } from "./queue.ts";
import { readSendBatch, sendBatch } from "./send-batch.ts";
import { noSuchQueue, SqsFailure } from "./sqs-failure.ts";
import { LOCAL_ACCOUNT } from "./system-attributes.ts";

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
