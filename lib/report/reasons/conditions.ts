import type { ReasonTexts } from "./decided.ts";

const NOTHING = "Nothing.";

/** Reasons of conditions and Events, in the words of the controllers whose API they belong to. */
export const CONDITIONS: ReasonTexts = {
  SucceededGetScale: ["The count of the workload was read.", NOTHING],
  ReadyForNewScale: ["No window or limit holds the count.", NOTHING],
  ReadyForScale: ["The last scale is old enough for another one.", NOTHING],
  SucceededRescale: ["The last scale was made.", NOTHING],
  SuccessfulScale: ["The last scale was made.", NOTHING],
  ValidMetricFound: ["A count was calculated from the metric in the message.", NOTHING],
  NotScaling: ["A count was calculated, and another one is not written now.", "Nothing. `explain` says what holds it."],
  ScaledToZero: ["The autoscaler has scaled the workload to zero.", NOTHING],
  NotScaledToZero: ["The autoscaler has not scaled the workload to zero.", NOTHING],
  DatadogMonitorOK: ["The Datadog monitor is OK.", NOTHING],
  Breached: ["The metrics ask for this direction now.", "Nothing. The condition measures how long."],
  Within: ["The metrics do not ask for this direction.", NOTHING],
  NotMeasured: ["The metrics were not looked at in this sync.", NOTHING],
  BelowActivation: ["Every metric with an activation threshold is at or below it.", NOTHING],
  InUse: ["A metric is above its activation threshold.", NOTHING],
  SuccessfulRescale: ["Event: a scale was made.", NOTHING],
  Scaling: ["Event of a WatermarkPodAutoscaler: a scale was made.", NOTHING],
  FailedRescale: ["Event: a scale was refused.", "The message has the words of the API server."],
  FailedScale: ["Event and condition of a WatermarkPodAutoscaler: a scale was refused.", "The message has the words of the API server."],
  UnknownRescale: ["Event: whether a scale took effect is not known. It counts as made.", "Wait for the next sync."],
};
