import type { AssumedValue } from "../../../model/decision.ts";
import type { Pod } from "../../../model/observation.ts";
import { decimalText } from "../../../model/quantity.ts";
import { type ControllerSettings, isMended } from "../../../model/spec-common.ts";
import type { Marks } from "../../../model/spec-hpa.ts";
import type { MetricStatus } from "../../../model/windows.ts";
import type { SampleContext, PodSamples, PodSample } from "../../../sources/source.ts";
import type { Tolerance } from "../arithmetic.ts";
import type { Curve } from "./curve.ts";

/** What a metric is measured with. */
export interface MetricContext extends SampleContext {
  readonly currentReplicas: number;
  readonly statusReplicas: number;
  /** The pods that the selector matches; with `own` the pods of the target that have not ended. */
  readonly pods: readonly Pod[];
  /** By which pods the native rules count; absent where they count as the HPA controller does. */
  readonly own?: OwnPods;
  /** The sample of a pod from before counts as none; absent where any age will do. */
  readonly sinceMs?: number;
  readonly tolerance: Tolerance;
  /** A value is divided by the current count before it is compared with marks. */
  readonly average?: boolean | undefined;
  readonly readiness: Readiness;
}

/** How the native rules count the pods of the target (docs/pod-autoscaler.md, "Which pods count"). */
export interface OwnPods {
  /** The pods whose values count. */
  readonly measured: readonly Pod[];
  /** Ready pods whose values do not count, because they are of another revision. */
  readonly beside: number;
  /** The count of the scale. More pods than that are the surge of a rollout. */
  readonly wanted: number;
}

export type Measurement = Measured | Unmeasured;

export interface Measured {
  readonly kind: "measured";
  /** As messages print it. */
  readonly name: string;
  readonly proposal: number;
  /** As people read them: "62%", "150m". */
  readonly value: string;
  readonly target: string;
  readonly ratio: number;
  /** The amount that status shows, thousandths; for targets in percent the percentage beside it. */
  readonly usageMilli: bigint;
  readonly utilization?: number;
  /**
   * A sum was wrapped on the way (outcome.ts), or taken for overflowed because it was negative
   * (hpa.md 3.7).
   */
  readonly overflowed?: true;
  readonly status: MetricStatus;
  /** Of a metric with marks: its value is between them, widened by the tolerance. */
  readonly between?: boolean;
  /**
   * The pods whose samples counted, where the metric is measured by pods. Only what is stored and
   * shown asks for it, and for the curve.
   */
  readonly counted?: () => CountedPods;
  /**
   * A value that the replicas share is within its tolerance: it proposes the replicas of the status
   * (hpa.md 3.7), which are more than the scale asks for while a rollout has its surge.
   */
  readonly inside?: true;
  /** The value with what was assumed for pods that gave none. */
  readonly assumed?: AssumedValue;
  /** What another value would propose; absent where no value can be put in the place of this one. */
  readonly curve?: () => Curve;
}

/** Pods by what was made of them. */
export interface CountedPods {
  /** Their samples are the value. */
  readonly counted: number;
  /** Not ready, or just started. */
  readonly unready: number;
  /** Without a usable sample. */
  readonly missing: number;
  /** With a sample that is too old; they are among those without a usable one. */
  readonly stale?: number;
  /** Being deleted, or failed. */
  readonly leftOut: number;
  /** Samples of pods that are not listed: they are gone, or have other labels. */
  readonly unlisted: number;
  /** Time of the oldest sample; absent where the source says no time. */
  readonly oldestMs?: number;
}

/** The ratio after something was assumed for some pods. */
export interface Assumed extends Ratio, Pick<AssumedValue, "pods" | "as"> {}

export type Ratio = Pick<Proposal, "usageMilli" | "utilization" | "ratio" | "overflowed">;

export interface Unmeasured {
  readonly kind: "failed";
  readonly name: string;
  /** Condition reason of its own event. */
  readonly reason: string;
  /** Text of its own event. */
  readonly message: string;
  /** The whole chain of the error, outermost first (hpa.md 2.5). */
  readonly chain: string;
}

/** What one metric proposes, before windows and limits. Amounts are thousandths. */
export interface Proposal {
  readonly kind: "proposal";
  /** Raw count; negative only where numbers overflow. */
  readonly replicas: number;
  /** The amount that status shows: mean, total, or total per replica. */
  readonly usageMilli: bigint;
  /** Percent of the requests, for targets in percent. */
  readonly utilization?: number;
  /** value ÷ target, before anything was assumed for missing pods. */
  readonly ratio: number;
  /**
   * A sum left 64 bits and was wrapped: the controller goes on with what is left of it (hpa.md
   * 3.3), native rules do not.
   */
  readonly overflowed?: true;
  /** Absent where nothing was assumed. */
  readonly assumed?: Assumed;
  /** As of a measurement. */
  readonly inside?: true;
}

/** Two watermarks as people read them: "150m..400m". */
export const marksText = ({ lowMilli, highMilli }: Marks): string =>
  `${decimalText(lowMilli)}..${decimalText(highMilli)}`;

/** The clock and the settings that decide which pods count. */
export interface Readiness
  extends Pick<
    ControllerSettings,
    "cpuInitializationPeriodMs" | "initialReadinessDelayMs" | "hpaVersion"
  > {
  readonly nowMs: number;
}

/** Pods by what may be concluded from them. */
export interface PodGroups {
  readonly ready: number;
  readonly unready: readonly string[];
  readonly missing: readonly string[];
  readonly ignored: readonly string[];
}

/**
 * hpa.md 3.2: the first rule that applies decides. Readiness is looked at for "cpu" only;
 * `resource` is empty for Pods metrics.
 */
export const groupPods = (
  pods: readonly Pod[],
  samples: PodSamples,
  resource: string,
  readiness: Readiness,
): PodGroups => {
  let ready = 0;
  const unready: string[] = [];
  const missing: string[] = [];
  const ignored: string[] = [];
  for (const pod of pods) {
    const sample = samples.get(pod.name);
    if (pod.deleting || hasEnded(pod, readiness)) ignored.push(pod.name);
    else if (pod.phase === "Pending") unready.push(pod.name);
    else if (sample === undefined) missing.push(pod.name);
    else if (resource === "cpu" && isStarting(pod, sample, readiness)) unready.push(pod.name);
    else ready++;
  }
  return { ready, unready, missing, ignored };
};

/** Before 1.38 a pod that ended well counts as one that runs (hpa.md 0.2). */
const hasEnded = ({ phase }: Pod, readiness: Readiness): boolean =>
  phase === "Failed" || (phase === "Succeeded" && isMended(readiness));

/**
 * Rules 4 to 6: start-up CPU says nothing about load. A pod that was ready long after its start and
 * fell back counts as ready.
 */
const isStarting = ({ startMs, ready }: Pod, sample: PodSample, readiness: Readiness): boolean => {
  if (startMs === undefined || ready === undefined) return true;
  const notReady = ready.status === "False";
  if (startMs + readiness.cpuInitializationPeriodMs > readiness.nowMs)
    return notReady || sample.timestampMs < ready.transitionMs + sample.windowMs;
  return notReady && startMs + readiness.initialReadinessDelayMs > ready.transitionMs;
};
