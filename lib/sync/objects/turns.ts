import type { SyncMessage } from "../../plan/message.ts";

/** Where only values move, they are written once in this time. They move at nearly every sync, and each write makes the API server store a version of the object. */
const VALUES_EVERY_MS = 60_000;

/** True in one sync of each minute, which is another one for other objects. So no time has to be stored, and the writes of a minute are spread. */
export const isTurn = (uid: string, { dueMs, periodMs }: Pick<SyncMessage, "dueMs" | "periodMs">): boolean => {
  const syncs = Math.max(1, Math.round(VALUES_EVERY_MS / periodMs));
  return Math.floor(dueMs / periodMs) % syncs === hashOf(uid) % syncs;
};

/** The fractional part of the golden ratio. Its multiples spread most evenly over a circle. */
const GOLDEN = 0.618_033_988_749_894_9;

/**
 * The place of an object among those that wait for the same: the lowest is written first. It is another one in each round, so that where only a share has room, each object is in that share within
 * a few rounds, and one that always fails keeps no other out. No time has to be stored.
 */
export const placeOf = (uid: string, round: number): number => (((hashOf(uid) * SPREAD) % CIRCLE) / CIRCLE + round * GOLDEN) % 1;

/** The round of values is a minute, because each object has one turn in it; the round of everything else is a sync. */
export const roundOf = (of: "values" | "others", { dueMs, periodMs }: Pick<SyncMessage, "dueMs" | "periodMs">): number =>
  Math.floor(dueMs / (of === "values" ? Math.max(VALUES_EVERY_MS, periodMs) : periodMs));

/** Neighbouring hashes get places far from each other (Knuth's multiplicative hash). */
const SPREAD = 2_654_435_761;
const CIRCLE = 2 ** 32;

const HASH_FACTOR = 31;
const HASH_MODULO = 1_000_003;

const hashOf = (text: string): number => {
  let hash = 0;
  for (const character of text) hash = (hash * HASH_FACTOR + (character.codePointAt(0) ?? 0)) % HASH_MODULO;
  return hash;
};
