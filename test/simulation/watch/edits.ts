import { CLOCK_ALLOWANCE_MS } from "./clocks.ts";
import type { Item } from "./head.ts";
import type { Invariant } from "./ledger.ts";

/** What a person asks for, of one autoscaler. */
export interface WantedEdit {
  readonly name: string;
  readonly cluster: string;
  readonly verb: "apply" | "pause" | "resume" | "delete";
  /** Of an apply. */
  readonly manifest?: string;
}

/**
 * What an attempt was told: whether it changed something, that there is nothing to edit, or nothing
 * clear.
 */
export type EditAnswer = "changed" | "unchanged" | "gone" | "unclear";

/**
 * The history of edits, checked for linearizability. Every edit is one write of one item, so that
 * the order of the writes that took effect is the order to check: each write is what its edit makes
 * of the record before it, lies between the begin and the answer of its attempt, and every answer
 * is true of some instant in between.
 */
export interface EditLog {
  readonly began: (attempt: string, wanted: WantedEdit) => void;
  readonly answered: (attempt: string, answer: EditAnswer) => void;
  /**
   * From this instant on, this attempt may take overrides away: at once where it clears them, and
   * from the end on that it gives them.
   */
  readonly clears: (attempt: string, fromMs: number) => void;
  readonly isClearing: (attempt: string) => boolean;
  /** The record of a cluster was written. */
  readonly clusterWritten: (name: string, after: Item) => void;
  /** An autoscaler's item was written by this attempt. */
  readonly written: (attempt: string, before: Item | undefined, after: Item | undefined) => void;
  /**
   * True where a sync with this claim must not scale this name now. An editor had the answer to an
   * edit before the claim, so the sync goes by the record that this edit wrote or found, or by one
   * that was written later. The order is that of the writes: answers may come in another.
   */
  readonly isStopped: (name: string, claimedAt: number) => boolean;
}

/** A record after a write. */
interface Written {
  readonly item: Item | undefined;
  /**
   * When an editor first had the answer to an edit that wrote or found this record or a later one,
   * in what the world counts.
   */
  toldAt: number;
}

interface Attempt {
  readonly wanted: WantedEdit;
  /** How many writes of its record there had been when it began. */
  readonly begin: number;
  /** How often its cluster had been removed when it began, without a removal that still lasts. */
  readonly removals: number;
  writes: number;
  /** The number of its last write. */
  wrote?: number;
  answer?: EditAnswer;
}

const LINEAR: Invariant = "edits of one autoscaler happen one after the other, each once";

const isAlive = (item: Item | undefined): item is Item =>
  item !== undefined && item["deletedMs"] === undefined;
const manifestOf = (item: Item | undefined): string | undefined =>
  isAlive(item) ? item["manifest"]?.S : undefined;
const isPaused = (item: Item | undefined): boolean => isAlive(item) && item["paused"] !== undefined;
const numberOf = (item: Item | undefined): number => Number(item?.["generation"]?.N ?? 0);

/** True of a record that is as an edit wants it. */
const isAsWanted = (item: Item | undefined, { verb, manifest }: WantedEdit): boolean => {
  if (verb === "delete") return !isAlive(item);
  if (verb === "apply") return manifestOf(item) === manifest;
  return isAlive(item) && isPaused(item) === (verb === "pause");
};

const keepsUid = (before: Item, after: Item): boolean => before["uid"]?.S === after["uid"]?.S;
/**
 * A record that an apply left to a cluster of the same name, which was removed meanwhile, becomes
 * another autoscaler when it is applied to the cluster of now.
 */
const isForAnotherCluster = (before: Item, after: Item): boolean =>
  before["clusterUid"] !== undefined && before["clusterUid"].S !== after["clusterUid"]?.S;

/** What is wrong with a write that an edit made of a record. */
const faultOf = (
  before: Item | undefined,
  after: Item | undefined,
  wanted: WantedEdit,
): string | undefined => {
  if (numberOf(after) <= numberOf(before))
    return `generation ${numberOf(before)} became ${numberOf(after)}`;
  if (
    isAlive(before) &&
    isAlive(after) &&
    keepsUid(before, after) === isForAnotherCluster(before, after)
  )
    return `uid ${before["uid"]?.S} became ${after["uid"]?.S}, and the uid of the cluster ${before["clusterUid"]?.S} became ${after["clusterUid"]?.S}`;
  if (!isAlive(before) && wanted.verb !== "apply") return "there was no record";
  if (!isAsWanted(after, wanted)) return "the record is not as it was asked for";
  if (wanted.verb === "apply")
    return isPaused(before) === isPaused(after) ? undefined : "the pause was changed";
  return wanted.verb === "delete" || manifestOf(before) === manifestOf(after)
    ? undefined
    : "the manifest was changed";
};

/** A pause that has ended by itself is none. */
const hasEnded = (item: Item | undefined, nowMs: number): boolean =>
  Number(item?.["paused"]?.M?.["untilMs"]?.N ?? Infinity) <= nowMs + CLOCK_ALLOWANCE_MS;

const stops = (item: Item | undefined, nowMs: number): boolean =>
  !isAlive(item) || (isPaused(item) && !hasEnded(item, nowMs));

/**
 * The number of the record that an answer is about: the one that was written, or the first that the
 * edit may have found as the answer says. -1 where there was none.
 */
const numberTold = (
  known: readonly Written[],
  { wanted, begin, wrote }: Attempt,
  { answer, nowMs }: { readonly answer: EditAnswer; readonly nowMs: number },
): number | undefined => {
  if (answer === "unclear") return undefined;
  if (answer === "changed") return wrote;
  const isTrue = (item: Item | undefined): boolean =>
    answer === "gone"
      ? !isAlive(item)
      : isAsWanted(item, wanted) || (wanted.verb === "resume" && hasEnded(item, nowMs));
  return known.findIndex(({ item }, number) => number >= begin - 1 && isTrue(item));
};

export const newEditLog = (world: {
  readonly nowMs: () => number;
  /** The next number of what the world does. */
  readonly tick: () => number;
  readonly violate: (invariant: Invariant, message: string) => void;
}): EditLog => {
  const { nowMs, tick, violate } = world;
  const attempts = new Map<string, Attempt>();
  const clearing = new Map<string, number>();
  /** By name: the record after each write, the first as it was at the start. */
  const records = new Map<string, Written[]>();
  const recordsOf = (name: string): Written[] => {
    const known = records.get(name) ?? [{ item: undefined, toldAt: Number.POSITIVE_INFINITY }];
    records.set(name, known);
    return known;
  };
  /** An apply that finds its cluster removed takes back what it wrote (removal.ts), and says so. */
  const takesBack = (
    { wanted, wrote = -1, writes }: Attempt,
    before: Item | undefined,
    after: Item | undefined,
  ): boolean =>
    wanted.verb === "apply" &&
    writes === 1 &&
    !isAlive(after) &&
    isAlive(before) &&
    recordsOf(wanted.name)[wrote]?.item === before;
  /** By name of a cluster: how often it was removed, and whether it is now. */
  const removals = new Map<string, { count: number; isGone: boolean }>();
  const endedRemovals = (cluster: string): number => {
    const { count = 0, isGone = false } = removals.get(cluster) ?? {};
    return isGone ? count - 1 : count;
  };
  /**
   * While its cluster is removed, nothing of it is there for an editor, also where an apply that
   * died has left a record.
   */
  const wasRemoved = ({ wanted, removals: ended }: Attempt): boolean =>
    (removals.get(wanted.cluster)?.count ?? 0) > ended;
  const told = (name: string, at: number): void => {
    const toldAt = tick();
    for (const record of recordsOf(name).slice(0, at + 1))
      record.toldAt = Math.min(record.toldAt, toldAt);
  };
  const nameOf = (item: Item | undefined): string => (item?.["sk"]?.S ?? "").split("#")[1] ?? "";
  return {
    began: (attempt, wanted) => {
      attempts.set(attempt, {
        wanted,
        begin: recordsOf(wanted.name).length,
        removals: endedRemovals(wanted.cluster),
        writes: 0,
      });
    },
    answered: (name, answer) => {
      const attempt = attempts.get(name);
      if (!attempt) return;
      attempt.answer = answer;
      const { wanted, writes } = attempt;
      const words = `${name} (${wanted.verb} ${wanted.name}) was told "${answer}"`;
      if (answer === "changed" && writes !== 1)
        violate(LINEAR, `${words}, and wrote ${writes} times`);
      const at = numberTold(recordsOf(wanted.name), attempt, { answer, nowMs: nowMs() });
      if (at === -1 && answer === "gone" && wasRemoved(attempt)) return;
      if (at === -1) violate(LINEAR, `${words}, and at no instant of it that was so`);
      else if (at !== undefined) told(wanted.name, at);
    },
    clears: (attempt, fromMs) => clearing.set(attempt, fromMs),
    isClearing: (attempt) => nowMs() >= (clearing.get(attempt) ?? Number.POSITIVE_INFINITY),
    clusterWritten: (name, after) => {
      const { count = 0, isGone: wasGone = false } = removals.get(name) ?? {};
      const isGone = !isAlive(after);
      removals.set(name, { count: isGone && !wasGone ? count + 1 : count, isGone });
    },
    written: (name, before, after) => {
      const wrote =
        recordsOf(nameOf(after)).push({ item: after, toldAt: Number.POSITIVE_INFINITY }) - 1;
      const attempt = attempts.get(name);
      if (!attempt) return;
      const isTakenBack = takesBack(attempt, before, after);
      attempt.writes++;
      attempt.wrote = wrote;
      const words = `the write of ${name} (${attempt.wanted.verb} ${attempt.wanted.name})`;
      if (attempt.answer !== undefined && attempt.answer !== "unclear")
        violate(LINEAR, `${words} took effect after its answer "${attempt.answer}"`);
      if (isTakenBack) return;
      if (attempt.writes > 1) violate(LINEAR, `${words} took effect twice`);
      const fault = faultOf(before, after, attempt.wanted);
      if (fault !== undefined) violate(LINEAR, `${words}: ${fault}`);
    },
    isStopped: (name, claimedAt) => {
      const known = recordsOf(name);
      const first = known.findLastIndex(({ toldAt }) => toldAt < claimedAt);
      return first >= 0 && known.slice(first).every(({ item }) => stops(item, nowMs()));
    },
  };
};
