import * as z from "zod";
import type { RecordedQueue } from "../cluster/services.ts";
import type { OwnAccount } from "../../stack/source-client/aws.ts";
import { LOCAL_ACCOUNT } from "../queue/message.ts";
import { LOOPBACK_CREDENTIALS, listenForOwnUser, closeServer } from "../host/loopback.ts";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { text } from "node:stream/consumers";

/** Gives the queue of a name as it is now; undefined where there is none. */
export type QueueOf = (name: string) => Promise<RecordedQueue | undefined>;

const TARGET = "AmazonSQS.GetQueueAttributes";

const CONTENT_TYPE = "application/x-amz-json-1.0";

const attributesAsked = z.object({
  QueueUrl: z.string(),
  AttributeNames: z.array(z.string()).default([]),
});

/** The account of the recorded queues, for the client of sources. */
export const accountAt = (url: string): OwnAccount => ({
  accountId: LOCAL_ACCOUNT,
  url,
  credentials: LOOPBACK_CREDENTIALS,
});

/**
 * Answers GetQueueAttributes of SQS on loopback, over the recorded load. The account has no other
 * operation, and no message can be sent to it or read from it. Signatures are not checked: the
 * secret of the run in the path is.
 */
export const startQueueServer = async (
  queueOf: QueueOf,
): Promise<{ readonly url: string; readonly close: () => Promise<void> }> => {
  const server = createServer((request, response) => void answer(queueOf, request, response));
  return { url: await listenForOwnUser(server), close: () => closeServer(server) };
};

/** Never rejects. */
const answer = async (
  queueOf: QueueOf,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> => {
  const reply = (status: number, body: object): void =>
    void response.writeHead(status, { "content-type": CONTENT_TYPE }).end(JSON.stringify(body));
  const refuse = (code: string, message: string): void =>
    reply(400, { __type: `com.amazonaws.sqs#${code}`, message });
  try {
    if (request.headers["x-amz-target"] !== TARGET)
      return refuse("UnsupportedOperation", `this account answers ${TARGET} only`);
    const { QueueUrl, AttributeNames } = attributesAsked.parse(JSON.parse(await text(request)));
    const [account, name = ""] = new URL(QueueUrl).pathname.split("/").slice(1);
    const queue = account === LOCAL_ACCOUNT ? await queueOf(name) : undefined;
    if (queue === undefined)
      return refuse("QueueDoesNotExist", "The specified queue does not exist.");
    const all: Readonly<Record<string, number>> = {
      ApproximateNumberOfMessages: queue.waiting,
      ApproximateNumberOfMessagesNotVisible: queue.inFlight,
      ApproximateNumberOfMessagesDelayed: 0,
    };
    const wanted = Object.entries(all).filter(
      ([attribute]) => AttributeNames.includes("All") || AttributeNames.includes(attribute),
    );
    reply(200, {
      Attributes: Object.fromEntries(
        wanted.map(([attribute, count]) => [attribute, String(count)]),
      ),
    });
  } catch {
    // What the client sent is no request of SQS.
    refuse("InvalidAttributeName", "the request cannot be read");
  }
};
