import type { Ledger } from "./ledger.ts";

/** Largest difference of any two clocks: what no reader of two clocks can do better than. */
export const CLOCK_ALLOWANCE_MS = 4_000;

/** One dialect keeps times in whole seconds (watermark.md 2.9). */
export const WHOLE_SECOND_MS = 1_000;

/**
 * No clock may be further ahead than half the difference: a time beyond that stops windows until it
 * has come.
 */
export const watchAhead = (ledger: Ledger, atMs: number, what: string): void => {
  const aheadMs = atMs - ledger.nowMs();
  if (aheadMs > CLOCK_ALLOWANCE_MS / 2)
    ledger.violate(
      "no stored time is ahead of what a clock may tell",
      `${what} is ${aheadMs} ms ahead`,
    );
};
