import type { HistoryItem } from "../../../lib/stack/store/history/item.ts";
import { EVENT_SK_PREFIX } from "../../../lib/stack/store/table/keys.ts";
import type { Planted } from "../play.ts";
import type { Invariant } from "../watch/ledger.ts";

/**
 * A mistake, the row of the table in docs/proofs-report.md that it stands for, and the invariants
 * of which one must catch it.
 */
export interface PlantedBug extends Planted {
  /** First seed that shows it (first-seeds.ts finds it anew). */
  readonly seed: number;
  /** The seeds that can show it, where it takes what few seeds have. All of them without it. */
  readonly where?: (seed: number) => boolean;
  readonly caughtBy: readonly Invariant[];
}

export const INTENT: Invariant =
  "no PUT takes effect without an intent that every later holder counts";
export const EVENT: Invariant = "every PUT that took effect has an event, applied or unknown";
export const ONE_EVENT: Invariant = "every intent ends in exactly one event";
export const ONE_INTENT: Invariant = "at most one open intent per workload";
export const LIMITS: Invariant = "per-period limits are never exceeded as seen from the cluster";
export const WINDOWS: Invariant =
  "stabilization windows hold what was recommended, no more and no less";
export const MADE: Invariant = "windows count only scales that may have been made";
export const FORBIDDEN: Invariant = "forbidden windows are never cut short";
export const SITE: Invariant = "no PUT goes to an API server that its cluster does not name";
export const BREACH: Invariant = "a breach must last, though workers die";
export const ACTS: Invariant =
  "an autoscaler of an object acts by what the same sync has read of it";
export const ENDS: Invariant = "an autoscaler of an object ends after two answers without it";
export const CHANGES: Invariant = "every edit of an autoscaler is among its changes";
export const LIVENESS: Invariant = "after faults stop, every partition syncs within two periods";
export const ONE_CONTROLLER: Invariant =
  "a workload that is taken over or handed back has one controller";
export const RIVALS: Invariant = "nothing is sent where another controller was seen or may be";
export const OUTSIDE: Invariant =
  "nothing is written outside the bounds that hold at the instant of the decision";

export const HELD: Invariant =
  "restored and copied tables scale nothing before a person has adopted them and thaws";
export const LOST: Invariant = "limits count what a restore took away";
export const STACKS: Invariant = "a stack holds where the other one was the last to scale";
export const SET_BY_OTHERS: Invariant =
  "a count that others set is an event, and limits count it; a count that Tidemark set is none";

export const MEASURED: Invariant = "nothing shrinks on a value that was not measured";

/** True of both copies of a scale event. */
export const isEventItem = ({ pk, sk }: HistoryItem): boolean =>
  sk.startsWith(EVENT_SK_PREFIX) || pk.startsWith("day#");

/** What breaks when an autoscaler goes by windows that are not its own last ones. */
export const LOST_WINDOWS: readonly Invariant[] = [INTENT, WINDOWS, LIMITS, FORBIDDEN, BREACH];
