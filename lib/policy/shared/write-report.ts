import type { ControllerEvent, GaugeWrite, Scale, WriteOutcome } from "../../model/decision.ts";
import type { AutoscalerSpec } from "../../model/spec.ts";
import type { Windows } from "../../model/windows.ts";

/** How the write of a decision was answered. */
export interface AnsweredWrite {
  readonly decision: Scale;
  readonly outcome: WriteOutcome;
  /** From a clock reading after the answer. */
  readonly atMs: number;
  /** From a clock reading before the write. */
  readonly earliestMs?: number;
  readonly eventId?: string;
}

export interface WriteReport extends AnsweredWrite {
  readonly spec: AutoscalerSpec;
}

/** What to store and to report after the PUT: the decision's own events and series come first. */
export interface Written {
  readonly windows: Windows;
  readonly events: readonly ControllerEvent[];
  readonly gauges?: readonly GaugeWrite[];
}
