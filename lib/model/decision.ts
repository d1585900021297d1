import type { Windows } from "./windows.ts";

/**
 * What one sync decided for one autoscaler: a value that says what to do and everything needed to explain it. Direction and delta are derived from `from` and `to`.
 */
export type Decision = Hold | Scale;

interface Decided {
  /** The count that was observed; absent when the scale could not be read. */
  readonly from?: number;
  /** Why, in words of the field and one sentence; names the limit that bit. */
  readonly because: Because;
  readonly metrics: readonly MetricOutcome[];
  /** The pipeline as it went: each step with what came in, what went out and which limit changed it. */
  readonly steps: readonly StepOutcome[];
  /** Series that the dialect publishes, as far as this sync wrote them. */
  readonly gauges?: readonly GaugeWrite[];
  /** When the imitated controller would look again; `null`: only after an edit. Tidemark looks at every sync of the cluster. */
  readonly dueAgainSeconds?: number | null;
  /** Events as the imitated controller would record them, in order. */
  readonly events: readonly ControllerEvent[];
  /** What to store if nothing is written. After a write it is `afterWrite` that tells. */
  readonly windows: Windows;
}

export interface Hold extends Decided {
  readonly kind: "hold";
  /** Something could not be evaluated: metric, selector, scale. The workload keeps its count. */
  readonly failed: boolean;
}

export interface Scale extends Decided {
  readonly kind: "scale";
  readonly from: number;
  readonly to: number;
  /** What the imitated controller gives as reason in its event; for `hpa` it is fixed before windows and limits (hpa.md 2.4 step 5). */
  readonly trigger: string;
}

export interface Because {
  /** Stable word for machines, a condition reason where one fits: "ScaleUpLimit", "AllMetricsBelowTarget". */
  readonly reason: string;
  /** Sentence for people. */
  readonly message: string;
}

export type MetricOutcome = {
  /** Name as the dialect's messages print it: "cpu resource utilization (percentage of request)". */
  readonly name: string;
  readonly type: string;
} & (
  | {
      readonly kind: "measured";
      /** The value compared and the target, as people read them: "62%", "150m". */
      readonly value: string;
      readonly target: string;
      /** value ÷ target, when that says something. */
      readonly ratio?: number;
      readonly proposal: number;
    }
  | { readonly kind: "failed"; readonly reason: string; readonly message: string }
);

export interface StepOutcome {
  /** Name of the step: "propose", "stabilize", "limit". */
  readonly step: string;
  readonly before: number;
  readonly after: number;
  /** The limit that bit, when one did. */
  readonly limit?: Limit;
}

/** A bound, window or rate that changed the outcome: its reason, its value, and for windows when it ends. */
export interface Limit {
  readonly reason: string;
  readonly value: number;
  readonly message: string;
  readonly untilMs?: number;
}

/** One sample of a series, its labels beyond those of the autoscaler; `null` takes the series away. Names ending in `_total` count up by the value. */
export interface GaugeWrite {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number | null;
}

export interface ControllerEvent {
  readonly type: "Normal" | "Warning";
  readonly reason: string;
  readonly message: string;
}

/**
 * How a scale ended. "unknown" counts as applied for ever: a limit counts what may have happened, never only what is known to have.
 */
export type WriteOutcome =
  | { readonly kind: "applied" }
  | { readonly kind: "refused"; readonly message: string }
  | { readonly kind: "unknown"; readonly message: string };
