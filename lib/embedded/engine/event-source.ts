import type { RunClock } from "./clock.ts";
import type { SQSBatchResponse, SQSEvent, SQSRecord, Context } from "aws-lambda";
import {
  LOCAL_ACCOUNT,
  type QueueMessage,
  md5OfBody,
  queueArn,
  systemAttributes,
} from "../queue/message.ts";
import type { Queue } from "../queue/queue.ts";
import { arnOf } from "../../rules/model/aws-partitions.ts";
import { randomUUID } from "node:crypto";

/**
 * A part of the run that does work at certain instants: the scheduler, the event source mapping.
 */
export interface Activity {
  /**
   * The next instant with work. Undefined when there is none, or when no further work may begin
   * now.
   */
  readonly nextMs: () => number | undefined;
  /**
   * Does the work that is due. It takes that work before it first waits, so that a second call
   * finds only the rest. Never rejects.
   */
  readonly happen: () => Promise<void>;
  /**
   * Settles when what `happen` left under way has ended. No other activity begins before. Absent
   * where it leaves nothing.
   */
  readonly settled?: () => Promise<void>;
}

export interface Drive {
  /** In order of precedence within one instant. */
  readonly activities: readonly Activity[];
  readonly clock: RunClock;
  /** The last instant whose work is still done. */
  readonly endMs: number;
  readonly signal: AbortSignal;
  /**
   * True: time stands still until the work of an instant is done. False: in real time, work of
   * several instants may overlap.
   */
  readonly oneAtATime: boolean;
  /** Ends the wait for the next instant, where something came that may be due before it. */
  readonly nudge?: Nudge;
}

/** What comes from outside of a run tells its drive to look again. */
export interface Nudge {
  readonly now: () => void;
  /** Aborts with the next nudge. */
  readonly signal: () => AbortSignal;
}

export const nudges = (): Nudge => {
  let next = new AbortController();
  return {
    now: () => {
      const before = next;
      next = new AbortController();
      before.abort();
    },
    signal: () => next.signal,
  };
};

/**
 * Without a next instant the drive looks again after this time, because a command may have sent a
 * message.
 */
const IDLE_MS = 1_000;

/**
 * Does all work in the order of time until the end or until the signal aborts. Work that has begun
 * is always finished.
 */
export const drive = async ({
  activities,
  clock,
  endMs,
  signal,
  oneAtATime,
  nudge,
}: Drive): Promise<void> => {
  const underWay = new Set<Promise<void>>();
  const settled = async (except?: Activity): Promise<void> => {
    for (const other of activities) if (other !== except) await other.settled?.();
  };
  const begin = async (activity: Activity): Promise<void> => {
    await settled(activity);
    const work = activity.happen();
    if (oneAtATime) return work;
    underWay.add(work);
    void work.then(() => underWay.delete(work));
  };
  while (!signal.aborted) {
    // Taken before the look at the queues: what comes in between ends the wait at once.
    const waiting = nudge ? AbortSignal.any([signal, nudge.signal()]) : signal;
    const nextMs = earliest(activities) ?? clock.now() + IDLE_MS;
    await clock.until(Math.min(nextMs, endMs), waiting);
    if (signal.aborted || (nextMs > endMs && clock.now() >= endMs)) break;
    const due = activities.find(
      (activity) => (activity.nextMs() ?? Number.POSITIVE_INFINITY) <= clock.now(),
    );
    if (due) await begin(due);
  }
  await Promise.all([...underWay, settled()]);
};

const earliest = (activities: readonly Activity[]): number | undefined => {
  const times = activities.flatMap((activity) => activity.nextMs() ?? []);
  return times.length === 0 ? undefined : Math.min(...times);
};

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
 * Messages of different lanes overlap, also where they are delivered at different instants;
 * messages of one lane follow each other. Without lanes time stands still until all messages of an
 * instant were handled.
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
  readonly message: QueueMessage;
  readonly wallMs: number;
  /** The error that the handler threw, or reported for its message. */
  readonly failure?: unknown;
}

/**
 * The event source mapping between queue and function, with batches of one as in the stack. A
 * message that succeeded is deleted. A message that failed stays until its visibility timeout ends
 * and is then delivered again, until the queue moves it to the dead-letter queue.
 */
export const eventSource = (options: EventSourceOptions): Activity => {
  const { queue, concurrency, lanes, clock } = options;
  let busy = 0;
  const handle = async (message: QueueMessage): Promise<void> => {
    await deliver(options, message);
    busy--;
  };
  const underWay = new Map<string, Promise<void>>();
  const beginInLane = async (
    message: QueueMessage,
    { laneOf, most, hold }: Lanes,
  ): Promise<void> => {
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

const deliver = async (options: EventSourceOptions, message: QueueMessage): Promise<void> => {
  const { queue, functionName, timeoutMs, region } = options;
  const startedAt = performance.now();
  options.onBegin();
  const failure = await invoke(
    options,
    message,
    invocationContext(functionName, timeoutMs, region, LOCAL_ACCOUNT),
  );
  if (failure === undefined && message.inFlight) queue.remove(message.inFlight.receipt);
  options.onDelivered({
    message,
    wallMs: performance.now() - startedAt,
    ...(failure !== undefined && { failure }),
  });
};

/** Undefined when the message was handled, otherwise the error. */
const invoke = async (
  { handler, queue, region }: EventSourceOptions,
  message: QueueMessage,
  context: ReturnType<typeof invocationContext>,
): Promise<unknown> => {
  try {
    const answer = await handler(
      { Records: [sqsRecord(message, queueArn(queue.settings.name, region), region)] },
      context,
    );
    const failed = (answer?.batchItemFailures ?? []).some(
      ({ itemIdentifier }) => itemIdentifier === message.id,
    );
    return failed ? new Error(`The handler reported message "${message.id}" as failed`) : undefined;
  } catch (error) {
    return error ?? new Error("The handler threw nothing");
  }
};

/**
 * The record of an SQS event, with every member that the service gives a message without attributes
 * of its sender.
 */
const sqsRecord = (
  message: QueueMessage,
  eventSourceARN: string,
  awsRegion: string,
): SQSRecord => ({
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

/**
 * The context that the Lambda runtime gives a handler. The remaining time is wall time, because a
 * deadline bounds work and not virtual time.
 */
export const invocationContext = (
  functionName: string,
  timeoutMs: number,
  region: string,
  account: string,
): Context => {
  const endsAt = performance.now() + timeoutMs;
  const unused = () => {
    throw new TypeError("The callbacks of the Lambda context are not offered: return a promise");
  };
  return {
    callbackWaitsForEmptyEventLoop: false,
    functionName,
    functionVersion: "$LATEST",
    invokedFunctionArn: arnOf("lambda", region, account, `function:${functionName}`),
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
