import * as z from "zod";
import { randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { closeServer, listenForOwnUser } from "../host/loopback.ts";
import { LOCAL_ACCOUNT, md5OfBody } from "./message.ts";
import { type Queue, type Draft, openQueueJournal, readQueueJournal, openQueue } from "./queue.ts";
import { DEAD_LETTERS, SYNC_QUEUE } from "../layout.ts";
import { SECOND_MS } from "../../rules/model/time-text.ts";

/**
 * The only operation that our functions call. The event source mapping takes messages from the
 * queue itself.
 */
const TARGET = "AmazonSQS.SendMessageBatch";
const CONTENT_TYPE = "application/x-amz-json-1.0";

export interface SqsServer {
  readonly endpoint: string;
  readonly urlOf: (queue: Queue) => string;
  readonly close: () => Promise<void>;
}

/**
 * Answers `SendMessageBatch` of the SDK on loopback, in the JSON protocol, for the given queues.
 */
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
    throw new SqsFailure(
      "UnsupportedOperation",
      `The queue has no operation "${target}".`,
      "AWS.SimpleQueueService.UnsupportedOperation",
    );
  const batch = readSendBatch(await text(request));
  const name = new URL(batch.QueueUrl).pathname.split("/").at(-1);
  const queue = queues.find(({ settings }) => settings.name === name);
  if (!queue)
    throw new SqsFailure(
      "QueueDoesNotExist",
      "The specified queue does not exist.",
      `${QUERY_PREFIX}NonExistentQueue`,
    );
  return sendBatch(queue, batch);
};

const respond = (
  response: ServerResponse,
  status: number,
  body: object,
  headers: Readonly<Record<string, string>> = {},
): void => {
  response.writeHead(status, {
    "content-type": CONTENT_TYPE,
    "x-amzn-requestid": randomUUID(),
    ...headers,
  });
  response.end(JSON.stringify(body));
};

const refuse = (response: ServerResponse, error: unknown): void => {
  if (error instanceof SqsFailure) {
    respond(
      response,
      400,
      { __type: `com.amazonaws.sqs#${error.shape}`, message: error.message },
      { "x-amzn-query-error": `${error.query};Sender` },
    );
    return;
  }
  // A fault of our own. The SDK repeats a request after a 500, as it does with SQS.
  respond(response, 500, {
    __type: "com.amazonaws.sqs#InternalFailure",
    message: error instanceof Error ? error.message : String(error),
  });
};

/**
 * A request of `SendMessageBatch` in the JSON protocol of SQS, as far as our functions send it.
 * Other members are ignored.
 */
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
type Entry = SendBatchRequest["Entries"][number];

/** Throws SqsFailure for a body of another shape. */
const readSendBatch = (body: string): SendBatchRequest => {
  const parsed = requestSchema.safeParse(JSON.parse(body === "" ? "{}" : body));
  if (parsed.success) return parsed.data;
  throw new SqsFailure(
    "SerializationException",
    parsed.error.issues.map(({ path, message }) => `${path.join(".")}: ${message}`).join("; "),
  );
};

/**
 * Sends the entries to the queue. Each one succeeds or fails by itself. Throws SqsFailure for a
 * batch that SQS refuses as a whole.
 */
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

/** The limits of SQS (quotas page of its developer guide). */
const MAX_DELAY_SECONDS = 900;
const MAX_BATCH_ENTRIES = 10;
const MAX_MESSAGE_BYTES = 1_048_576;
/** Characters that XML 1.0 cannot hold. */
const FORBIDDEN_CHARACTERS = /[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/u;
const GROUP_ID = /^[\w!"#$%&'()*+,\-./:;<=>?@[\\\]^`{|}~]{1,128}$/;
const BATCH_ENTRY_ID = /^[\w-]{1,80}$/;

/** The message that an entry asks for. Throws SqsFailure for what SQS would refuse. */
const draftOf = ({ MessageBody, DelaySeconds = 0, MessageGroupId }: Entry): Draft => {
  if (MessageBody === undefined || MessageBody === "")
    throw new SqsFailure("MissingParameter", "The request must contain the parameter MessageBody.");
  if (!Number.isInteger(DelaySeconds) || DelaySeconds < 0 || DelaySeconds > MAX_DELAY_SECONDS)
    throw invalidValue(
      "DelaySeconds",
      DelaySeconds,
      `DelaySeconds must be >= 0 and <= ${MAX_DELAY_SECONDS}`,
    );
  if (FORBIDDEN_CHARACTERS.test(MessageBody))
    throw new SqsFailure("InvalidMessageContents", "Invalid characters found in message body.");
  if (MessageGroupId !== undefined && !GROUP_ID.test(MessageGroupId)) {
    throw invalidValue(
      "MessageGroupId",
      MessageGroupId,
      "MessageGroupId can only include alphanumeric and punctuation characters. 1 to 128 in length",
    );
  }
  if (Buffer.byteLength(MessageBody) > MAX_MESSAGE_BYTES) {
    throw new SqsFailure(
      "InvalidParameterValue",
      `One or more parameters are invalid. Reason: Message must be shorter than ${MAX_MESSAGE_BYTES} bytes.`,
    );
  }
  const draft = { body: MessageBody, delayMs: DelaySeconds * SECOND_MS };
  return MessageGroupId === undefined ? draft : { ...draft, groupId: MessageGroupId };
};

/** Checks a batch as a whole. A fault of one entry fails only that entry (`draftOf`). */
const checkBatch = (entries: readonly Entry[]): void => {
  if (entries.length === 0)
    throw sqsFailure("EmptyBatchRequest", "There should be at least one entry in the request.");
  if (entries.length > MAX_BATCH_ENTRIES) {
    throw sqsFailure(
      "TooManyEntriesInBatchRequest",
      `Maximum number of entries per request are ${MAX_BATCH_ENTRIES}. You have sent ${entries.length}.`,
    );
  }
  const bad = entries.find(({ Id }) => !BATCH_ENTRY_ID.test(Id));
  if (bad) {
    throw sqsFailure(
      "InvalidBatchEntryId",
      "A batch entry id can only contain alphanumeric characters, hyphens and underscores. It can be at most 80 letters long.",
    );
  }
  const repeated = entries.find(({ Id }, at) => entries.findIndex((other) => other.Id === Id) < at);
  if (repeated) throw sqsFailure("BatchEntryIdsNotDistinct", `Id ${repeated.Id} repeated.`);
  const bytes = entries.reduce(
    (sum, { MessageBody = "" }) => sum + Buffer.byteLength(MessageBody),
    0,
  );
  if (bytes > MAX_MESSAGE_BYTES) {
    throw sqsFailure(
      "BatchRequestTooLong",
      `Batch requests cannot be longer than ${MAX_MESSAGE_BYTES} bytes. You have sent ${bytes} bytes.`,
    );
  }
};

/** A refusal as SQS words it: `shape` is the error's name in the model, `query` its older code, which the SDK shows where the two differ. */
class SqsFailure extends Error {
  readonly shape: string;
  readonly query: string;

  constructor(shape: string, message: string, query: string = shape) {
    super(message);
    this.name = "SqsFailure";
    this.shape = shape;
    this.query = query;
  }
}

const QUERY_PREFIX = "AWS.SimpleQueueService.";

/** One of the errors whose older code has the prefix of the service. */
export const sqsFailure = (shape: string, message: string): SqsFailure =>
  new SqsFailure(shape, message, `${QUERY_PREFIX}${shape}`);

const invalidValue = (parameter: string, value: unknown, reason: string): SqsFailure =>
  new SqsFailure(
    "InvalidParameterValue",
    `Value ${String(value)} for parameter ${parameter} is invalid. Reason: ${reason}.`,
  );

/** As in the template (infra/queues.yml, serverless.yml): six times the function's timeout, an hour, five receives, two weeks in the dead-letter queue. */
const VISIBILITY_MS = 180_000;
const RETENTION_MS = 3_600_000;
const DEAD_RETENTION_MS = 1_209_600_000;
const MAX_RECEIVES = 5;

export interface Queues {
  readonly sync: Queue;
  readonly dead: Queue;
  readonly endpoint: string;
  readonly syncUrl: string;
  /** Messages that the previous run received and did not finish. */
  readonly recovered: number;
  readonly close: () => Promise<void>;
}

/** Opens the queues of the run, with the messages of the last run, and serves them on loopback. */
export const startQueues = async (
  path: string,
  clock: () => number,
  onSent: () => void = () => {},
): Promise<Queues> => {
  const journal = openQueueJournal(path);
  const redrive = { deadLetterQueue: DEAD_LETTERS, maxReceiveCount: MAX_RECEIVES };
  const settings = {
    name: SYNC_QUEUE,
    visibilityTimeoutMs: VISIBILITY_MS,
    retentionMs: RETENTION_MS,
    redrive,
  };
  const sync = openQueue(journal, clock, settings, onSent);
  const dead = openQueue(journal, clock, {
    name: DEAD_LETTERS,
    visibilityTimeoutMs: VISIBILITY_MS,
    retentionMs: DEAD_RETENTION_MS,
  });
  const recovered = sync.recoverInFlight();
  const server = await startSqsServer([sync, dead]);
  const close = async () => {
    await server.close();
    journal.close();
  };
  return { sync, dead, endpoint: server.endpoint, syncUrl: server.urlOf(sync), recovered, close };
};

/** Messages in the dead-letter queue of a data folder, also while a run writes its journal. Throws `local.queue-unreadable`. */
export const deadLettersIn = (journal: string): number =>
  [...readQueueJournal(journal).values()].filter(({ queue }) => queue === DEAD_LETTERS).length;
