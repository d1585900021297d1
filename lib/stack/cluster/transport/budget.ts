import type { ApiFailure } from "../../../rules/model/observation.ts";
import { heldPartsMax } from "../wire/message.ts";

/**
 * The calls, bytes and time that one observation may still use. Every call takes from it, also
 * repeats.
 */
export interface CallBudget {
  readonly remainingMs: () => number;
  /** Takes one call, or returns the failure of the limit that is reached. */
  readonly take: () => ApiFailure | undefined;
  /** Counts the bytes of an answer on the wire; `unpacked` are those that must be read. */
  readonly receive: (bytes: number, unpacked?: number) => void;
  /** Counts values that are kept of an answer. False: the memory has no room for them. */
  readonly keep: (parts: number) => boolean;
  /** Gives back the room of an answer that turned out to be broken. */
  readonly free: (parts: number) => void;
  /** What may still be taken. */
  readonly left: () => { readonly calls: number };
  readonly spent: () => { readonly calls: number; readonly bytes: number };
}

export interface BudgetLimits {
  readonly budgetMs: number;
  readonly maxCalls: number;
  readonly maxBytes: number;
  /** Milliseconds of a monotonic clock, because the wall clock may be virtual or be set. */
  readonly elapsed: () => number;
}

/** A new budget that starts now. A failure of `take` has code 0 and reason BudgetExhausted. */
export const callBudget = ({ budgetMs, maxCalls, maxBytes, elapsed }: BudgetLimits): CallBudget => {
  const startMs = elapsed();
  let calls = 0;
  let bytes = 0;
  let partsLeft = heldPartsMax();
  const remainingMs = (): number => Math.max(0, budgetMs - (elapsed() - startMs));
  const exhausted = (what: string): ApiFailure => ({
    code: 0,
    reason: "BudgetExhausted",
    message: `Cannot call the cluster: ${what}`,
  });
  return {
    remainingMs,
    take: () => {
      if (remainingMs() <= 0) return exhausted(`the time for this sync is spent, ${budgetMs} ms`);
      if (calls >= maxCalls) return exhausted(`the calls for this sync are spent, ${maxCalls}`);
      if (bytes >= maxBytes) return exhausted(`the bytes for this sync are spent, ${maxBytes}`);
      calls++;
      return undefined;
    },
    receive: (more) => {
      bytes += more;
    },
    keep: (more) => {
      if (more > partsLeft) return false;
      partsLeft -= more;
      return true;
    },
    free: (parts) => {
      partsLeft += parts;
    },
    left: () => ({ calls: maxCalls - calls }),
    spent: () => ({ calls, bytes }),
  };
};
