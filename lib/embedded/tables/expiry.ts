import {
  ConditionalCheckFailedException,
  DeleteItemCommand,
  type DynamoDBClient,
  type ScanCommandOutput,
  ScanCommand,
} from "@aws-sdk/client-dynamodb";
import { TTL_ATTRIBUTE } from "../../stack/store/table/tables.ts";
import type { Activity } from "../engine/event-source.ts";
import { SECOND_MS } from "../../rules/model/time-text.ts";

/** The first look, so long after the start of a run that it does not make the start slower. */
const FIRST_MS = 10 * 60_000;
const AGAIN_MS = 24 * 3_600_000;

export interface ExpiryOptions {
  readonly client: DynamoDBClient;
  readonly tables: readonly string[];
  /** The clock of the run: virtual where that is. */
  readonly clock: () => number;
  /** Gets what went wrong. The rest is looked for a day later. */
  readonly onFailure: (error: unknown) => void;
}

/**
 * Deletes the items whose time to live is over, as DynamoDB does within days, and the embedded
 * engine does not: ten minutes after the start, and once a day from then on. Without it a folder
 * would grow for as long as it is used. An item is deleted only if it is still expired. `happen`
 * reads one answer of a Scan, at most a megabyte, so that a run can end after it.
 */
export const expiry = ({ client, tables, clock, onFailure }: ExpiryOptions): Activity => {
  let dueMs = clock() + FIRST_MS;
  let left: readonly Place[] = tables.map((table) => ({ table }));
  const look = async ([{ table, from }, ...others]: readonly [Place, ...Place[]]): Promise<
    readonly Place[]
  > => {
    const now = { N: String(Math.floor(clock() / SECOND_MS)) };
    const names = {
      ExpressionAttributeNames: { "#ttl": TTL_ATTRIBUTE },
      ExpressionAttributeValues: { ":now": now },
    };
    const { Items = [], LastEvaluatedKey: next } = await client.send(
      new ScanCommand({
        TableName: table,
        ProjectionExpression: "pk, sk",
        FilterExpression: "#ttl < :now",
        ExclusiveStartKey: from,
        ...names,
      }),
    );
    for (const Key of Items) {
      await client
        .send(
          new DeleteItemCommand({
            TableName: table,
            Key,
            ConditionExpression: "#ttl < :now",
            ...names,
          }),
        )
        .catch(unlessKept);
    }
    return next ? [{ table, from: next }, ...others] : others;
  };
  let underWay = false;
  return {
    nextMs: () => (underWay ? undefined : dueMs),
    happen: async () => {
      underWay = true;
      const [first, ...others] = left;
      try {
        left = first ? await look([first, ...others]) : [];
      } catch (error) {
        onFailure(error);
        left = [];
      }
      if (left.length === 0) {
        left = tables.map((table) => ({ table }));
        dueMs = clock() + AGAIN_MS;
      }
      underWay = false;
    },
  };
};

/** Where a look goes on. */
interface Place {
  readonly table: string;
  readonly from?: ScanCommandOutput["LastEvaluatedKey"];
}

/** An item that was written again since it was read has another time. */
const unlessKept = (error: unknown): void => {
  if (!(error instanceof ConditionalCheckFailedException)) throw error;
};
