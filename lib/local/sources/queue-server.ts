import * as z from "zod";
import type { SimulatedWorkload } from "../cluster/simulation.ts";
import { waitingAt } from "../cluster/simulated-workload.ts";
import { isReady } from "../cluster/simulated-pod.ts";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import type { OwnAccount } from "../../source-client/aws.ts";
import { LOCAL_ACCOUNT } from "../queue/message.ts";
import { closeServer, listenOnLoopback, LOOPBACK_CREDENTIALS } from "../run/loopback.ts";

/** The load of the workloads of one name as a queue of messages: what was asked for and not served yet waits in it. */
export interface RecordedQueue {
  /** Whole messages that wait to be received. */
  readonly waiting: number;
  /** Messages that pods have received and not deleted yet: one for each ready pod, while there are any. */
  readonly inFlight: number;
}

/** The queue that is named as the workloads; undefined where none has the name. */
export const recordedQueue = (workloads: readonly SimulatedWorkload[], name: string, nowMs: number): RecordedQueue | undefined => {
  const named = workloads.filter(({ model }) => model.name === name);
  if (named.length === 0) return undefined;
  const each = named.map(({ model, state, live }) => {
    const { demand } = state.segments.at(-1) ?? state.segments[0];
    const waiting = waitingAt(model, state, nowMs);
    const ready = live.filter((pod) => isReady(pod, nowMs)).length;
    return { waiting: Math.ceil(waiting), inFlight: Math.min(ready, Math.ceil(demand + waiting)) };
  });
  return each.reduce((sum, one) => ({ waiting: sum.waiting + one.waiting, inFlight: sum.inFlight + one.inFlight }));
};

/** Gives the queue of a name as it is now; undefined where there is none. */
export type QueueOf = (name: string) => Promise<RecordedQueue | undefined>;

const TARGET = "AmazonSQS.GetQueueAttributes";
const CONTENT_TYPE = "application/x-amz-json-1.0";
const asked = z.object({ QueueUrl: z.string(), AttributeNames: z.array(z.string()).default([]) });

/** The account of the recorded queues, for the client of sources. */
export const accountAt = (url: string): OwnAccount => ({ accountId: LOCAL_ACCOUNT, url, credentials: LOOPBACK_CREDENTIALS });

/**
 * Answers GetQueueAttributes of SQS on loopback, over the recorded load. The account has no other operation, and no message can be sent to it or read from it. Signatures are not checked: the
 * numbers are no secret.
 */
export const startQueueServer = async (queueOf: QueueOf): Promise<{ readonly url: string; readonly close: () => Promise<void> }> => {
  const server = createServer((request, response) => void answer(queueOf, request, response));
  return { url: await listenOnLoopback(server), close: () => closeServer(server) };
};

/** Never rejects. */
const answer = async (queueOf: QueueOf, request: IncomingMessage, response: ServerResponse): Promise<void> => {
  const reply = (status: number, body: object): void => void response.writeHead(status, { "content-type": CONTENT_TYPE }).end(JSON.stringify(body));
  const refuse = (code: string, message: string): void => reply(400, { __type: `com.amazonaws.sqs#${code}`, message });
  try {
    if (request.headers["x-amz-target"] !== TARGET) return refuse("UnsupportedOperation", `this account answers ${TARGET} only`);
    const { QueueUrl, AttributeNames } = asked.parse(JSON.parse(await text(request)));
    const [account, name = ""] = new URL(QueueUrl).pathname.split("/").slice(1);
    const queue = account === LOCAL_ACCOUNT ? await queueOf(name) : undefined;
    if (queue === undefined) return refuse("QueueDoesNotExist", "The specified queue does not exist.");
    const all: Readonly<Record<string, number>> = {
      ApproximateNumberOfMessages: queue.waiting,
      ApproximateNumberOfMessagesNotVisible: queue.inFlight,
      ApproximateNumberOfMessagesDelayed: 0,
    };
    const wanted = Object.entries(all).filter(([attribute]) => AttributeNames.includes("All") || AttributeNames.includes(attribute));
    reply(200, { Attributes: Object.fromEntries(wanted.map(([attribute, count]) => [attribute, String(count)])) });
  } catch {
    // What the client sent is no request of SQS.
    refuse("InvalidAttributeName", "the request cannot be read");
  }
};
