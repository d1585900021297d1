import { present } from "../../model/json.ts";
import { floatOf, milliOf } from "../../model/quantity.ts";
import { labelSelectorOf } from "../../sources/metric-identifier.ts";
import type { TargetRef } from "../../model/spec-common.ts";
import type {
  Behavior,
  HpaMetric,
  HpaSpec,
  MetricIdentifier,
  MetricTarget,
  ScalingPolicy,
  ScalingRules,
} from "../../model/spec-hpa.ts";
import {
  metricBlock,
  type DraftBehavior,
  type DraftSpec,
  type Identifier,
  type ManifestMetric,
  type Reference,
  type Rules,
  type ManifestTarget,
} from "./v2-shape.ts";

/**
 * Converts a valid draft with defaults to the spec, with quantities as numbers. Members that
 * validation requires fall back to zero values.
 */
export const hpaSpec = (
  draft: DraftSpec,
  behavior: Behavior | undefined,
): Omit<HpaSpec, "dialect"> => ({
  target: targetRef(draft.scaleTargetRef),
  minReplicas: draft.minReplicas ?? 1,
  maxReplicas: draft.maxReplicas ?? 1,
  metrics: (draft.metrics ?? []).map(withMarks),
  ...(behavior && { behavior }),
});

export const targetRef = ({
  apiVersion = "",
  kind = "",
  name = "",
}: Reference = {}): TargetRef => ({ apiVersion, kind, name });

/** A single mark counts as both (proposals.md §5). */
const withMarks = (metric: ManifestMetric): HpaMetric => {
  const { highWatermark, lowWatermark } = metricBlock(metric) ?? {};
  const [high, low] = [highWatermark ?? lowWatermark, lowWatermark ?? highWatermark];
  return high && low
    ? { ...metricOf(metric), marks: { highMilli: milliOf(high), lowMilli: milliOf(low) } }
    : metricOf(metric);
};

const metricOf = ({
  type = "",
  object,
  external,
  pods,
  resource,
  containerResource,
}: ManifestMetric): HpaMetric => {
  switch (type) {
    case "Object":
      return {
        type,
        describedObject: describedObject(object?.describedObject),
        metric: identifier(object?.metric),
        target: targetOf(object?.target),
      };
    case "External":
      return { type, metric: identifier(external?.metric), target: targetOf(external?.target) };
    case "Pods":
      return { type, metric: identifier(pods?.metric), target: targetOf(pods?.target) };
    case "ContainerResource":
      return {
        type,
        name: containerResource?.name ?? "",
        container: containerResource?.container ?? "",
        target: targetOf(containerResource?.target),
      };
    default:
      return {
        type: "Resource",
        name: resource?.name ?? "",
        target: targetOf(resource?.target),
        ...(resource?.metricSelector && { selector: labelSelectorOf(resource.metricSelector) }),
      };
  }
};

const describedObject = ({ apiVersion, kind = "", name = "" }: Reference = {}) => ({
  ...(apiVersion && { apiVersion }),
  kind,
  name,
});

const identifier = ({ name = "", selector }: Identifier = {}): MetricIdentifier =>
  present({ name, selector: selector && labelSelectorOf(selector) });

const targetOf = ({
  type = "",
  value,
  averageValue,
  averageUtilization,
}: ManifestTarget = {}): MetricTarget =>
  present({
    type,
    valueMilli: value && milliOf(value),
    averageValueMilli: averageValue && milliOf(averageValue),
    averageUtilization,
  });

/** The rules of both directions from a behavior with defaults. */
export const behaviorOf = (behavior: DraftBehavior | undefined): Behavior | undefined =>
  behavior && {
    scaleUp: rulesOf(behavior.scaleUp ?? {}),
    scaleDown: rulesOf(behavior.scaleDown ?? {}),
  };

const rulesOf = ({
  stabilizationWindowSeconds,
  selectPolicy,
  policies,
  tolerance,
}: Rules): ScalingRules => ({
  ...(stabilizationWindowSeconds !== undefined && { stabilizationWindowSeconds }),
  selectPolicy: selectPolicy === "Min" || selectPolicy === "Disabled" ? selectPolicy : "Max",
  policies: (policies ?? []).map(
    ({ type, value = 0, periodSeconds = 0 }): ScalingPolicy => ({
      type: type === "Percent" ? "Percent" : "Pods",
      value,
      periodSeconds,
    }),
  ),
  ...(tolerance && { tolerance: floatOf(tolerance) }),
});
