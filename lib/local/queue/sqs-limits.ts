import type { Draft } from "./queue.ts";

/** The limits of SQS (quotas page of its developer guide). */
const MAX_DELAY_SECONDS = 900;
const MAX_BATCH_ENTRIES = 10;
const MAX_MESSAGE_BYTES = 1_048_576;
const MS = 1000;
/** Characters that XML 1.0 cannot hold. */
const FORBIDDEN_CHARACTERS = /[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/u;
const GROUP_ID = /^[\w!"#$%&'()*+,\-./:;<=>?@[\\\]^`{|}~]{1,128}$/;
const BATCH_ENTRY_ID = /^[\w-]{1,80}$/;

interface Entry {
  readonly Id: string;
  readonly MessageBody?: string | undefined;
  readonly DelaySeconds?: number | undefined;
  readonly MessageGroupId?: string | undefined;
}

/** The message that an entry asks for. Throws SqsFailure for what SQS would refuse. */
export const draftOf = ({ MessageBody, DelaySeconds = 0, MessageGroupId }: Entry): Draft => {
  if (MessageBody === undefined || MessageBody === "") throw missingParameter("MessageBody");
  if (!Number.isInteger(DelaySeconds) || DelaySeconds < 0 || DelaySeconds > MAX_DELAY_SECONDS)
    throw invalidValue("DelaySeconds", DelaySeconds, `DelaySeconds must be >= 0 and <= ${MAX_DELAY_SECONDS}`);
  if (FORBIDDEN_CHARACTERS.test(MessageBody)) throw new SqsFailure("InvalidMessageContents", "Invalid characters found in message body.");
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
  const draft = { body: MessageBody, delayMs: DelaySeconds * MS };
  return MessageGroupId === undefined ? draft : { ...draft, groupId: MessageGroupId };
};

/** Checks a batch as a whole. A fault of one entry fails only that entry (`draftOf`). */
export const checkBatch = (entries: readonly Entry[]): void => {
  if (entries.length === 0) throw sqsFailure("EmptyBatchRequest", "There should be at least one entry in the request.");
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
  const bytes = entries.reduce((sum, { MessageBody = "" }) => sum + Buffer.byteLength(MessageBody), 0);
  if (bytes > MAX_MESSAGE_BYTES) {
    throw sqsFailure("BatchRequestTooLong", `Batch requests cannot be longer than ${MAX_MESSAGE_BYTES} bytes. You have sent ${bytes} bytes.`);
  }
};

/** A refusal as SQS words it: `shape` is the error's name in the model, `query` its older code, which the SDK shows where the two differ. */
export class SqsFailure extends Error {
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
export const sqsFailure = (shape: string, message: string): SqsFailure => new SqsFailure(shape, message, `${QUERY_PREFIX}${shape}`);

export const noSuchQueue = (): SqsFailure =>
  new SqsFailure("QueueDoesNotExist", "The specified queue does not exist.", `${QUERY_PREFIX}NonExistentQueue`);

const invalidValue = (parameter: string, value: unknown, reason: string): SqsFailure =>
  new SqsFailure("InvalidParameterValue", `Value ${String(value)} for parameter ${parameter} is invalid. Reason: ${reason}.`);

const missingParameter = (parameter: string): SqsFailure =>
  new SqsFailure("MissingParameter", `The request must contain the parameter ${parameter}.`);
