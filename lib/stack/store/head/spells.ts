import { HOUR_MS, MINUTE_MS, SECOND_MS } from "../../../rules/model/time-text.ts";

/**
 * How long something was in trouble in the last hour, where the trouble came and went: milliseconds
 * by slots of five minutes since 1970.
 */
export type Spells = ReadonlyMap<number, number>;

const SLOT_MS = 5 * MINUTE_MS;
const SLOTS_KEPT = HOUR_MS / SLOT_MS;
const RECENT_SLOTS = 3;

/** A trouble that has lasted without a break for so long needs no spells. */
export const SPELLS_KEPT_MS = HOUR_MS;

const oldestSlot = (nowMs: number): number => Math.floor(nowMs / SLOT_MS) - SLOTS_KEPT;

/** The spells that a trouble has been which began at `sinceMs` and ends now. */
export const spellOf = (sinceMs: number, periodMs: number, nowMs: number): Spells => {
  const fromMs = Math.max(Math.min(sinceMs, nowMs - periodMs), nowMs - HOUR_MS);
  const spells = new Map<number, number>();
  for (let slot = Math.floor(fromMs / SLOT_MS); slot * SLOT_MS < nowMs; slot++) {
    const beginMs = Math.max(fromMs, slot * SLOT_MS);
    spells.set(slot, Math.min(nowMs, (slot + 1) * SLOT_MS) - beginMs);
  }
  return spells;
};

/** The same one sync later, without what is older than an hour; `undefined` where none is left. */
export const laterSpells = (
  before: Spells,
  { addedMs, nowMs }: { readonly addedMs: number; readonly nowMs: number },
): Spells | undefined => {
  const oldest = oldestSlot(nowMs);
  const spells = new Map([...before].filter(([slot]) => slot > oldest));
  if (addedMs > 0) {
    const slot = Math.floor(nowMs / SLOT_MS);
    spells.set(slot, Math.min(SLOT_MS, (spells.get(slot) ?? 0) + addedMs));
  }
  return spells.size === 0 ? undefined : spells;
};

/** All of the last hour. */
export const spellsMs = (spells: Spells, nowMs: number): number =>
  sumFrom(spells, oldestSlot(nowMs) + 1);

/** A trouble that has ended counts while a part of it is so young. */
const RECENT_PART = 4;

/**
 * True where the spells of the last hour last as long together as one trouble must, and where they
 * still come: a quarter of it is of the last 15 minutes.
 */
export const doSpellsLast = (spells: Spells, lastsMs: number, nowMs: number): boolean =>
  lastsMs > 0 &&
  spellsMs(spells, nowMs) >= lastsMs &&
  sumFrom(spells, Math.floor(nowMs / SLOT_MS) - RECENT_SLOTS) >= lastsMs / RECENT_PART;

/** True where some of it is of the last five to ten minutes: longer ago, it has ended for now. */
export const doSpellsCome = (spells: Spells, nowMs: number): boolean =>
  sumFrom(spells, Math.floor(nowMs / SLOT_MS) - 1) > 0;

const sumFrom = (spells: Spells, from: number): number =>
  [...spells].reduce((sum, [slot, ms]) => sum + (slot >= from ? ms : 0), 0);

/** A slot has 60 units of five seconds. */
const UNIT_MS = 5 * SECOND_MS;
const UNITS = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
const BASE = 36;

/** "1a2b3c:0o04": the first slot, and a digit for it and each later one. */
export const spellsText = (spells: Spells): string => {
  const [first, last] = [Math.min(...spells.keys()), Math.max(...spells.keys())];
  const units = Array.from({ length: last - first + 1 }, (_, at) =>
    UNITS.charAt(Math.ceil((spells.get(first + at) ?? 0) / UNIT_MS)),
  );
  return `${first.toString(BASE)}:${units.join("")}`;
};

/** None where the text is no such text. */
export const spellsIn = (text: string): Spells | undefined => {
  const [start = "", units = ""] = text.split(":");
  const first = Number.parseInt(start, BASE);
  if (!Number.isSafeInteger(first) || units.length > SLOTS_KEPT + 1) return undefined;
  const spells = new Map(
    [...units].flatMap((unit, at) => {
      const count = UNITS.indexOf(unit);
      return count > 0 ? [[first + at, Math.min(count * UNIT_MS, SLOT_MS)] as const] : [];
    }),
  );
  return spells.size === 0 ? undefined : spells;
};
