import type { SyncMessage } from "../message.ts";

/** Values alone are written once in this time. They move at nearly every sync, and each write makes the API server store a version of the object. */
const VALUES_EVERY_MS = 60_000;

/** True in one sync of each minute, which is another one for other objects. So no time has to be stored, and the writes of a minute are spread. */
export const isTurn = (uid: string, { dueMs, periodMs }: Pick<SyncMessage, "dueMs" | "periodMs">): boolean => {
  const syncs = Math.max(1, Math.round(VALUES_EVERY_MS / periodMs));
  return Math.floor(dueMs / periodMs) % syncs === hashOf(uid) % syncs;
};

const HASH_FACTOR = 31;
const HASH_MODULO = 1_000_003;

const hashOf = (text: string): number => {
  let hash = 0;
  for (const character of text) hash = (hash * HASH_FACTOR + (character.codePointAt(0) ?? 0)) % HASH_MODULO;
  return hash;
};
