import {
  DeleteItemCommand,
  PutItemCommand,
  type PutItemCommandInput,
} from "@aws-sdk/client-dynamodb";
import { itemKey, type Key, fleetLeaseKey } from "../table/keys.ts";
import { getItem } from "../table/read-many.ts";
import { wasExecuted } from "../table/repeat.ts";
import type { Tables } from "../table/tables.ts";
import { ABSENT } from "./write.ts";

/*
 *  A  reads {A, term 3, ballot 0} ─────────────────────── renews ✗
 *  B  reads {A, term 3, ballot 0} ── claims: {B, term 3, ballot 1}
 *         SAME_REGION, SAME_BALLOT: A has read another lease, and plans nothing by this one
 *  A  reads {A, …, until 12:03} ─────────── renews until 12:04 ✗
 *  A  a second call of the same minute ── renews until 12:04
 *         SAME_TIME: the later write of two is refused, and A reads what the other one wrote
 *  A  reads {A, term 3} ─────────────────── renews ✗
 *  B  moves the fleet ── renews with term 4
 *         SAME_TERM
 */
const SAME_REGION = "#region = :region";
const SAME_TERM = "term = :term";
const SAME_BALLOT = "ballot = :ballot";
const SAME_TIME = "untilMs = :untilMs";

/**
 * A lease of the fleet. It is one item that is written in one region only, so that its condition
 * holds for every writer (docs/standby.md).
 */
export interface FleetLease {
  /** The region whose stack has it. */
  readonly region: string;
  /** The term of the fleet that it is a lease of. */
  readonly term: number;
  /** Grows where two regions want the lease in one term: the higher number stays. */
  readonly ballot: number;
  /** Until then the stack that has the fleet plans by it. */
  readonly untilMs: number;
}

/** Where a lease is: an item of a table, in the region of that table. */
export interface LeasePlace {
  /** The region, for people. */
  readonly where: string;
  readonly tables: Tables;
  readonly key: Key;
  /** True where it is in the third region, whose lease every stack asks for. */
  readonly isWitness: boolean;
}

/** The lease in a replica of the state table. Only calls to that region write it. */
export const replicaPlace = (region: string, tables: Tables): LeasePlace => ({
  ...{ where: region, tables, key: fleetLeaseKey(region), isWitness: false },
});

/** The table of the witness, and the region that it is in. */
export interface Witness {
  readonly region: string;
  readonly tables: Tables;
  /** So long after the end of both leases the standby takes the fleet; 0: it does not. */
  readonly afterMs: number;
}

/** The lease in the table of the witness, which may be that of several stacks. */
export const witnessPlace = ({ region, tables }: Witness, stateTable: string): LeasePlace => ({
  ...{ where: region, tables, key: fleetLeaseKey(stateTable), isWitness: true },
});

const READ = "read a lease of the fleet";

/** Reads the lease strongly; absent where there is none, or its item has not all parts. */
export const readLease = async ({ tables, key }: LeasePlace): Promise<FleetLease | undefined> => {
  const item = await getItem(tables, READ, key);
  if (item === undefined) return undefined;
  const lease = {
    region: item["region"]?.S ?? "",
    term: Number(item["term"]?.N),
    ballot: Number(item["ballot"]?.N),
    untilMs: Number(item["untilMs"]?.N),
  };
  // On doubt, a lease that no stack can renew or claim: then nothing is planned by it, or taken.
  return Object.values(lease).some(Number.isNaN)
    ? { region: "", term: Number.MAX_SAFE_INTEGER, ballot: 0, untilMs: Number.MAX_SAFE_INTEGER }
    : lease;
};

const conditionOf = (seen: FleetLease | undefined): Partial<PutItemCommandInput> =>
  seen === undefined
    ? { ConditionExpression: ABSENT }
    : {
        ConditionExpression: [SAME_REGION, SAME_TERM, SAME_BALLOT, SAME_TIME].join(" AND "),
        ExpressionAttributeNames: { "#region": "region" },
        ExpressionAttributeValues: {
          ":region": { S: seen.region },
          ":term": { N: String(seen.term) },
          ":ballot": { N: String(seen.ballot) },
          ":untilMs": { N: String(seen.untilMs) },
        },
      };

export const writeLeaseParams = (
  { tables, key }: LeasePlace,
  next: FleetLease,
  seen: FleetLease | undefined,
): PutItemCommandInput => ({
  TableName: tables.stateTable,
  Item: {
    ...itemKey(key),
    region: { S: next.region },
    term: { N: String(next.term) },
    ballot: { N: String(next.ballot) },
    untilMs: { N: String(next.untilMs) },
  },
  ...conditionOf(seen),
});

/**
 * Writes a lease in place of the one that was read. False where it has changed since. Where the
 * answer to a first attempt was lost, the stored lease shows that it took effect.
 */
export const writeLease = async (
  place: LeasePlace,
  next: FleetLease,
  seen: FleetLease | undefined,
): Promise<boolean> => {
  const { tables } = place;
  const params = writeLeaseParams(place, next, seen);
  const isWritten = await wasExecuted(tables, "write a lease of the fleet", () =>
    tables.client.send(new PutItemCommand(params)),
  );
  if (isWritten) return true;
  const stored = await readLease(place);
  return (
    stored?.region === next.region &&
    stored.term === next.term &&
    stored.ballot === next.ballot &&
    stored.untilMs >= next.untilMs
  );
};

/** Deletes a lease as it was read. False where it has changed since. */
export const deleteLease = async (place: LeasePlace, seen: FleetLease): Promise<boolean> => {
  const { tables, key } = place;
  const params = { TableName: tables.stateTable, Key: itemKey(key), ...conditionOf(seen) };
  const isDeleted = await wasExecuted(tables, "withdraw a lease of the fleet", () =>
    tables.client.send(new DeleteItemCommand(params)),
  );
  return isDeleted || (await readLease(place)) === undefined;
};
