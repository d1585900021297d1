import type { EffectiveBounds } from "./override.ts";
import type { Condition, Windows } from "./windows.ts";

/**
 * The decision of one sync for one autoscaler: what to do, and everything needed to explain it.
 * Direction and delta follow from `from` and `to`.
 */
export type Decision = Hold | Scale;

interface Decided {
  /** The observed count; absent when the scale could not be read. */
  readonly from?: number;
  /** The reason in one sentence. It names the limit that changed the count. */
  readonly because: Because;
  readonly metrics: readonly MetricOutcome[];
  /** Each step of the rules, with the count before and after it and the limit that changed it. */
  readonly steps: readonly StepOutcome[];
  /** The bounds that held, and where they come from. Absent where only the manifest sets any. */
  readonly bounds?: EffectiveBounds;
  /** Series of the dialect that this sync wrote. */
  readonly gauges?: readonly GaugeWrite[];
  /**
   * Seconds until the imitated controller would reconcile again; `null`: only after an edit.
   * Tidemark decides at every sync of the cluster.
   */
  readonly dueAgainSeconds?: number | null;
  /** Events as the imitated controller would record them, in order. */
  readonly events: readonly ControllerEvent[];
  /**
   * The condition that the rules set last, for dialects whose status names it. A write sets one
   * later (`afterWrite`).
   */
  readonly lastCondition?: Pick<Condition, "type" | "status">;
  /**
   * What to store if nothing is written. After a write, `afterWrite` gives the windows to store.
   */
  readonly windows: Windows;
}

export interface Hold extends Decided {
  readonly kind: "hold";
  /**
   * True when a metric, a selector or the scale could not be evaluated. The workload keeps its
   * count.
   */
  readonly failed: boolean;
}

export interface Scale extends Decided {
  readonly kind: "scale";
  readonly from: number;
  readonly to: number;
  /**
   * The part of the scale that the rules wanted: the count between `from` and `to` up to which they
   * would have gone. Absent where no bound of a schedule or an override moved the count. Windows
   * record this much (docs/pod-autoscaler.md, "Schedules").
   */
  readonly ruled?: number;
  /**
   * The reason in the event of the imitated controller. For `hpa` it is set before windows and
   * limits apply (hpa.md 2.4 step 5).
   */
  readonly trigger: string;
}

export interface Because {
  /**
   * A stable word for programs, a condition reason where one fits: "ScaleUpLimit",
   * "AllMetricsBelowTarget".
   */
  readonly reason: string;
  /** A sentence for people. */
  readonly message: string;
}

export type MetricOutcome = {
  /**
   * Name as the messages of the dialect print it: "cpu resource utilization (percentage of
   * request)".
   */
  readonly name: string;
  readonly type: string;
  /** Of a formula: what it was calculated from, in the order of its text. */
  readonly inputs?: readonly InputReading[];
} & (
  | {
      readonly kind: "measured";
      /** The compared value and the target in readable form: "62%", "150m". */
      readonly value: string;
      readonly target: string;
      /** value ÷ target, where the metric has such a ratio. */
      readonly ratio?: number;
      readonly proposal: number;
      /** The pods behind the value. Absent where none was looked at. */
      readonly pods?: MetricPods;
      /** The value with what was assumed for pods that gave none. Absent where nothing was. */
      readonly assumed?: AssumedValue;
      /** The values at which it would ask for another count. */
      readonly turns?: Turns;
    }
  | { readonly kind: "failed"; readonly reason: string; readonly message: string }
);

/**
 * Which pods made a value. Where a number is absent there was none of its kind, or the metric is
 * not measured by pods.
 */
export interface MetricPods {
  /** Pods that the selector of the target matches. */
  readonly matched: number;
  /** Those that the target owns. Absent where it cannot be said who owns them. */
  readonly owned?: number;
  /** Pods whose samples are the value. */
  readonly counted?: number;
  /** Not ready, or just started. */
  readonly unready?: number;
  /** Without a usable sample. */
  readonly missing?: number;
  /** With a sample that is too old, and so among those without a usable one. */
  readonly stale?: number;
  /** Left out, because they are being deleted, or failed. */
  readonly leftOut?: number;
  /** Pods that have ended. */
  readonly finished?: number;
  /** Pods of another revision than most pods of the target: a rollout is under way. */
  readonly otherRevision?: number;
  /** Samples of pods that are not listed: they are gone, or have other labels. */
  readonly unlisted?: number;
  /** Seconds from the oldest sample to the decision. */
  readonly oldestSeconds?: number;
}

export interface AssumedValue {
  /** Pods that gave no usable sample. */
  readonly pods: number;
  /** What was assumed for each: "0", "100%", "the target". */
  readonly as: string;
  /** The value of all pods together: "53%". */
  readonly value: string;
}

/** What a metric asks for, beside the current count. */
export type Asks = "more" | "same" | "fewer";

/** A value at which a metric asks for something else than it does. */
export interface Turn {
  readonly value: string;
  readonly asks: Asks;
}

/**
 * Where the count that a metric asks for turns, with rounding, readiness and what was assumed. They
 * were found by the rules themselves, with everything but the value as it was.
 */
export interface Turns {
  /** The present value, with as many digits as tell it from the others. */
  readonly value: string;
  /** Below this value it asks for something else. Absent where no smaller one does. */
  readonly below?: Turn;
  /** From this value on it asks for something else. Absent where no larger one does. */
  readonly above?: Turn;
}

/** An input of a formula in one sync. */
export interface InputReading {
  readonly name: string;
  /** Absent where it is missing, and `message` says why. */
  readonly value?: string;
  readonly message?: string;
  /** Seconds from its sample to the decision, where a registered source gave it. */
  readonly ageSeconds?: number;
}

export interface StepOutcome {
  /** Name of the step: "propose", "stabilize", "limit". */
  readonly step: string;
  readonly before: number;
  readonly after: number;
  /** The limit that changed the count; absent when none did. */
  readonly limit?: Limit;
}

/**
 * A bound, window or rate that changed the count: its reason, its value and, for a window, its end.
 */
export interface Limit {
  readonly reason: string;
  readonly value: number;
  readonly message: string;
  readonly untilMs?: number;
  /** Of a stabilization window: when so much was wanted last. */
  readonly wantedMs?: number;
}

/**
 * One sample of a series, with its labels beside the labels of the autoscaler. The value `null`
 * removes the series. A name that ends in `_total` is a counter, and the value is added.
 */
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
 * How a scale ended. "unknown" counts as applied for ever, because a limit counts every scale that
 * may have happened.
 */
export type WriteOutcome =
  | { readonly kind: "applied" }
  /**
   * `code` is the status of the API server. It is absent where the scale was not sent, and in what
   * history holds.
   */
  | { readonly kind: "refused"; readonly message: string; readonly code?: number }
  | { readonly kind: "unknown"; readonly message: string };

/** A scale that was not made, by the status of the API server, or 0 where it was not sent. */
export interface Refusal {
  readonly code: number;
  readonly message: string;
}

/** A failed read by its code: the status of the API server, or 0 without an answer. */
export interface FailedRead {
  readonly of: "scale" | "metric";
  readonly code: number;
}
