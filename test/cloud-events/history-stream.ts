import type { DynamoDBRecord } from "aws-lambda";
import type { HistoryItem, InsertHistory } from "../../lib/stack/store/history/item.ts";
import { NOON } from "../noon.ts";

/**
 * A record of the stream of the history table, in the shape in which Lambda gives it: names in
 * small letters are those of the envelope, bytes are base64, the sequence is a number of 21 digits.
 */
export const recordOf = (item: HistoryItem, sequence: number): DynamoDBRecord => {
  const keys = { pk: { S: item.pk }, sk: { S: item.sk } };
  const body =
    typeof item.body === "string"
      ? { S: item.body }
      : { B: Buffer.from(item.body).toString("base64") };
  return {
    eventID: `e${sequence}`,
    eventName: "INSERT",
    eventVersion: "1.1",
    eventSource: "aws:dynamodb",
    awsRegion: "eu-central-1",
    eventSourceARN:
      "arn:aws:dynamodb:eu-central-1:123456789012:table/tidemark-history/stream/2026-11-21T12:00:00.000",
    dynamodb: {
      ApproximateCreationDateTime: NOON / 1_000,
      Keys: keys,
      NewImage: { ...keys, ttl: { N: String(item.ttlSeconds) }, body },
      SequenceNumber: String(sequence).padStart(21, "0"),
      SizeBytes: 300,
      StreamViewType: "NEW_IMAGE",
    },
  };
};

/** The records that inserts leave in a stream: of each key one, in order of the inserts. */
export const streamOf = (
  insert: InsertHistory,
): { readonly insert: InsertHistory; readonly records: readonly DynamoDBRecord[] } => {
  const records: DynamoDBRecord[] = [];
  return {
    records,
    insert: async (items) => {
      const outcomes = await insert(items);
      for (const [at, item] of items.entries())
        if (outcomes[at]?.kind === "inserted") records.push(recordOf(item, records.length + 1));
      return outcomes;
    },
  };
};
