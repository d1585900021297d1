import { type FollowedLists, followedLists } from "./followed-lists.ts";
import { type KeptLists, keptLists } from "../list-memory.ts";
import {
  ABSENCE_TTL_MS,
  DISCOVERY_TTL_MS,
  MAX_OTHER_STACKS,
  OTHER_STACK_MS,
  MAX_RIVAL_LOOKS_SPARED,
  MAX_SLOW_NAMESPACES,
  RIVALS_TTL_MS,
  SLOW_TTL_MS,
} from "../request-limits.ts";
import { type SlowFlows, slowFlows } from "../../turns/flows.ts";
import { type HeavyNamespaces, heavyNamespaces } from "./scopes.ts";
import type { ScaleReading, Rival } from "../../../rules/model/observation.ts";
import type { Observed } from "../cluster-client.ts";

/**
 * What a warm client remembers of earlier observations: the size of lists, missing rights, and the
 * rivals of the last LIST.
 */
export interface ClientMemory {
  readonly listedBefore: (path: string) => number | undefined;
  readonly remember: (path: string, objects: number) => void;
  /** Why a LIST of this path was refused lately, so that it need not be sent again. */
  readonly refusedList: (path: string) => string | undefined;
  readonly refuseList: (path: string, message: string) => void;
  readonly rivals: RivalMemory;
  readonly heavy: HeavyNamespaces;
  readonly slow: SlowFlows;
  readonly unchanged: KeptLists;
  readonly followed: FollowedLists;
  /** For each LIST, the pods that workloads count and it has not shown, by target. */
  readonly uncounted: Map<string, ReadonlyMap<string, number>>;
  readonly otherStacks: OtherStacks;
  /** For each kind, the version of its group that was served last. */
  readonly rivalVersions: Map<string, string>;
  /**
   * For each group of metrics that is listed, the version that is asked; absent while it is not
   * known.
   */
  readonly metricVersions: Map<string, string>;
  /** Reports a message once in the life of the client. */
  readonly once: (message: string) => void;
}

export const newMemory = (clock: () => number, notice: (message: string) => void): ClientMemory => {
  const sizes = new Map<string, { readonly objects: number; readonly untilMs: number }>();
  const refused = new Map<string, { readonly message: string; readonly untilMs: number }>();
  const reported = new Set<string>();
  return {
    listedBefore: (path) => {
      const known = sizes.get(path);
      return known && clock() < known.untilMs ? known.objects : undefined;
    },
    remember: (path, objects) => {
      sizes.set(path, { objects, untilMs: clock() + DISCOVERY_TTL_MS });
    },
    refusedList: (path) => {
      const known = refused.get(path);
      return known && clock() < known.untilMs ? known.message : undefined;
    },
    refuseList: (path, message) => {
      refused.set(path, { message, untilMs: clock() + ABSENCE_TTL_MS });
    },
    rivals: rivalMemory(clock),
    heavy: heavyNamespaces(),
    slow: slowFlows(clock, { ttlMs: SLOW_TTL_MS, most: MAX_SLOW_NAMESPACES }),
    unchanged: keptLists(),
    followed: followedLists(clock),
    uncounted: new Map(),
    otherStacks: otherStacks(clock),
    rivalVersions: new Map(),
    metricVersions: new Map(),
    once: (message) => {
      if (reported.has(message)) return;
      reported.add(message);
      notice(message);
    },
  };
};

/**
 * The targets that another stack has scaled last. The API server does not say when that was, so the
 * time counts from the first sync of this client that saw it.
 *
 *     other   6 → 8                                  4 → 5
 *     own     sees 8 ├── holds for five minutes ──┤  sees 5 ├── holds again …
 *         8 → 4 by us: the target is ours
 */
interface OtherStacks {
  /**
   * What holds the target now; undefined where its count is ours, or has been the same for five
   * minutes.
   */
  readonly holds: (
    target: string,
    scale: ScaleReading | undefined,
    own: string,
  ) => Observed["otherStack"];
}

const otherStacks = (clock: () => number): OtherStacks => {
  const seen = new Map<string, { readonly mark: string; readonly sinceMs: number }>();
  const sinceMsOf = (target: string, mark: string): number => {
    const known = seen.get(target);
    if (known?.mark === mark) return known.sinceMs;
    // On doubt, hold: what is forgotten here counts as seen for the first time.
    if (seen.size >= MAX_OTHER_STACKS) seen.clear();
    const sinceMs = clock();
    seen.set(target, { mark, sinceMs });
    return sinceMs;
  };
  return {
    holds: (target, scale, own) => {
      // While the scale cannot be read nothing is known, and the rules hold.
      if (scale?.kind !== "read") return undefined;
      const { lastScaledBy: manager, uid, specReplicas } = scale;
      if (manager === undefined || manager === own) {
        seen.delete(target);
        return undefined;
      }
      const ageMs = clock() - sinceMsOf(target, `${manager} ${uid} ${specReplicas}`);
      // After a clock was set back the age is not known. On doubt, hold.
      return ageMs >= 0 && ageMs >= OTHER_STACK_MS ? undefined : { manager, own };
    },
  };
};

/** The rivals in one LIST, for the targets that were searched in it. */
export interface LookedFor {
  readonly targets: ReadonlySet<string>;
  readonly rivals: ReadonlyMap<string, readonly Rival[]>;
}

/** For each target, a mark that every write changes: its uid, its generation and its count. */
export type WriteMarks = ReadonlyMap<string, string>;

interface RivalMemory {
  /** The last LIST. It replaces a LIST that fails; without one, the rivals are not known. */
  readonly last: (path: string) => LookedFor | undefined;
  /**
   * The last LIST, where it need not be repeated in this sync. While all marks are the same, a new
   * rival has written to no target and done no harm; a rival that wrote has changed a mark, so that
   * the same sync looks for it. The LIST is always repeated after a minute, in every fourth sync,
   * and in each sync while a rival is known, so that Tidemark continues when it is gone.
   */
  readonly stillTrue: (path: string, marks: WriteMarks) => LookedFor | undefined;
  readonly keep: (path: string, looked: LookedFor, marks: WriteMarks) => void;
}

interface Kept {
  readonly looked: LookedFor;
  readonly marks: WriteMarks;
  readonly atMs: number;
  spared: number;
}

const rivalMemory = (clock: () => number): RivalMemory => {
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
      if (!known || known.looked.rivals.size > 0 || !isFresh(known) || !areSame(known.marks, marks))
        return undefined;
      known.spared++;
      return known.looked;
    },
    keep: (path, looked, marks) => {
      kept.set(path, { looked, marks, atMs: clock(), spared: 0 });
    },
  };
};

/** True when a target is new or has another mark. A removed target does not count. */
const areSame = (known: WriteMarks, marks: WriteMarks): boolean => {
  for (const [target, mark] of marks) if (known.get(target) !== mark) return false;
  return true;
};
