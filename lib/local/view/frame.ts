import type { EventView } from "../../service/views/autoscaler-view.ts";
import type { Pace } from "../engine/clock.ts";

/** The content of the live view at one moment. Counts, metrics and decisions come from the tables; only the load comes from the simulator. */
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
  /** Newest last. Empty on a real cluster, which has no recorded load. */
  readonly load: readonly number[];
  readonly loadUnit: string;
  readonly replicas: readonly number[];
}
