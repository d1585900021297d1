import { randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { closeServer, listenOnLoopback } from "../run/loopback.ts";
import type { Queue } from "./queue.ts";
import { actions, type SqsService } from "./sqs-actions.ts";
import { SqsFailure } from "./sqs-failure.ts";
import { type ActionName, isAction, type Requests, requests } from "./sqs-requests.ts";
import { LOCAL_ACCOUNT } from "./system-attributes.ts";

const TARGET = /^AmazonSQS\.(\w+)$/;
const CONTENT_TYPE = "application/x-amz-json-1.0";

export interface SqsServer {
  readonly endpoint: string;
  readonly urlOf: (queue: Queue) => string;
  readonly close: () => Promise<void>;
}

/** Answers the SDK's calls to SQS on loopback, in the JSON protocol, from the given queues. */
export const startSqsServer = async (queues: readonly Queue[]): Promise<SqsServer> => {
  let endpoint = "";
  const urlOf = (queue: Queue) => `${endpoint}/${LOCAL_ACCOUNT}/${queue.settings.name}`;
  const server: Server = createServer((request, response) => {
    answer({ queues, urlOf }, request).then(
      (body) => respond(response, 200, body),
      (error: unknown) => refuse(response, error),
    );
  });
  endpoint = await listenOnLoopback(server);
  return { endpoint, urlOf, close: () => closeServer(server) };
};

const answer = async (service: SqsService, request: IncomingMessage): Promise<object> => {
  const [, action = ""] = TARGET.exec(String(request.headers["x-amz-target"] ?? "")) ?? [];
  if (!isAction(action))
    throw new SqsFailure("UnsupportedOperation", `The queue has no operation "${action}".`, "AWS.SimpleQueueService.UnsupportedOperation");
  return perform(service, action, await text(request));
};

const perform = <Action extends ActionName>(service: SqsService, action: Action, body: string): object => {
  const parsed = requests[action].safeParse(JSON.parse(body === "" ? "{}" : body));
  if (!parsed.success)
    throw new SqsFailure("SerializationException", parsed.error.issues.map(({ path, message }) => `${path.join(".")}: ${message}`).join("; "));
  // The schema of the same name parsed it: the two tables have the same keys.
  return actions[action](service, parsed.data as Requests[Action]);
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
  // A fault of ours: the SDK repeats a 500, as it would with the service.
  respond(response, 500, { __type: "com.amazonaws.sqs#InternalFailure", message: error instanceof Error ? error.message : String(error) });
};
