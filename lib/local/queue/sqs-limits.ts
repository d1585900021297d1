import { type MessageAttributes, sizeOf } from "./message.ts";
import type { Draft } from "./queue.ts";
import { invalidValue, missingParameter, SqsFailure, sqsFailure } from "./sqs-failure.ts";

/** The limits of SQS (quotas page of its developer guide); the emulators in reach let several of them pass. */
export const MAX_DELAY_SECONDS = 900;
export const MAX_VISIBILITY_SECONDS = 43_200;
export const MAX_WAIT_SECONDS = 20;
export const MAX_BATCH_ENTRIES = 10;
export const MAX_MESSAGE_BYTES = 1_048_576;
const MAX_ATTRIBUTES = 10;
const MS = 1000;
/** Characters that XML 1.0 cannot hold. */
const FORBIDDEN_CHARACTERS = /[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/u;
const GROUP_ID = /^[\w!"#$%&'()*+,\-./:;<=>?@[\\\]^`{|}~]{1,128}$/;
const BATCH_ENTRY_ID = /^[\w-]{1,80}$/;

export interface SendInput {
  readonly MessageBody?: string | undefined;
  readonly DelaySeconds?: number | undefined;
  readonly MessageGroupId?: string | undefined;
  readonly MessageAttributes?: MessageAttributes | undefined;
}

/** A whole number of seconds between two bounds, in milliseconds. */
export const wholeSeconds = (parameter: string, value: number, least: number, most: number): number => {
  if (!Number.isInteger(value) || value < least || value > most)
    throw invalidValue(parameter, value, `${parameter} must be >= ${least} and <= ${most}`);
  return value * MS;
};

/** The message that an entry asks for. Throws SqsFailure for what SQS would refuse. */
export const draftOf = ({ MessageBody, DelaySeconds = 0, MessageGroupId, MessageAttributes = {} }: SendInput): Draft => {
  if (MessageBody === undefined || MessageBody === "") throw missingParameter("MessageBody");
  const delayMs = wholeSeconds("DelaySeconds", DelaySeconds, 0, MAX_DELAY_SECONDS);
  if (FORBIDDEN_CHARACTERS.test(MessageBody)) throw new SqsFailure("InvalidMessageContents", "Invalid characters found in message body.");
  if (MessageGroupId !== undefined && !GROUP_ID.test(MessageGroupId)) {
    throw invalidValue(
      "MessageGroupId",
      MessageGroupId,
      "MessageGroupId can only include alphanumeric and punctuation characters. 1 to 128 in length",
    );
  }
  checkAttributes(MessageAttributes);
  if (sizeOf(MessageBody, MessageAttributes) > MAX_MESSAGE_BYTES) {
    throw new SqsFailure(
      "InvalidParameterValue",
      `One or more parameters are invalid. Reason: Message must be shorter than ${MAX_MESSAGE_BYTES} bytes.`,
    );
  }
  const draft = { body: MessageBody, delayMs, attributes: MessageAttributes };
  return MessageGroupId === undefined ? draft : { ...draft, groupId: MessageGroupId };
};

const checkAttributes = (attributes: MessageAttributes): void => {
  const names = Object.keys(attributes);
  if (names.length > MAX_ATTRIBUTES) {
    throw new SqsFailure("InvalidParameterValue", `Number of message attributes [${names.length}] exceeds the allowed maximum [${MAX_ATTRIBUTES}].`);
  }
  for (const name of names) {
    const { DataType, StringValue, BinaryValue } = attributes[name] ?? { DataType: "" };
    const fits = /^(String|Number)(\.|$)/.test(DataType) ? StringValue !== undefined : /^Binary(\.|$)/.test(DataType) && BinaryValue !== undefined;
    if (!fits) throw new SqsFailure("InvalidParameterValue", `The message attribute '${name}' must contain a non-empty value of its data type.`);
  }
};

/** Checks a batch as a whole; what is wrong with one entry alone fails that entry alone. */
export const checkBatch = (entries: readonly { readonly Id: string }[]): void => {
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
};

export const checkBatchSize = (entries: readonly SendInput[]): void => {
  const bytes = entries.reduce((sum, { MessageBody = "", MessageAttributes = {} }) => sum + sizeOf(MessageBody, MessageAttributes), 0);
  if (bytes > MAX_MESSAGE_BYTES) {
    throw sqsFailure("BatchRequestTooLong", `Batch requests cannot be longer than ${MAX_MESSAGE_BYTES} bytes. You have sent ${bytes} bytes.`);
  }
};
