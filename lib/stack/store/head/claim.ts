import type { UpdateItemCommandInput } from "@aws-sdk/client-dynamodb";
import type { PartitionRef } from "../../../rules/model/ids.ts";
import { headKey, itemKey } from "../table/keys.ts";
import { CLOCK_WRONG_MAX_MS, clockWrongBy } from "../table/server-clock.ts";
import { compareClock } from "../table/repeat.ts";
import type { Tables } from "../table/tables.ts";
import { type Head, writeHead } from "./head.ts";
import { giveBack } from "./release.ts";

/**
 * The version of the rules by which this code writes heads and pages. Raise it with every rule that
 * earlier code would break. Then earlier code cannot claim a partition that this code has claimed,
 * during an update or after a rollback: the partition holds until a release with the rule runs
 * again.
 *
 * 1: the version itself.
 */
const PROTOCOL_VERSION = 1;
/**
 * The number that a head carries is the version plus a thousand for each term of the fleet, so that
 * one comparison fences both: the stack of an earlier term claims nothing of a later one, and
 * neither does code that knows no terms. A fleet that never moved has the term 0.
 */
const TERM = 1_000;
const protocolOf = (term: number): number => PROTOCOL_VERSION + TERM * term;
const termIn = (protocol: number): number => Math.floor(protocol / TERM);

/** True for a head that was last claimed in an earlier term than this one of the fleet. */
export const isOfEarlierTerm = ({ protocol }: Pick<Head, "protocol">, term: number): boolean =>
  termIn(protocol) < term;

export interface Claim {
  readonly partition: PartitionRef;
  readonly dueMs: number;
  /**
   * The own clock of the claiming sync. A lease ends by this clock, not by the time in the head.
   */
  readonly clockMs: number;
  readonly leaseUntilMs: number;
  readonly token: string;
  /** The protocol version of the claiming code; absent means the version of this code. */
  readonly protocol?: number;
  /** The term of the fleet in which the claim was planned. Absent: 0, it never moved. */
  readonly term?: number;
  /** A move claims heads of every earlier term. */
  readonly takesEarlierTerms?: true;
}

export type ClaimOutcome =
  | { readonly kind: "claimed"; readonly head: Head }
  /** This due time or a later one is done. */
  | { readonly kind: "done" }
  | { readonly kind: "held"; readonly untilMs: number }
  /** The own clock is wrong by this much. A sync must not work then. */
  | { readonly kind: "clock"; readonly wrongByMs: number }
  /** Code with a later protocol version has claimed the partition. */
  | { readonly kind: "newer"; readonly protocol: number }
  /** The fleet has moved to another region since the claim was planned. */
  | { readonly kind: "moved" }
  /** A stack of an earlier term has written over what this term had. */
  | { readonly kind: "overwritten" };

/*
 *  dueDoneMs   ──────○ 12:00:15 done
 *         a copy of 12:00:15, or an older message, is refused (NOT_DONE)
 *  lease       ├──── epoch 4 ────┤ released
 *         12:00:30 may claim at once: releasedEpoch = epoch (GIVEN_BACK)
 *              ├──── epoch 4 ─ ✗ ─ ─ ─ ─┤
 *         the holder died: 12:00:30 is refused, 12:00:45 claims (RUN_OUT)
 */
const NEVER_CLAIMED = "attribute_not_exists(epoch)";
const GIVEN_BACK = "releasedEpoch = epoch";
const RUN_OUT = "leaseUntilMs < :clock";
/**
 * A lease longer than any that a right clock takes was taken by a wrong clock. It may be ended
 * early, because no rule of safety depends on a lease.
 */
const IMPOSSIBLE = "leaseUntilMs > :leaseLast";
/**
 * A claim with a later clock reading may arrive first: a request is on its way for two seconds at
 * most (table/real-tables.ts).
 */
const ON_ITS_WAY_MS = 2_000;
const NOT_DONE = "(attribute_not_exists(dueDoneMs) OR dueDoneMs < :due)";
/** Code of an earlier protocol must not write after code of a later one. */
const PROTOCOL_KNOWN = "(attribute_not_exists(#protocol) OR #protocol <= :protocol)";
/*
 *  term 1 in region B    claims ── acts
 *         term 0 in region A   still claims its own copy ─ ─ the later write of one item wins ─ ─▶ region B
 *         region B: the head has term 0, and the intents of term 1 are not in it: refused
 */
const OF_TERM = "(attribute_not_exists(#protocol) OR #protocol >= :term)";
export const CLAIM_CONDITION = `(${NEVER_CLAIMED} OR ${GIVEN_BACK} OR ${RUN_OUT} OR ${IMPOSSIBLE}) AND ${NOT_DONE} AND ${PROTOCOL_KNOWN}`;

/**
 * Raises the epoch, takes the lease and returns the head with every open intent. The first claim
 * also creates the map of intents for later writes.
 */
export const claimParams = (
  stateTable: string,
  { term = 0, takesEarlierTerms, ...claim }: Claim,
): UpdateItemCommandInput => ({
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
  ConditionExpression:
    term === 0 || takesEarlierTerms ? CLAIM_CONDITION : `${CLAIM_CONDITION} AND ${OF_TERM}`,
  ExpressionAttributeNames: { "#token": "token", "#protocol": "protocol" },
  ExpressionAttributeValues: {
    ":zero": { N: "0" },
    ":one": { N: "1" },
    ":lease": { N: String(claim.leaseUntilMs) },
    ":leaseLast": { N: String(claim.leaseUntilMs + 2 * CLOCK_WRONG_MAX_MS + ON_ITS_WAY_MS) },
    ":token": { S: claim.token },
    ":none": { M: {} },
    ":clock": { N: String(claim.clockMs) },
    ":due": { N: String(claim.dueMs) },
    ":protocol": { N: String(claim.protocol ?? protocolOf(term)) },
    ...(term > 0 && !takesEarlierTerms && { ":term": { N: String(TERM * term) } }),
  },
  ReturnValues: "ALL_NEW",
});

/** Claims a partition for one due time. A refusal is an outcome, not an error. */
export const claim = async (
  tables: Tables,
  wanted: Omit<Claim, "token">,
): Promise<ClaimOutcome> => {
  // Before anything is written: a lease by a clock that is an hour ahead would stop the partition
  // for an hour.
  await compareClock(tables);
  const wrong = clockWrongBy(tables);
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

const refusalOf = (
  { dueMs, term = 0, protocol: own = protocolOf(term), takesEarlierTerms }: Omit<Claim, "token">,
  head: Head | undefined,
): Exclude<ClaimOutcome, { kind: "claimed" }> => {
  const { dueDoneMs = 0, leaseUntilMs = 0, protocol = 0 } = head ?? {};
  if (termIn(protocol) > term) return { kind: "moved" };
  if (protocol > own) return { kind: "newer", protocol };
  if (head && !takesEarlierTerms && isOfEarlierTerm(head, term)) return { kind: "overwritten" };
  return dueDoneMs >= dueMs ? { kind: "done" } : { kind: "held", untilMs: leaseUntilMs };
};
