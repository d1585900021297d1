import { type ConditionReport, conditionOf } from "../../shared/steps.ts";

/** Every condition that the `hpa` dialect reports, in the controller's own words (hpa.md 2.7). */
const ableToScale = conditionOf("AbleToScale");
const scalingActive = conditionOf("ScalingActive");
const scalingLimit = conditionOf("ScalingLimited");

export const failedGetScale = (error: string): ConditionReport =>
  ableToScale(
    "False",
    "FailedGetScale",
    `the HPA controller was unable to get the target's current scale: ${error}`,
  );
export const SUCCEEDED_GET_SCALE = ableToScale(
  "True",
  "SucceededGetScale",
  "the HPA controller was able to get the target's current scale",
);
export const READY_FOR_NEW_SCALE = ableToScale(
  "True",
  "ReadyForNewScale",
  "recommended size matches current size",
);
export const SCALE_DOWN_STABILIZED = ableToScale(
  "True",
  "ScaleDownStabilized",
  "recent recommendations were higher than current one, applying the highest recent recommendation",
);
export const SCALE_UP_STABILIZED = ableToScale(
  "True",
  "ScaleUpStabilized",
  "recent recommendations were lower than current one, applying the lowest recent recommendation",
);
export const failedUpdateScale = (error: string): ConditionReport =>
  ableToScale(
    "False",
    "FailedUpdateScale",
    `the HPA controller was unable to update the target scale: ${error}`,
  );
export const succeededRescale = (replicas: number): ConditionReport =>
  ableToScale(
    "True",
    "SucceededRescale",
    `the HPA controller was able to update the target scale to ${replicas}`,
  );

export const SCALING_DISABLED = scalingActive(
  "False",
  "ScalingDisabled",
  "scaling is disabled since the replica count of the target is zero",
);
export const scalingInactive = (reason: string, message: string): ConditionReport =>
  scalingActive("False", reason, message);
export const validMetricFound = (name: string): ConditionReport =>
  scalingActive(
    "True",
    "ValidMetricFound",
    `the HPA was able to successfully calculate a replica count from ${name}`,
  );

/** What the last step before the write found. */
export type LimitReason =
  | "DesiredWithinRange"
  | "TooFewReplicas"
  | "TooManyReplicas"
  | "ScaleUpLimit"
  | "ScaleDownLimit";

export const LIMIT_SENTENCES: Readonly<Record<LimitReason, string>> = {
  DesiredWithinRange: "the desired count is within the acceptable range",
  TooFewReplicas: "the desired replica count is less than the minimum replica count",
  TooManyReplicas: "the desired replica count is more than the maximum replica count",
  ScaleUpLimit: "the desired replica count is increasing faster than the maximum scale rate",
  ScaleDownLimit: "the desired replica count is decreasing faster than the maximum scale rate",
};
export const scalingLimited = (limited: boolean, reason: LimitReason): ConditionReport =>
  scalingLimit(limited ? "True" : "False", reason, LIMIT_SENTENCES[reason]);
