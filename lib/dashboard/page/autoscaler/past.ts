import type { ChangeView } from "../../../answers/views/change.ts";
import type { EventView } from "../../../answers/views/event.ts";
import type { HistoryView } from "../../../answers/views/over-time.ts";

/** What happened to an autoscaler in a stretch of time. */
export interface ShownPast {
  readonly sinceMs: number;
  readonly untilMs: number;
  readonly stepMs: number;
  readonly points: HistoryView["points"];
  /** How far back the points reach so far; absent once they reach to the beginning. */
  readonly pointsSinceMs?: number;
  readonly events: readonly EventView[];
  readonly changes: readonly ChangeView[];
}

/** True while nothing can be said of the points: the ones that are there are not all, and none. */
export const areReadStill = (past: ShownPast | undefined): boolean =>
  !past || (past.points.length === 0 && past.pointsSinceMs !== undefined);
