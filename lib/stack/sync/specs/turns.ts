import type { SyncMessage } from "../../plan/message.ts";
import { hasDictionaries, packed } from "../../store/table/compressed.ts";
import { bytesOf, type Finding } from "./finding.ts";

/**
 * Where only values move, they are written once in this time. They move at nearly every sync, and
 * each write makes the API server store a version of the object.
 */
const VALUES_EVERY_MS = 60_000;

/**
 * True in one sync of each minute, which is another one for other objects. So no time has to be
 * stored, and the writes of a minute are spread.
 */
export const isTurn = (
  uid: string,
  { dueMs, periodMs }: Pick<SyncMessage, "dueMs" | "periodMs">,
): boolean => {
  const syncs = Math.max(1, Math.round(VALUES_EVERY_MS / periodMs));
  return Math.floor(dueMs / periodMs) % syncs === hashOf(uid) % syncs;
};

/** The fractional part of the golden ratio. Its multiples spread most evenly over a circle. */
const GOLDEN = 0.618_033_988_749_894_9;

/**
 * The place of an object among those that wait for the same: the lowest is written first. It is
 * another one in each round, so that where only a share has room, each object is in that share
 * within a few rounds, and one that always fails keeps no other out. No time has to be stored.
 */
export const placeOf = (uid: string, round: number): number =>
  (((hashOf(uid) * SPREAD) % CIRCLE) / CIRCLE + round * GOLDEN) % 1;

/**
 * The round of values is a minute, because each object has one turn in it; the round of everything
 * else is a sync.
 */
export const roundOf = (
  of: "values" | "others",
  { dueMs, periodMs }: Pick<SyncMessage, "dueMs" | "periodMs">,
): number => Math.floor(dueMs / (of === "values" ? Math.max(VALUES_EVERY_MS, periodMs) : periodMs));

/** Neighbouring hashes get places far from each other (Knuth's multiplicative hash). */
const SPREAD = 2_654_435_761;
const CIRCLE = 2 ** 32;

const HASH_FACTOR = 31;
const HASH_MODULO = 1_000_003;

const hashOf = (text: string): number => {
  let hash = 0;
  for (const character of text)
    hash = (hash * HASH_FACTOR + (character.codePointAt(0) ?? 0)) % HASH_MODULO;
  return hash;
};

/**
 * Bytes of a store beside manifests: a change under two keys and a record, each of which takes a
 * write unit of 1 KB at least.
 */
const BYTES_OF_WRITES = 3_000;

/** The bytes that storing a finding writes, for its place in the order.  */
export const roughBytes = (finding: Finding): number =>
  BYTES_OF_WRITES +
  bytesOf("manifest" in finding ? finding.manifest : finding.spec?.record.manifest);

/** A change holds the manifest before and after, each under two keys. */
const COPIES = { ofEdit: 4, ofNew: 2 } as const;

/**
 * The bytes that storing a finding writes, or somewhat more: the record is written whole, its
 * change as a difference.
 */
export const writtenBytes = (finding: Finding): number => {
  const rough = roughBytes(finding);
  if (finding.kind !== "store") return rough;
  const before =
    finding.spec && hasDictionaries() ? Buffer.from(finding.spec.record.manifest) : undefined;
  return (
    rough +
    packed(Buffer.from(finding.manifest), before).length *
      (finding.spec ? COPIES.ofEdit : COPIES.ofNew)
  );
};

export const namespaceOf = (finding: Finding): string =>
  finding.spec?.record.namespace ?? ("object" in finding ? finding.object.namespace : "");

/** When the object was stored last. A new one was never. */
const storedMsOf = ({ spec }: Finding): number => spec?.record.origin?.storedMs ?? 0;

interface Placed {
  readonly finding: Finding;
  /** Bytes of its namespace that come before it. */
  readonly startBytes: number;
  readonly turn: number;
}

/*
 *  team-a   ████████ ████████ ████████      one after the other: a store begins where the bytes of its own namespace before it end
 *  team-b   ██                              so the one small store of team-b is among the first, however many team-a has
 *
 * This is fair queuing by namespace, as the API server queues its requests by flow (API Priority
 * and Fairness).
 */

/**
 * The findings in the order in which they are stored, where there may not be room for all: the
 * order of a LIST keeps no namespace waiting. Within a namespace the object comes first that has
 * waited longest.
 */
export const inFairTurns = <Each extends Finding>(
  findings: readonly Each[],
  message: Pick<SyncMessage, "dueMs" | "periodMs">,
): readonly Each[] => {
  const round = roundOf("others", message);
  const placed = [...Map.groupBy(findings, namespaceOf)].flatMap(([namespace, own]) => {
    const turn = placeOf(namespace, round);
    let startBytes = 0;
    return own
      .toSorted((one, other) => storedMsOf(one) - storedMsOf(other))
      .map((finding): Placed & { readonly finding: Each } => {
        const place = { finding, startBytes, turn };
        startBytes += roughBytes(finding);
        return place;
      });
  });
  return placed
    .toSorted((one, other) => one.startBytes - other.startBytes || one.turn - other.turn)
    .map(({ finding }) => finding);
};
