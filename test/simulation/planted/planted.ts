import type { Planted } from "../play.ts";
import type { Invariant } from "../watch/ledger.ts";

/** A mistake, the row of the table in docs/simulation.md that it stands for, and the invariants of which one must catch it. */
export interface PlantedBug extends Planted {
  readonly caughtBy: readonly Invariant[];
}

export const INTENT: Invariant = "no PUT takes effect without an intent that every later holder counts";
export const EVENT: Invariant = "every PUT that took effect has an event, applied or unknown";
export const ONE_EVENT: Invariant = "every intent ends in exactly one event";
export const ONE_INTENT: Invariant = "at most one open intent per workload";
export const LIMITS: Invariant = "per-period limits are never exceeded as seen from the cluster";
export const WINDOWS: Invariant = "stabilization windows hold what was recommended, no more and no less";
