import { CLOCK_ALLOWANCE_MS } from "./clocks.ts";
import type { Item } from "./head.ts";
import type { Invariant } from "./ledger.ts";
import type { Stops } from "./stops.ts";

/** What a person asks for, of one autoscaler. */
export interface WantedEdit {
  readonly name: string;
  readonly verb: "apply" | "pause" | "resume" | "delete";
  /** Of an apply. */
  readonly manifest?: string;
}

/** What an attempt was told: whether it changed something, that there is nothing to edit, or nothing clear. */
export type EditAnswer = "changed" | "unchanged" | "gone" | "unclear";

/**
 * The history of edits, checked for linearizability. Every edit is one write of one item, so that the order of the writes that took effect is the order to check: each write is what its
 * edit makes of the record before it, lies between the begin and the answer of its attempt, and every answer is true of some instant in between.
 */
export interface EditLog {
  readonly began: (attempt: string, wanted: WantedEdit) => void;
  readonly answered: (attempt: string, answer: EditAnswer) => void;
  /** An autoscaler's item was written by this attempt. */
  readonly written: (attempt: string, before: Item | undefined, after: Item | undefined) => void;
  /** True while the record of this name is paused or deleted. */
  readonly isStopped: (name: string) => boolean;
}

interface Attempt {
  readonly wanted: WantedEdit;
  /** How many writes of its record there had been when it began. */
  readonly begin: number;
  writes: number;
  answer?: EditAnswer;
}

const LINEAR: Invariant = "edits of one autoscaler happen one after the other, each once";

const isAlive = (item: Item | undefined): item is Item => item !== undefined && item["deletedMs"] === undefined;
const manifestOf = (item: Item | undefined): string | undefined => (isAlive(item) ? item["manifest"]?.S : undefined);
const isPaused = (item: Item | undefined): boolean => isAlive(item) && item["paused"] !== undefined;
const numberOf = (item: Item | undefined): number => Number(item?.["generation"]?.N ?? 0);

/** True of a record that is as an edit wants it. */
const isAsWanted = (item: Item | undefined, { verb, manifest }: WantedEdit): boolean => {
  if (verb === "delete") return !isAlive(item);
  if (verb === "apply") return manifestOf(item) === manifest;
  return isAlive(item) && isPaused(item) === (verb === "pause");
};

/** What is wrong with a write that an edit made of a record. */
const faultOf = (before: Item | undefined, after: Item | undefined, wanted: WantedEdit): string | undefined => {
  if (numberOf(after) <= numberOf(before)) return `generation ${numberOf(before)} became ${numberOf(after)}`;
  if (isAlive(before) && isAlive(after) && before["uid"]?.S !== after["uid"]?.S) return `uid ${before["uid"]?.S} became ${after["uid"]?.S}`;
  if (!isAlive(before) && wanted.verb !== "apply") return "there was no record";
  if (!isAsWanted(after, wanted)) return "the record is not as it was asked for";
  if (wanted.verb === "apply") return isPaused(before) === isPaused(after) ? undefined : "the pause was changed";
  return wanted.verb === "delete" || manifestOf(before) === manifestOf(after) ? undefined : "the manifest was changed";
};

/** A pause that has ended by itself is none. */
const hasEnded = (item: Item | undefined, nowMs: number): boolean =>
  Number(item?.["paused"]?.M?.["untilMs"]?.N ?? Infinity) < nowMs + CLOCK_ALLOWANCE_MS;

export const newEditLog = (world: {
  readonly nowMs: () => number;
  readonly stops: Stops;
  readonly violate: (invariant: Invariant, message: string) => void;
}): EditLog => {
  const { nowMs, stops, violate } = world;
  const attempts = new Map<string, Attempt>();
  /** By name: the record after each write, the first as it was at the start. */
  const records = new Map<string, (Item | undefined)[]>();
  const recordsOf = (name: string): (Item | undefined)[] => {
    const known = records.get(name) ?? [undefined];
    records.set(name, known);
    return known;
  };
  const nameOf = (item: Item | undefined): string => (item?.["sk"]?.S ?? "").split("#")[1] ?? "";
  return {
    began: (attempt, wanted) => {
      attempts.set(attempt, { wanted, begin: recordsOf(wanted.name).length, writes: 0 });
    },
    answered: (name, answer) => {
      const attempt = attempts.get(name);
      if (!attempt) return;
      attempt.answer = answer;
      const { wanted, writes, begin } = attempt;
      const words = `${name} (${wanted.verb} ${wanted.name}) was told "${answer}"`;
      if (answer === "changed" && writes !== 1) violate(LINEAR, `${words}, and wrote ${writes} times`);
      if (answer !== "unchanged" && answer !== "gone") return;
      const seen = recordsOf(wanted.name).slice(Math.max(0, begin - 1));
      const isTrue = seen.some((item) => {
        if (answer === "gone") return !isAlive(item);
        return isAsWanted(item, wanted) || (wanted.verb === "resume" && hasEnded(item, nowMs()));
      });
      if (!isTrue) violate(LINEAR, `${words}, and at no instant of it that was so`);
    },
    written: (name, before, after) => {
      recordsOf(nameOf(after)).push(after);
      if (isAlive(after) && !isPaused(after)) stops.goOn(nameOf(after));
      const attempt = attempts.get(name);
      if (!attempt) return;
      attempt.writes++;
      const words = `the write of ${name} (${attempt.wanted.verb} ${attempt.wanted.name})`;
      if (attempt.answer !== undefined && attempt.answer !== "unclear") violate(LINEAR, `${words} took effect after its answer "${attempt.answer}"`);
      if (attempt.writes > 1) violate(LINEAR, `${words} took effect twice`);
      const fault = faultOf(before, after, attempt.wanted);
      if (fault !== undefined) violate(LINEAR, `${words}: ${fault}`);
    },
    isStopped: (name) => {
      const item = recordsOf(name).at(-1);
      return !isAlive(item) || isPaused(item);
    },
  };
};
