import type { SQSBatchResponse, SQSEvent, SQSRecord, Context } from "aws-lambda";
import { LOCAL_ACCOUNT, type Message, md5OfBody, queueArn, systemAttributes } from "../queue/message.ts";
import type { Queue } from "../queue/queue.ts";
import type { Activity } from "./drive.ts";
import { randomUUID } from "node:crypto";

export interface EventSourceOptions {
  readonly queue: Queue;
  readonly clock: () => number;
  readonly region: string;
  readonly functionName: string;
  readonly timeoutMs: number;
  readonly handler: Handler<SQSEvent, SQSBatchResponse | undefined>;
  /** Messages handled at once, at most. */
  readonly concurrency: number;
  readonly onBegin: () => void;
  readonly onDelivered: (delivery: Delivery) => void;
  readonly lanes?: Lanes;
}

/**
 * Messages of different lanes overlap, also where they are delivered at different instants; messages of one lane follow each other. Without lanes time stands still until all messages of an instant
 * were handled.
 */
export interface Lanes {
  readonly laneOf: (body: string) => string;
  /** Messages under way at once, at most. */
  readonly most: number;
  /** Called when a message is delivered; what it returns is called when the message was handled. */
  readonly hold: (lane: string, atMs: number) => () => void;
}

/** One invocation, as the platform sees it. */
export interface Delivery {
  readonly message: Message;
  readonly wallMs: number;
  /** The error that the handler threw, or reported for its message. */
  readonly failure?: unknown;
}

/**
 * The event source mapping between queue and function, with batches of one as in the stack. A message that succeeded is deleted. A message that failed stays until its visibility
 * timeout ends and is then delivered again, until the queue moves it to the dead-letter queue.
 */
export const eventSource = (options: EventSourceOptions): Activity => {
  const { queue, concurrency, lanes, clock } = options;
  let busy = 0;
  const handle = async (message: Message): Promise<void> => {
    await deliver(options, message);
    busy--;
  };
  const underWay = new Map<string, Promise<void>>();
  const beginInLane = async (message: Message, { laneOf, most, hold }: Lanes): Promise<void> => {
    const lane = laneOf(message.body);
    for (;;) {
      const before = underWay.get(lane);
      if (!before && underWay.size < most) break;
      await (before ?? Promise.race(underWay.values()));
    }
    const release = hold(lane, clock());
    const work = handle(message).finally(() => {
      release();
      underWay.delete(lane);
    });
    underWay.set(lane, work);
  };
  return {
    nextMs: () => (busy < concurrency ? queue.nextVisibleMs() : undefined),
    happen: async () => {
      const messages = queue.receive(concurrency - busy);
      busy += messages.length;
      if (!lanes) await Promise.all(messages.map(handle));
      else for (const message of messages) await beginInLane(message, lanes);
    },
    settled: async () => void (await Promise.all(underWay.values())),
  };
};

const deliver = async (options: EventSourceOptions, message: Message): Promise<void> => {
  const { queue, functionName, timeoutMs, region } = options;
  const startedAt = performance.now();
  options.onBegin();
  const failure = await invoke(options, message, invocationContext(functionName, timeoutMs, region, LOCAL_ACCOUNT));
  if (failure === undefined && message.inFlight) queue.remove(message.inFlight.receipt);
  options.onDelivered({ message, wallMs: performance.now() - startedAt, ...(failure !== undefined && { failure }) });
};

/** Undefined when the message was handled, otherwise the error. */
const invoke = async (
  { handler, queue, region }: EventSourceOptions,
  message: Message,
  context: ReturnType<typeof invocationContext>,
): Promise<unknown> => {
  try {
    const answer = await handler({ Records: [sqsRecord(message, queueArn(queue.settings.name, region), region)] }, context);
    const failed = (answer?.batchItemFailures ?? []).some(({ itemIdentifier }) => itemIdentifier === message.id);
    return failed ? new Error(`The handler reported message "${message.id}" as failed`) : undefined;
  } catch (error) {
    return error ?? new Error("The handler threw nothing");
  }
};

/** The record of an SQS event, with every member that the service gives a message without attributes of its sender. */
const sqsRecord = (message: Message, eventSourceARN: string, awsRegion: string): SQSRecord => ({
  messageId: message.id,
  receiptHandle: message.inFlight?.receipt ?? "",
  body: message.body,
  attributes: systemAttributes(message),
  messageAttributes: {},
  md5OfBody: md5OfBody(message.body),
  eventSource: "aws:sqs",
  eventSourceARN,
  awsRegion,
});

/** A handler as the Lambda runtime calls it. */
export type Handler<Event, Result> = (event: Event, context: Context) => Promise<Result>;

const MEMORY_MB = 512;

/** The context that the Lambda runtime gives a handler. The remaining time is wall time, because a deadline bounds work and not virtual time. */
export const invocationContext = (functionName: string, timeoutMs: number, region: string, account: string): Context => {
  const endsAt = performance.now() + timeoutMs;
  const unused = () => {
    throw new TypeError("The callbacks of the Lambda context are not offered: return a promise");
  };
  return {
    callbackWaitsForEmptyEventLoop: false,
    functionName,
    functionVersion: "$LATEST",
    invokedFunctionArn: `arn:aws:lambda:${region}:${account}:function:${functionName}`,
    memoryLimitInMB: String(MEMORY_MB),
    awsRequestId: randomUUID(),
    logGroupName: `/aws/lambda/${functionName}`,
    logStreamName: "local",
    getRemainingTimeInMillis: () => Math.max(0, endsAt - performance.now()),
    done: unused,
    fail: unused,
    succeed: unused,
  };
};
