import {
  DeleteItemCommand,
  type DeleteItemCommandInput,
  PutItemCommand,
  type PutItemCommandInput,
} from "@aws-sdk/client-dynamodb";
import { itemKey, type Key, fleetLeaseKey } from "../table/keys.ts";
import { getItem } from "../table/read-many.ts";
import { wasExecuted } from "../table/repeat.ts";
import type { Tables } from "../table/tables.ts";
import { ABSENT } from "./write.ts";

/*
 *  A  reads version 7 ───────────────────────── renews: version 8 ✗
 *  B  reads version 7 ── claims: version 8
 *         SAME_VERSION: A has read another lease, and plans nothing by this one
 *  A  reads none ──────────────────────────── writes the first one ✗
 *  A  a second call ── writes the first one
 *         ABSENT: there is one. Its version begins with its time, above that of an earlier one
 */
const SAME_VERSION = "version = :version";

/**
 * A lease of the fleet. It is one item that is written in one region only, so that its condition
 * holds for every writer (docs/standby.md).
 */
export interface FleetLease {
  /** The region whose stack has it. */
  readonly region: string;
  /** The term of the fleet that it is a lease of. */
  readonly term: number;
  /** Grows with each write. */
  readonly version: number;
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
    version: Number(item["version"]?.N),
    untilMs: Number(item["untilMs"]?.N),
  };
  // On doubt, a lease that no stack can renew or claim: then nothing is planned by it, or taken.
  return Object.values(lease).some(Number.isNaN)
    ? { region: "", term: Number.MAX_SAFE_INTEGER, version: 0, untilMs: Number.MAX_SAFE_INTEGER }
    : lease;
};

const conditionOf = (seen: FleetLease | undefined): Partial<PutItemCommandInput> =>
  seen === undefined
    ? { ConditionExpression: ABSENT }
    : {
        ConditionExpression: SAME_VERSION,
        ExpressionAttributeValues: { ":version": { N: String(seen.version) } },
      };

export const writeLeaseParams = (
  { tables, key }: Pick<LeasePlace, "key"> & { readonly tables: Pick<Tables, "stateTable"> },
  next: FleetLease,
  seen: FleetLease | undefined,
): PutItemCommandInput => ({
  TableName: tables.stateTable,
  Item: {
    ...itemKey(key),
    region: { S: next.region },
    term: { N: String(next.term) },
    version: { N: String(next.version) },
    untilMs: { N: String(next.untilMs) },
  },
  ...conditionOf(seen),
});

/**
 * Writes a lease in place of the one that was read, with the next version. False where it has
 * changed since. Where the answer to a first attempt was lost, the stored lease shows that it took
 * effect.
 */
export const writeLease = async (
  place: LeasePlace,
  wanted: Omit<FleetLease, "version">,
  seen: FleetLease | undefined,
): Promise<boolean> => {
  const { tables } = place;
  const next = { ...wanted, version: seen === undefined ? wanted.untilMs : seen.version + 1 };
  const params = writeLeaseParams(place, next, seen);
  const isWritten = await wasExecuted(tables, "write a lease of the fleet", () =>
    tables.client.send(new PutItemCommand(params)),
  );
  if (isWritten) return true;
  const stored = await readLease(place);
  return (
    stored?.region === next.region &&
    stored.term === next.term &&
    stored.version === next.version &&
    stored.untilMs >= next.untilMs
  );
};

export const deleteLeaseParams = (
  { tables, key }: Pick<LeasePlace, "key"> & { readonly tables: Pick<Tables, "stateTable"> },
  seen: FleetLease,
): DeleteItemCommandInput => ({
  TableName: tables.stateTable,
  Key: itemKey(key),
  ...conditionOf(seen),
});

/** Deletes a lease as it was read. False where it has changed since. */
export const deleteLease = async (place: LeasePlace, seen: FleetLease): Promise<boolean> => {
  const { tables } = place;
  const params = deleteLeaseParams(place, seen);
  const isDeleted = await wasExecuted(tables, "withdraw a lease of the fleet", () =>
    tables.client.send(new DeleteItemCommand(params)),
  );
  return isDeleted || (await readLease(place)) === undefined;
};
