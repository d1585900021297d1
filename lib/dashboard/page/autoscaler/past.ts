import type { ChangeView } from "../../../answers/views/change.ts";
import type { EventView } from "../../../answers/views/event.ts";
import type { HistoryView } from "../../../answers/views/over-time.ts";

/** What happened to an autoscaler in a stretch of time. */
export interface ShownPast {
  readonly sinceMs: number;
  readonly untilMs: number;
  readonly stepMs: number;
  readonly points: HistoryView["points"];
  readonly events: readonly EventView[];
  readonly changes: readonly ChangeView[];
}
