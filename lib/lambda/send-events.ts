import { SendMessageCommand, type SQSClient } from "@aws-sdk/client-sqs";
import type { AttributeValue } from "@aws-sdk/client-dynamodb";
import type { DynamoDBBatchResponse, DynamoDBRecord, DynamoDBStreamEvent } from "aws-lambda";
import { sendInOrder, type EventAnswer } from "../answers/cloud-events/in-order.ts";
import { eventReader, eventKindOf } from "../answers/cloud-events/kinds.ts";
import { isTidemarkError } from "../rules/model/errors.ts";
import { type HistoryItem, historyItemOf } from "../stack/store/history/item.ts";
import type { Tables } from "../stack/store/table/tables.ts";
import type { EventsReport } from "../stack/report/function-lines.ts";
import { type BusEvent, busEventOf, PUT_LIMITS } from "./put-events.ts";

/** Rounds without progress before the batch goes back to the stream, which repeats it. */
const ATTEMPTS = 4;
const FIRST_WAIT_MS = 100;

export interface SendEventsPorts {
  readonly tables: Tables;
  readonly put: (events: readonly BusEvent[]) => Promise<readonly EventAnswer[]>;
  readonly deadLetters: { readonly client: Pick<SQSClient, "send">; readonly queueUrl: string };
}

/** An event with its place in the stream. */
interface StreamedEvent extends BusEvent {
  readonly sequence: string;
  readonly key: string;
}

/** Sends the events of one batch of a stream; the report and the answer to Lambda. */
export type SendEvents = (
  event: DynamoDBStreamEvent,
) => Promise<{ readonly report: EventsReport; readonly answer: DynamoDBBatchResponse }>;

/**
 * A record that cannot be read, or that the bus will never take, is kept in the dead letters with
 * its key, and does not stop the records after it. Where the bus takes nothing now, the answer
 * names the oldest record that waits: the stream gives it again, with all after it.
 */
export const sendsEvents =
  ({ tables, put, deadLetters }: SendEventsPorts): SendEvents =>
  async ({ Records: records }) => {
    const kept: { readonly key: string; readonly why: string }[] = [];
    const setAside = async (event: Pick<StreamedEvent, "key" | "sequence">, why: string) => {
      const { key, sequence } = event;
      const letter = { key, why, sequenceNumber: sequence, table: tables.historyTable };
      await deadLetters.client.send(
        new SendMessageCommand({
          QueueUrl: deadLetters.queueUrl,
          MessageBody: JSON.stringify(letter),
        }),
      );
      kept.push({ key, why });
    };
    const events = await readable(tables, records, setAside);
    const unreadable = kept.length;
    const { left, why } = await sendInOrder(events, {
      limits: PUT_LIMITS,
      send: put,
      setAside,
      attempts: ATTEMPTS,
      wait: (attempt) => tables.wait(FIRST_WAIT_MS * 2 ** attempt * (0.5 + tables.random() / 2)),
    });
    const [oldest] = left;
    return {
      report: {
        sent: events.length - left.length - (kept.length - unreadable),
        kept,
        left: left.length,
        ...(why !== undefined && { why }),
      },
      answer: { batchItemFailures: oldest ? [{ itemIdentifier: oldest.sequence }] : [] },
    };
  };

/** The events of the records, in their order. */
const readable = async (
  tables: Tables,
  records: readonly DynamoDBRecord[],
  setAside: (event: Pick<StreamedEvent, "key" | "sequence">, why: string) => Promise<void>,
): Promise<readonly StreamedEvent[]> => {
  const read = eventReader(tables);
  const events: StreamedEvent[] = [];
  for (const record of records) {
    const { eventName, dynamodb: { Keys, SequenceNumber: sequence = "" } = {} } = record;
    const [pk = "", sk = ""] = [Keys?.["pk"]?.S, Keys?.["sk"]?.S];
    // The filter of the template lets nothing else pass; one that a person loosened does no harm.
    if (eventName !== "INSERT" || !eventKindOf({ pk, sk })) continue;
    const place = { key: `${pk} ${sk}`, sequence };
    try {
      const event = await read(itemOf(record));
      if (event) events.push({ ...busEventOf(event), ...place });
    } catch (error) {
      if (!isOfTheRecord(error)) throw error;
      await setAside(place, error.message);
    }
  }
  return events;
};

/**
 * True where the record itself cannot be read. After an error of the table the stream gives the
 * batch again.
 */
const isOfTheRecord = (error: unknown): error is Error =>
  isTidemarkError(error, "store.unreadable") ||
  error instanceof SyntaxError ||
  error instanceof TypeError ||
  error instanceof RangeError;

/** The inserted item. Lambda gives bytes as base64. */
const itemOf = ({ dynamodb: { NewImage = {} } = {} }: DynamoDBRecord): HistoryItem =>
  historyItemOf(
    Object.fromEntries(
      Object.entries(NewImage).map(([name, value]): [string, AttributeValue] => [
        name,
        value.B === undefined
          ? (value as AttributeValue)
          : { B: new Uint8Array(Buffer.from(String(value.B), "base64")) },
      ]),
    ),
  );
