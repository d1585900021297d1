import { MAX_RIVAL_LOOKS_SPARED, RIVALS_TTL_MS } from "../limits.ts";
import type { Rival } from "../port.ts";

/** The rivals that one LIST showed, of the targets that were looked for in it. */
export interface LookedFor {
  readonly targets: ReadonlySet<string>;
  readonly found: ReadonlyMap<string, readonly Rival[]>;
}

/** By target, what a write to it changes: its uid, its generation and its count. */
export type Marks = ReadonlyMap<string, string>;

/** What the LISTs of rivals showed last, by path. */
export interface RivalMemory {
  /** It stands in for a LIST that fails; where there is none, nothing is known. */
  readonly last: (path: string) => LookedFor | undefined;
  /**
   * What need not be asked again in this sync. A rival that is new has not written to a target while all marks are the same, so it has done no harm; one that has written changed a mark, and
   * is looked for in this very sync. Looked for anew in any case: after a minute, in every fourth sync, and in each sync while one is known, so that Tidemark goes on as soon as it is gone.
   */
  readonly stillTrue: (path: string, marks: Marks) => LookedFor | undefined;
  readonly keep: (path: string, looked: LookedFor, marks: Marks) => void;
}

interface Kept {
  readonly looked: LookedFor;
  readonly marks: Marks;
  readonly atMs: number;
  spared: number;
}

export const rivalMemory = (clock: () => number): RivalMemory => {
  const kept = new Map<string, Kept>();
  const isFresh = ({ atMs, spared }: Kept): boolean => {
    const ageMs = clock() - atMs;
    // A clock that was set back says nothing about the age.
    return spared < MAX_RIVAL_LOOKS_SPARED && ageMs >= 0 && ageMs < RIVALS_TTL_MS;
  };
  return {
    last: (path) => kept.get(path)?.looked,
    stillTrue: (path, marks) => {
      const known = kept.get(path);
      if (!known || known.looked.found.size > 0 || !isFresh(known) || !areSame(known.marks, marks)) return undefined;
      known.spared++;
      return known.looked;
    },
    keep: (path, looked, marks) => {
      kept.set(path, { looked, marks, atMs: clock(), spared: 0 });
    },
  };
};

/** A target that is gone changes nothing; one that is new, or has another mark, does. */
const areSame = (known: Marks, marks: Marks): boolean => {
  for (const [target, mark] of marks) if (known.get(target) !== mark) return false;
  return true;
};
