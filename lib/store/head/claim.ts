import type { UpdateItemCommandInput } from "@aws-sdk/client-dynamodb";
import type { PartitionRef } from "../../model/ids.ts";
import { itemKey } from "../table/item-key.ts";
import { headKey } from "../table/keys.ts";
import { CLOCK_WRONG_MAX_MS, clockWrongBy } from "../table/server-clock.ts";
import type { Tables } from "../table/tables.ts";
import { type Head, readHead } from "./head.ts";
import { writeHead } from "./head-write.ts";
import { PROTOCOL_VERSION } from "./protocol-version.ts";
import { giveBack } from "./release.ts";

export interface Claim {
  readonly partition: PartitionRef;
  readonly dueMs: number;
  /** The claimer's own clock: it never waits for the head's, so that a lease can end. */
  readonly clockMs: number;
  readonly leaseUntilMs: number;
  readonly token: string;
  /** Of the claiming code, where it is not this one's. */
  readonly protocol?: number;
}

export type ClaimOutcome =
  | { readonly kind: "claimed"; readonly head: Head }
  /** This due time or a later one is done. */
  | { readonly kind: "done" }
  | { readonly kind: "held"; readonly untilMs: number }
  /** The claimer's own clock is wrong by this much: it must not work. */
  | { readonly kind: "clock"; readonly wrongByMs: number }
  /** Code that knows a later protocol has claimed it. */
  | { readonly kind: "newer"; readonly protocol: number };

/*
 *  dueDoneMs   ──────○ 12:00:15 done              a copy of 12:00:15, or an older message, is refused (NOT_DONE)
 *  lease       ├──── epoch 4 ────┤ released       12:00:30 may claim at once: releasedEpoch = epoch (GIVEN_BACK)
 *              ├──── epoch 4 ─ ✗ ─ ─ ─ ─┤         the holder died: 12:00:30 is refused, 12:00:45 claims (RUN_OUT)
 */
const NEVER_CLAIMED = "attribute_not_exists(epoch)";
const GIVEN_BACK = "releasedEpoch = epoch";
const RUN_OUT = "leaseUntilMs < :clock";
/** Longer than any lease that a right clock could have taken: nothing rests on a lease, and this one would last until a wrong clock's time has come. */
const IMPOSSIBLE = "leaseUntilMs > :leaseLast";
const NOT_DONE = "(attribute_not_exists(dueDoneMs) OR dueDoneMs < :due)";
/** Code that does not know a rule must not write under it. */
const RULES_KNOWN = "(attribute_not_exists(#protocol) OR #protocol <= :protocol)";
export const CLAIM_CONDITION = `(${NEVER_CLAIMED} OR ${GIVEN_BACK} OR ${RUN_OUT} OR ${IMPOSSIBLE}) AND ${NOT_DONE} AND ${RULES_KNOWN}`;

/** Raises the epoch, takes the lease and returns the whole head, with every intent that is open. The first claim also makes the maps that later writes name into. */
export const claimParams = (stateTable: string, claim: Claim): UpdateItemCommandInput => ({
  TableName: stateTable,
  Key: itemKey(headKey(claim.partition)),
  UpdateExpression: [
    "SET epoch = if_not_exists(epoch, :zero) + :one",
    "leaseUntilMs = :lease",
    "writeNumber = if_not_exists(writeNumber, :zero) + :one",
    "#token = :token",
    "releasedEpoch = if_not_exists(releasedEpoch, :zero)",
    "intents = if_not_exists(intents, :none)",
    "#protocol = :protocol",
  ].join(", "),
  ConditionExpression: CLAIM_CONDITION,
  ExpressionAttributeNames: { "#token": "token", "#protocol": "protocol" },
  ExpressionAttributeValues: {
    ":zero": { N: "0" },
    ":one": { N: "1" },
    ":lease": { N: String(claim.leaseUntilMs) },
    ":leaseLast": { N: String(claim.leaseUntilMs + 2 * CLOCK_WRONG_MAX_MS) },
    ":token": { S: claim.token },
    ":none": { M: {} },
    ":clock": { N: String(claim.clockMs) },
    ":due": { N: String(claim.dueMs) },
    ":protocol": { N: String(claim.protocol ?? PROTOCOL_VERSION) },
  },
  ReturnValues: "ALL_NEW",
});

/** Claims a partition for one due time. A refusal is an outcome. */
export const claim = async (tables: Tables, wanted: Omit<Claim, "token">): Promise<ClaimOutcome> => {
  const wrong = await wrongBefore(tables, wanted.partition);
  if (wrong !== undefined) return { kind: "clock", wrongByMs: wrong };
  const token = tables.token();
  const params = claimParams(tables.stateTable, { ...wanted, token });
  const outcome = await writeHead(tables, wanted.partition, { action: "claim", token, params });
  if (outcome.kind === "refused") return refusalOf(wanted, outcome.head);
  if (!outcome.head) throw new TypeError("a claim asks for the head that it wrote");
  const { epoch, writeNumber } = outcome.head;
  const wrongByMs = clockWrongBy(tables);
  if (wrongByMs === undefined) return { kind: "claimed", head: outcome.head };
  await giveBack(tables, { partition: wanted.partition, epoch, writeNumber });
  return { kind: "clock", wrongByMs };
};

/**
 * By how much the own clock is wrong, told before anything is written: a lease by a clock that is an hour ahead would stop the partition for an hour. Where no answer was seen
 * yet, or the last one told of an error that may be mended since, one more is asked for.
 */
const wrongBefore = async (tables: Tables, partition: PartitionRef): Promise<number | undefined> => {
  if (!tables.serverClock) return undefined;
  if (tables.serverClock() === undefined || clockWrongBy(tables) !== undefined) await readHead(tables, partition);
  return clockWrongBy(tables);
};

const refusalOf = (
  { dueMs, protocol: own = PROTOCOL_VERSION }: Omit<Claim, "token">,
  head: Head | undefined,
): Exclude<ClaimOutcome, { kind: "claimed" }> => {
  const { dueDoneMs = 0, leaseUntilMs = 0, protocol = 0 } = head ?? {};
  if (protocol > own) return { kind: "newer", protocol };
  return dueDoneMs >= dueMs ? { kind: "done" } : { kind: "held", untilMs: leaseUntilMs };
};
