/** What befalls a whole machine, a cluster or the tables, where faults befall one call. */
export type Accident = "tables go back" | "a cluster goes back" | "one machine";

const SEEDS = 20;
const FIRST = 12;
const ALL: readonly Accident[] = ["tables go back", "a cluster goes back", "one machine"];

/** Seeds from here on are those of the nights: a third of them have an accident. */
const FRESH = 1_000;
const OF_FRESH: Readonly<Record<number, Accident>> = {
  0: "tables go back",
  12: "tables go back",
  1: "a cluster goes back",
  13: "a cluster goes back",
  3: "one machine",
  16: "one machine",
};

/**
 * By the seed, so that nothing else that is drawn depends on it: none of these seeds has objects,
 * schedules, sources or connections in memory.
 */
export const accidentOf = (seed: number): Accident | undefined => {
  if (seed >= FRESH) return OF_FRESH[seed % SEEDS];
  return seed % SEEDS === FIRST ? ALL[Math.floor(seed / SEEDS) % ALL.length] : undefined;
};
