import type { ControllerEvent, GaugeWrite, MetricOutcome } from "../../../model/decision.ts";
import { type ConditionReport, conditionOf } from "../../shared/steps.ts";
import { forbiddenSentence } from "../../shared/forbidden.ts";

/**
 * One thing that a function of these rules says beside its result. A step adds the notes of its
 * functions to the sync, in their order (sync.ts).
 */
export type StepNote =
  | { readonly kind: "condition"; readonly report: ConditionReport }
  | { readonly kind: "event"; readonly event: ControllerEvent }
  | { readonly kind: "gauge"; readonly write: GaugeWrite }
  | { readonly kind: "metric"; readonly outcome: MetricOutcome };

export const condition = (report: ConditionReport): StepNote => ({ kind: "condition", report });

export const eventNote = (
  type: ControllerEvent["type"],
  reason: string,
  message: string,
): StepNote => ({
  kind: "event",
  event: { type, reason, message },
});

const NO_LABELS: GaugeWrite["labels"] = {};

export const gauge = (name: string, value: number, labels = NO_LABELS): StepNote => ({
  kind: "gauge",
  write: { name, labels, value },
});

/** Takes a series away that was written before, in this sync or earlier. */
export const dropGauge = (name: string, labels = NO_LABELS): StepNote => ({
  kind: "gauge",
  write: { name, labels, value: null },
});

export const metricNote = (outcome: MetricOutcome): StepNote => ({ kind: "metric", outcome });

/**
 * Every condition of the dialect, one constructor each, in the words of watermark.md 2.12:
 * dashboards and alerts match on them.
 */

const bool = (truth: boolean): "True" | "False" => (truth ? "True" : "False");

const scalingActive = conditionOf("ScalingActive");
export const processing = scalingActive(
  "False",
  "FailedProcessWPA",
  "Error happened while processing the WPA",
);
export const validMetric = (name: string, because: string): ConditionReport => ({
  type: "ScalingActive",
  status: "True",
  reason: "ValidMetricFound",
  message: `the WPA was able to successfully calculate a replica count from ${name}${because === "" ? "" : ` because: ${because}`}`,
});
export const failedMetric = (reason: string, error: string): ConditionReport =>
  scalingActive("False", reason, `the WPA was unable to compute the replica count: ${error}`);
export const scalingDisabled = scalingActive(
  "False",
  "ScalingDisabled",
  "scaling is disabled since the replica count of the target is zero",
);
export const notScaling = (target: string, wanted: number, lastScale: string): ConditionReport => ({
  type: "ScalingActive",
  status: "True",
  reason: "NotScaling",
  message: `the WPA was able to successfully calculate a replica count and decided not to scale ${target} to ${wanted} (last scale time was ${lastScale} )`,
});

const able = conditionOf("AbleToScale");
export const gotScale = able(
  "True",
  "SucceededGetScale",
  "the WPA controller was able to get the target's current scale",
);
export const readyForScale = able(
  "True",
  "ReadyForScale",
  "the last scaling time was sufficiently old as to warrant a new scale",
);
export const scaled = (count: number): ConditionReport =>
  able(
    "True",
    "SuccessfulScale",
    `the WPA controller was able to update the target scale to ${count}`,
  );
export const failedScale = (error: string): ConditionReport =>
  able(
    "False",
    "FailedScale",
    `the WPA controller was unable to update the target scale: ${error}`,
  );
export const failedSpecCheck = (problem: string): ConditionReport =>
  able("False", "FailedSpecCheck", `Invalid WPA specification: ${problem}`);
export const failedProcess = able(
  "False",
  "FailedProcessWPA",
  "Error happened while processing the WPA",
);
export type LimitReason =
  | "ScaleDownLimit"
  | "TooFewReady"
  | "ScaleUpLimit"
  | "TooFewReplicas"
  | "TooManyReplicas"
  | "DesiredWithinRange"
  | "";
const LIMITS: Readonly<Record<LimitReason, string>> = {
  ScaleDownLimit: "the desired replica count is decreasing faster than the maximum scale rate",
  ScaleUpLimit: "the desired replica count is increasing faster than the maximum scale rate",
  TooFewReady: "fewer pods are ready than would be kept, so none is taken away",
  TooFewReplicas: "the desired replica count is below the minimum replica count",
  TooManyReplicas: "the desired replica count is above the maximum replica count",
  DesiredWithinRange: "the desired count is within the acceptable range",
  "": "",
};
export const limitSentence = (reason: LimitReason): string => LIMITS[reason];
const scalingLimited = conditionOf("ScalingLimited");
export const limited = (changed: boolean, reason: LimitReason): ConditionReport =>
  scalingLimited(bool(changed), reason, LIMITS[reason]);

export const dryRunMode = (on: boolean): ConditionReport =>
  on
    ? {
        type: "DryRun",
        status: "True",
        reason: "DryRun mode enabled",
        message: "Scaling changes won't be applied",
      }
    : {
        type: "DryRun",
        status: "False",
        reason: "DryRun mode disabled",
        message: "Scaling changes can be applied",
      };

const aboveMark = conditionOf("AboveHighWatermark");
const belowMark = conditionOf("BelowLowWatermark");
export const aboveHigh = (above: boolean): ConditionReport =>
  aboveMark(
    bool(above),
    "Value above High Watermark",
    "Allow upscaling if the value stays over the Watermark",
  );
/** The reason says "above" for the low mark as well; alerts know it so. */
export const belowLow = (below: boolean): ConditionReport =>
  belowMark(
    bool(below),
    "Value above Low Watermark",
    "Allow downscaling if the value stays under the Watermark",
  );

const TO_HIGH = "Allow downscaling to converge to the High Watermark";
const TO_LOW = "Allow upscaling to converge to the Low Watermark";
const STABLE_ONLY = "Converging to Watermark only allowed in stable regime";
const BETWEEN = "Value between Watermarks";
const converging = conditionOf("ConvergeToWatermark");
export const convergeOff = converging("False", "Feature not enabled", BETWEEN);
export const convergeAllowed = (mark: "highwatermark" | "lowwatermark"): ConditionReport =>
  converging("True", mark === "highwatermark" ? TO_HIGH : TO_LOW, BETWEEN);
export const convergeBlocked = (mark: "highwatermark" | "lowwatermark"): ConditionReport =>
  converging(
    "False",
    mark === "highwatermark" ? TO_HIGH : TO_LOW,
    "Proposal could lead to an unstable regime",
  );
const OUTSIDE = { above: TO_HIGH, below: STABLE_ONLY } as const;
export const convergeOutside = (side: keyof typeof OUTSIDE): ConditionReport =>
  converging("False", OUTSIDE[side], STABLE_ONLY);

const blocking = conditionOf("ScalingBlocked");
export const monitorMissing = (monitor: string): ConditionReport =>
  blocking(
    "True",
    "FailedGetDatadogMonitor",
    `monitor ${monitor} not found, blocking the WPA from proceeding`,
  );
export const monitorWithoutState = (monitor: string): ConditionReport =>
  blocking(
    "True",
    "DatadogMonitorNotOK",
    `monitor ${monitor} state not found, blocking the WPA from proceeding`,
  );
export const monitorNotOk = (monitor: string, state: string): ConditionReport =>
  blocking(
    "True",
    "DatadogMonitorNotOK",
    `monitor ${monitor} is in ${state} state, blocking the WPA from proceeding`,
  );
export const monitorOk = (monitor: string): ConditionReport =>
  blocking(
    "False",
    "DatadogMonitorOK",
    `monitor ${monitor} is in a OK state, allowing the WPA from proceeding`,
  );
export const lifecycleUnreadable = (text: string): ConditionReport =>
  blocking(
    "False",
    "FailedGetDatadogMonitor",
    `Lifecycle Control is not correctly enabled: strconv.ParseBool: parsing "${text}": invalid syntax`,
  );

/** Why a step may not be taken yet, for people; the reason is a word of its own. */
export const gateSentence = (reason: string): string => GATES.get(reason) ?? reason;

const GATES: ReadonlyMap<string, string> = new Map([
  ["BackoffUpscale", forbiddenSentence("upscale")],
  ["BackoffDownscale", forbiddenSentence("downscale")],
  [
    "AboveHighWatermarkNotSustained",
    "no value has been above its high watermark for the upscale delay",
  ],
  [
    "BelowLowWatermarkNotSustained",
    "no value has been below its low watermark for the downscale delay",
  ],
]);
