import type { Rival } from "../../model/rival-state.ts";
import { MAX_RIVAL_LOOKS_SPARED, RIVALS_TTL_MS } from "../request-limits.ts";

/** The rivals in one LIST, for the targets that were searched in it. */
export interface LookedFor {
  readonly targets: ReadonlySet<string>;
  readonly rivals: ReadonlyMap<string, readonly Rival[]>;
}

/** For each target, a mark that every write changes: its uid, its generation and its count. */
export type Marks = ReadonlyMap<string, string>;

/** The last LISTs of rivals, by path. */
export interface RivalMemory {
  /** The last LIST. It replaces a LIST that fails; without one, the rivals are not known. */
  readonly last: (path: string) => LookedFor | undefined;
  /**
   * The last LIST, where it need not be repeated in this sync. While all marks are the same, a new rival has written to no target and done no harm; a rival that wrote has changed a mark,
   * so that the same sync looks for it. The LIST is always repeated after a minute, in every fourth sync, and in each sync while a rival is known, so that Tidemark continues when it is gone.
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
    // After a clock was set back the age is not known.
    return spared < MAX_RIVAL_LOOKS_SPARED && ageMs >= 0 && ageMs < RIVALS_TTL_MS;
  };
  return {
    last: (path) => kept.get(path)?.looked,
    stillTrue: (path, marks) => {
      const known = kept.get(path);
      if (!known || known.looked.rivals.size > 0 || !isFresh(known) || !areSame(known.marks, marks)) return undefined;
      known.spared++;
      return known.looked;
    },
    keep: (path, looked, marks) => {
      kept.set(path, { looked, marks, atMs: clock(), spared: 0 });
    },
  };
};

/** True when a target is new or has another mark. A removed target does not count. */
const areSame = (known: Marks, marks: Marks): boolean => {
  for (const [target, mark] of marks) if (known.get(target) !== mark) return false;
  return true;
};
