import { nearestName } from "../../../rules/model/nearest-name.ts";
import { LIMITS, type ReasonTexts, SCALES, STEADY } from "./decided.ts";
import { FAILURES, HOLDS, OBJECTS } from "./held.ts";

const NOTHING = "Nothing.";

/** Reasons of conditions and Events, in the words of the controllers whose API they belong to. */
const CONDITIONS: ReasonTexts = {
  SucceededGetScale: ["The count of the workload was read.", NOTHING],
  ReadyForNewScale: ["No window or limit holds the count.", NOTHING],
  ReadyForScale: ["The last scale is old enough for another one.", NOTHING],
  SucceededRescale: ["The last scale was made.", NOTHING],
  SuccessfulScale: ["The last scale was made.", NOTHING],
  ValidMetricFound: ["A count was calculated from the metric in the message.", NOTHING],
  NotScaling: [
    "A count was calculated, and another one is not written now.",
    "Nothing. `explain` says what holds it.",
  ],
  ScaledToZero: ["The autoscaler has scaled the workload to zero.", NOTHING],
  NotScaledToZero: ["The autoscaler has not scaled the workload to zero.", NOTHING],
  DatadogMonitorOK: ["The Datadog monitor is OK.", NOTHING],
  Breached: [
    "The metrics ask for this direction now.",
    "Nothing. The condition measures how long.",
  ],
  Within: ["The metrics do not ask for this direction.", NOTHING],
  NotMeasured: ["The metrics were not looked at in this sync.", NOTHING],
  BelowActivation: ["Every metric with an activation threshold is at or below it.", NOTHING],
  InUse: ["A metric is above its activation threshold.", NOTHING],
  SuccessfulRescale: ["Event: a scale was made.", NOTHING],
  Scaling: ["Event of a WatermarkPodAutoscaler: a scale was made.", NOTHING],
  FailedRescale: ["Event: a scale was refused.", "The message has the words of the API server."],
  FailedScale: [
    "Event and condition of a WatermarkPodAutoscaler: a scale was refused.",
    "The message has the words of the API server.",
  ],
  MetricsCost: [
    "Event: what AWS takes a month for the metrics of an object. From 10 dollars on it is a warning.",
    "A longer `everySeconds` costs less (docs/sources.md).",
  ],
  PodsRefused: [
    "The cluster refuses pods of the workload, as its condition `ReplicaFailure` says: a full ResourceQuota, a webhook, or a missing service account.",
    "Raise the quota or mend what the message names. `tidemark doctor NAME --ask-cluster` says how much room a quota has.",
  ],
  ForeignPods: [
    "Pods match the selector of the workload that belong to another one, or to none. The message says whether they count.",
    "Give each workload a label of its own in its selector. With `rules: native` and `pods: owned` they do not count.",
  ],
  FinishedPods: [
    "Pods that the selector matches have ended, and are still listed. The message says whether they count.",
    "Delete them: `kubectl delete pod --field-selector status.phase=Succeeded`. A cluster with `--hpa-version 1.38`, or `pods: owned`, leaves them out.",
  ],
  OldSamples: [
    "Samples of pods are older than 180 s, or than `maxAgeSeconds`.",
    "Look at metrics-server, or at the adapter: do its values still move?",
  ],
  RolloutUnderWay: [
    "Pods of the target are of another revision than most: a rollout is under way.",
    "Nothing, unless it lasts. `pods: stable` leaves out the values of a canary.",
  ],
  StatusOverwritten: [
    "Event: a person or another program wrote the status of a PodAutoscaler, and Tidemark writes it again.",
    "Nothing; no decision depends on the status. Leave `status` out of backups and restores, and edit the spec.",
  ],
  UnknownRescale: [
    "Event: whether a scale took effect is not known. It counts as made.",
    "Wait for the next sync.",
  ],
};

interface ReasonGroup {
  readonly title: string;
  /** Where such a reason is found. */
  readonly about: string;
  readonly texts: ReasonTexts;
}

/**
 * Every reason that Tidemark gives, by what it is about. docs/reasons.md is written from this list,
 * and a test compares it with the words in the code.
 */
export const REASON_GROUPS: readonly ReasonGroup[] = [
  {
    title: "Why it scaled",
    about: "The reason of a scale event. What limited its size is in the message and in the steps.",
    texts: SCALES,
  },
  {
    title: "Why the count stays",
    about: "The reason of a hold that nothing prevents.",
    texts: STEADY,
  },
  {
    title: "What limits",
    about:
      "A window, a rate or a bound that cut what the metrics ask for. It is the reason of a hold, and a limit in the steps of a scale.",
    texts: LIMITS,
  },
  { title: "What holds", about: "Something beside the rules holds the count.", texts: HOLDS },
  {
    title: "What holds the autoscaler of an object",
    about: "For autoscalers that are read from their cluster (`--specs cluster`).",
    texts: OBJECTS,
  },
  {
    title: "What fails",
    about: "Nothing is decided, and the workload keeps its count.",
    texts: FAILURES,
  },
  {
    title: "Conditions and Events",
    about:
      "In the words of the HPA controller and of the Watermark Pod Autoscaler, which dashboards and alerts know.",
    texts: CONDITIONS,
  },
];

export interface ReasonText {
  readonly name: string;
  readonly group: string;
  readonly means: string;
  readonly todo: string;
}

export const reasonTexts = (): readonly ReasonText[] =>
  REASON_GROUPS.flatMap(({ title, texts }) =>
    Object.entries(texts).map(([name, [means, todo]]) => ({ name, group: title, means, todo })),
  );

/** The text of a reason, whatever its case; else the nearest name that exists. */
export const reasonText = (
  name: string,
):
  | { readonly kind: "known"; readonly reason: ReasonText }
  | { readonly kind: "unknown"; readonly nearest?: string } => {
  const all = reasonTexts();
  const reason = all.find((known) => known.name.toLowerCase() === name.toLowerCase());
  if (reason) return { kind: "known", reason };
  const nearest = nearestName(
    name,
    all.map((known) => known.name),
  );
  return { kind: "unknown", ...(nearest !== undefined && { nearest }) };
};
