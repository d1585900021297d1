import type { EventView } from "../../views/event.ts";
import type { HistoryPoint } from "../../views/over-time.ts";
import type { Pace } from "../engine/clock.ts";

/** The content of the live view at one moment. All of it comes from the tables. */
export interface Frame {
  readonly nowMs: number;
  /** The end of the run. Absent when it runs until it is interrupted. */
  readonly endMs?: number;
  readonly pace: Pace;
  /** The first autoscalers, as many as may fit. */
  readonly rows: readonly Row[];
  /** How many autoscalers there are; as many as `rows` where it is absent. */
  readonly total?: number;
  /** Oldest first. */
  readonly events: readonly EventView[];
  /** The last failure, if there is one. */
  readonly trouble?: string;
}

export interface Row {
  readonly uid: string;
  readonly name: string;
  readonly target: string;
  /** "held: monitor" with what holds it. */
  readonly state: string;
  readonly current?: number;
  readonly desired?: number;
  /** "9 (5m ago)", where the newest sync could not read the count. */
  readonly lastKnown?: string;
  readonly min?: number;
  readonly max?: number;
  /** "cpu 72% of 60%", one per metric. */
  readonly metrics: readonly string[];
  readonly decision: string;
  /** One a sync, newest last. */
  readonly points: readonly HistoryPoint[];
}
