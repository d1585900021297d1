import type { Lane } from "../../../rules/model/scale-records.ts";

/** Texts of reasons by name: what it means, and what to do. */
export type ReasonTexts = Readonly<Record<string, readonly [means: string, todo: string]>>;

/** Why a count changed, and what cut a change or kept the count, by the rules of the autoscaler. */
export const SCALES: ReasonTexts = {
  MetricAboveTarget: [
    "A metric asks for more pods.",
    "Nothing. The message names the metric, its value, its target, and the limit that cut the step, if one did.",
  ],
  AllMetricsBelowTarget: [
    "Every metric asks for fewer pods.",
    "Nothing. The message names the metric that asks for the most of them.",
  ],
  MetricsBelowTarget: ["The metrics of a PodAutoscaler, combined, ask for fewer pods.", "Nothing."],
  WantedBefore: [
    "More pods were wanted inside the stabilization window of the way down than there are, because a rate or a bound cut the scale then; the count goes there now, although the metrics ask for fewer by now. Only an HPA without `behavior` does so.",
    "Nothing. The message says when so much was wanted. With `behavior` the window only keeps what there is.",
  ],
  AboveMaxReplicas: [
    "The count was above `maxReplicas`, so it went straight there, past windows and rates.",
    "If a person or another program set the count, raise `maxReplicas` instead. `tidemark changes` shows edits of the bounds.",
  ],
  BelowMinReplicas: [
    "The count was below `minReplicas`, so it went straight there, past windows and rates.",
    "If something keeps setting the count (a deployment pipeline, `kubectl scale`), take `replicas` out of its manifest.",
  ],
  Activated: [
    "A metric is above its activation threshold, so the workload that was at rest goes to `minReplicas`.",
    "Nothing.",
  ],
  WokenByFallback: [
    "A metric with an activation threshold has been missing for the time of its fallback, so the workload that was at rest goes to the fallback count.",
    "Mend the metric. `onMissing: { action: hold }` lets it rest.",
  ],
  FirstDecision: [
    "The first decision of a WatermarkPodAutoscaler writes the count that there is, as its controller does.",
    "Nothing.",
  ],
  Proposal: [
    "A value of a WatermarkPodAutoscaler is outside its watermarks.",
    "Nothing. The message says which.",
  ],
  NoReplicas: [
    "The workload has no pods although its count is above 0; the rules of a WatermarkPodAutoscaler then write a small count.",
    "Look at the Events of the workload: something keeps its pods from being made, such as a quota.",
  ],
};

export const STEADY: ReasonTexts = {
  DesiredWithinRange: ["The metrics ask for the count that there is.", "Nothing."],
  WithinTarget: ["No metric of a PodAutoscaler asks for another count.", "Nothing."],
  NoChange: ["The rules of a WatermarkPodAutoscaler want the count that there is.", "Nothing."],
  Idle: [
    "No metric is above its activation threshold, and the workload is at its idle count.",
    "Nothing. The next value above a threshold wakes it.",
  ],
  ScalingDisabled: [
    "The count is 0, set by a person or another program, so that nothing scales.",
    "Set the count to 1 or more by hand to turn scaling on again.",
  ],
};

export const LIMITS = {
  SetMinimum: [
    "A schedule or an override sets a larger `minReplicas` than the rules want, and the count goes straight there, past windows, rates and missing metrics.",
    "Nothing. The message names the entry or the override, and the step says until when. `tidemark schedule NAME` lists what comes next.",
  ],
  SetMaximum: [
    "A schedule or an override sets a smaller `maxReplicas` than the rules want, and the count goes straight there.",
    "Nothing, or raise `maxReplicas` of the entry that the message names, or clear the override (`tidemark override clear ID`). `tidemark schedule NAME` lists what comes next.",
  ],
  ForecastMinimum: [
    "The forecast of a demand asks for more pods than the rules want, and the count goes straight there (`advice` of a PodAutoscaler).",
    "Nothing. `tidemark forecast NAME` shows the next hours and how good such forecasts were. A lower `quantile`, or no `advice`, keeps fewer pods.",
  ],
  ScaleDownStabilized: [
    "A higher count was wanted inside the stabilization window of the way down, so the count stays there.",
    "Wait: `explain` says until when. A shorter `stabilizationWindowSeconds` shrinks sooner, and follows short dips.",
  ],
  ScaleUpStabilized: [
    "A lower count was wanted inside the stabilization window of the way up, so the count stays there.",
    "Wait: `explain` says until when. A shorter window grows sooner, and follows short peaks.",
  ],
  ScaleUpLimit: [
    "The rate limit of the way up allows no more in its period.",
    "If pods come too late, raise a policy of `scaleUp`. `explain` says when the next scale event leaves its period.",
  ],
  ScaleDownLimit: [
    "The rate limit of the way down allows no fewer in its period.",
    "Nothing, or raise a policy of `scaleDown`.",
  ],
  TooManyReplicas: [
    "`maxReplicas` is reached, and the metrics ask for more.",
    "Raise `maxReplicas` if the cluster has room. Until then the pods carry more load than the target says.",
  ],
  TooFewReplicas: [
    "`minReplicas` is reached, and the metrics ask for fewer.",
    "Nothing, or lower `minReplicas`.",
  ],
  TooFewReady: [
    "Fewer pods are ready than would be kept, so that none is taken away.",
    "Look at why pods are not ready.",
  ],
  DirectionDisabled: [
    "`selectPolicy: Disabled` closes this direction.",
    "Nothing, if it is meant.",
  ],
  StepMinimum: ["The change has fewer pods than `stepMinimum`.", "Nothing."],
  ReplicaModulo: ["Counts are multiples of `replicaModulo`.", "Nothing."],
  ForbiddenWindow: [
    "A scale was made inside the time after which no other one may follow (`forbiddenAfterEventSeconds`).",
    "Wait: `explain` says until when.",
  ],
  BackoffUpscale: [
    "The last scale is inside the upscale forbidden window.",
    "Wait: `explain` says until when.",
  ],
  BackoffDownscale: [
    "The last scale is inside the downscale forbidden window.",
    "Wait: `explain` says until when.",
  ],
  BackoffBoth: [
    "The last scale is inside both forbidden windows.",
    "Wait: `explain` says until when.",
  ],
  FlapBudget: [
    "As many reversals as `flapBudget` allows were made in its period; the last one is kept for the way up.",
    "Look at the timeline: a load that swings needs a wider band or a longer stabilization window.",
  ],
  NotSustained: [
    "The metrics have not asked for this direction for `sustainSeconds` without a break.",
    "Wait: `explain` says until when.",
  ],
  AboveHighWatermarkNotSustained: [
    "No value has been above its high watermark for the upscale delay.",
    "Wait: `explain` says until when.",
  ],
  BelowLowWatermarkNotSustained: [
    "No value has been below its low watermark for the downscale delay.",
    "Wait: `explain` says until when.",
  ],
} as const satisfies ReasonTexts;

/** Where a timeline draws each limit. */
export const LIMIT_LANES: Readonly<Record<keyof typeof LIMITS, Lane>> = {
  SetMinimum: "bounds",
  SetMaximum: "bounds",
  ForecastMinimum: "bounds",
  ScaleDownStabilized: "stabilization",
  ScaleUpStabilized: "stabilization",
  ScaleUpLimit: "policy",
  ScaleDownLimit: "policy",
  TooManyReplicas: "bounds",
  TooFewReplicas: "bounds",
  TooFewReady: "policy",
  DirectionDisabled: "policy",
  StepMinimum: "policy",
  ReplicaModulo: "policy",
  ForbiddenWindow: "cool-down",
  BackoffUpscale: "cool-down",
  BackoffDownscale: "cool-down",
  BackoffBoth: "cool-down",
  FlapBudget: "policy",
  NotSustained: "policy",
  AboveHighWatermarkNotSustained: "policy",
  BelowLowWatermarkNotSustained: "policy",
};
