/**
 * The steps of exactly-once.pml that change what is shared, under the names that they have there:
 * `claim` is a label, the others are inlines. Each takes the state before and what its request
 * says, and gives the state after. Where the model has one workload, these have all of a partition;
 * the content of windows is left out.
 */

/** What the head says of one intent, by its id. */
export type Entry = "open" | "uncounted";
export type Entries = ReadonlyMap<string, Entry>;

/** A head, by the names of the model. */
export interface Head {
  readonly epoch: number;
  readonly writes: number;
  readonly headNow: number;
  readonly headGeneration: number;
  readonly dueDone: number;
  readonly entries: Entries;
}

/** The state before a step. */
export interface Before {
  readonly head: Head;
  /** The epoch of a page; absent where there is none. */
  readonly pageEpoch: (generation: number, index: number) => number | undefined;
  readonly event: (id: string) => "applied" | "refused" | "unknown" | undefined;
  /** How often the PUT of an intent has taken effect. */
  readonly effects: (id: string) => number;
  /** An intent of which nothing is asked: its bytes were damaged. */
  readonly isDamaged: (id: string) => boolean;
}

/**
 * What a step does: the state after it, nothing because its condition does not hold, or what it
 * breaks.
 */
export type Stepped<After> =
  | { readonly kind: "executed"; readonly after: After }
  | { readonly kind: "refused" }
  /** The number is that of promises.ts. */
  | { readonly kind: "broken"; readonly promise: number; readonly words: string };

const broken = (promise: number, words: string) => ({ kind: "broken", promise, words }) as const;
type Broken = ReturnType<typeof broken>;

/** The autoscaler of an intent, and the epoch that stored it: `<uid>:<epoch>`. */
export const uidOf = (id: string): string => id.slice(0, id.lastIndexOf(":"));
export const epochOf = (id: string): number => Number(id.slice(id.lastIndexOf(":") + 1));

/** A claim may always be refused, because the model has no lease. */
export const claim = ({ head }: Before, { due }: { readonly due: number }): Stepped<Head> =>
  head.dueDone >= due
    ? { kind: "refused" }
    : { kind: "executed", after: { ...head, epoch: head.epoch + 1, writes: head.writes + 1 } };

/** What a holder's request says of itself. */
interface Holder {
  readonly epoch: number;
  readonly writes: number;
}
const holds = ({ head }: Before, { epoch, writes }: Holder): boolean =>
  head.epoch === epoch && head.writes === writes;

/**
 * Stores the intents of a wave. Giving a lease back is the same with entries that stay as they are.
 */
export const storeEntries = (
  before: Before,
  request: Holder & { readonly entries: Entries; readonly now: number },
): Stepped<Head> => {
  if (!holds(before, request)) return { kind: "refused" };
  const { head } = before;
  const { entries, now } = request;
  if (now < head.headNow) return broken(10, `nowMs falls from ${head.headNow} to ${now}`);
  const found = [...entries]
    .map(([id, entry]) => wrongEntry(before, id, entry))
    .find((wrong) => wrong !== undefined);
  if (found) return found;
  const gone = [...head.entries.keys()].find((id) => !entries.has(id));
  if (gone !== undefined) return broken(7, `"${gone}" leaves the head, and no page is named`);
  return { kind: "executed", after: { ...head, writes: head.writes + 1, headNow: now, entries } };
};

const wrongEntry = (before: Before, id: string, entry: Entry): Broken | undefined => {
  const { head, event, isDamaged } = before;
  const known = head.entries.get(id);
  if (isDamaged(id) || known === entry) return undefined;
  if (entry === "uncounted") {
    if (known === undefined) return broken(7, `"${id}" comes back as an uncounted scale`);
    return event(id) === undefined
      ? broken(7, `"${id}" waits to be counted and has no event`)
      : undefined;
  }
  const other = [...head.entries.keys()].find((one) => uidOf(one) === uidOf(id));
  if (other !== undefined) return broken(4, `"${id}" is stored beside "${other}"`);
  if (event(id) !== undefined) return broken(5, `"${id}" has its event`);
  return epochOf(id) === head.epoch
    ? undefined
    : broken(4, `"${id}" is stored under epoch ${head.epoch}`);
};

/** Inserts an event. Where there is one already, nothing changes. */
export const insertEvent = (
  before: Before,
  { id, told }: { readonly id: string; readonly told: "applied" | "refused" | "unknown" },
): Stepped<void> => {
  const { head, event, effects, isDamaged } = before;
  if (event(id) !== undefined) return { kind: "refused" };
  if (told === "refused" && effects(id) > 0) return broken(8, `"${id}" is told as refused`);
  if (!isDamaged(id) && !head.entries.has(id))
    return broken(7, `"${id}" has left the head before its event`);
  return { kind: "executed", after: undefined };
};

/**
 * Writes a page in place (`read` is its epoch as it was read), or one that no head names yet. Gives
 * its epoch.
 */
export const storePage = (
  { pageEpoch }: Before,
  {
    epoch,
    generation,
    index,
    read,
  }: {
    readonly epoch: number;
    readonly generation: number;
    readonly index: number;
    readonly read?: number;
  },
): Stepped<number> => {
  const found = pageEpoch(generation, index);
  const isNotNamed = found === undefined || found < epoch;
  return (read === undefined ? isNotNamed : found === read)
    ? { kind: "executed", after: epoch }
    : { kind: "refused" };
};

/** Ends a sync: what leaves the head has its event, and the pages that are named are there. */
export const storeRelease = (
  before: Before,
  request: Holder & {
    readonly entries: Entries;
    readonly now: number;
    readonly due: number;
    readonly generation: number;
    readonly pages: readonly number[];
  },
): Stepped<Head> => {
  if (!holds(before, request)) return { kind: "refused" };
  const { head, event, pageEpoch, isDamaged } = before;
  const { entries, now, due, generation, pages } = request;
  if (now < head.headNow) return broken(10, `nowMs falls from ${head.headNow} to ${now}`);
  if (due <= head.dueDone) return broken(11, `${due} is done, and ${head.dueDone} is`);
  const back = [...entries].find(([id, entry]) => !isDamaged(id) && head.entries.get(id) !== entry);
  if (back) return broken(7, `"${back[0]}" comes back as ${back[1]}`);
  const gone = [...head.entries.keys()].find(
    (id) => !entries.has(id) && !isDamaged(id) && event(id) === undefined,
  );
  if (gone !== undefined) return broken(7, `"${gone}" leaves the head without its event`);
  const other = pages.findIndex((epoch, index) => pageEpoch(generation, index) !== epoch);
  if (other !== -1)
    return broken(
      9,
      `page ${other} is named with epoch ${pages[other]}, and is of ${pageEpoch(generation, other)}`,
    );
  return {
    kind: "executed",
    after: {
      ...head,
      writes: head.writes + 1,
      headNow: now,
      headGeneration: generation,
      dueDone: due,
      entries,
    },
  };
};

/** A PUT takes effect. */
export const takeEffect = (
  { head, event, effects, isDamaged }: Before,
  { id }: { readonly id: string },
): Stepped<void> => {
  const outcome = event(id);
  const isCounted =
    head.entries.get(id) === "open" || outcome === "applied" || outcome === "unknown";
  if (!isCounted && !isDamaged(id)) return broken(1, `"${id}" is ${outcome ?? "not open"}`);
  return effects(id) === 0
    ? { kind: "executed", after: undefined }
    : broken(3, `"${id}" has taken effect before`);
};
