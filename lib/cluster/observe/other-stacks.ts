import type { ScaleReading } from "../../model/observation.ts";
import type { Observed } from "../cluster-client.ts";
import { MAX_OTHER_STACKS, OTHER_STACK_MS } from "../request-limits.ts";

/**
 * The targets that another stack has scaled last. The API server does not say when that was, so the time counts from the first sync of this client that saw it.
 *
 *     other   6 → 8                                  4 → 5
 *     own     sees 8 ├── holds for five minutes ──┤  sees 5 ├── holds again …      8 → 4 by us: the target is ours
 */
export interface OtherStacks {
  /** What holds the target now; undefined where its count is ours, or has been the same for five minutes. */
  readonly holds: (target: string, scale: ScaleReading | undefined, own: string) => Observed["otherStack"];
}

interface Seen {
  readonly mark: string;
  readonly sinceMs: number;
}

export const otherStacks = (clock: () => number): OtherStacks => {
  const seen = new Map<string, Seen>();
  const sinceMsOf = (target: string, mark: string): number => {
    const known = seen.get(target);
    if (known?.mark === mark) return known.sinceMs;
    // Fails to a hold: what is forgotten here counts as seen for the first time.
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
      // After a clock was set back the age is not known. Fails to a hold.
      return ageMs >= 0 && ageMs >= OTHER_STACK_MS ? undefined : { manager, own };
    },
  };
};
