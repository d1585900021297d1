import { int32, listOf, objectOf, quantity, type ReadAs, text } from "../../fields/shape.ts";
import { parseQuantity, type Quantity, signOf } from "../../model/quantity.ts";
import { CROSS_VERSION_REFERENCE, LABEL_SELECTOR, MARKS, type Metric, type Target } from "./v2-shape.ts";

/** Metrics of v2alpha1, v2beta1 and the annotation of v1, with the target's fields beside the name (hpa.md 1.2, proposals.md §2). */
export const LEGACY_METRICS = listOf(
  objectOf({
    type: text,
    object: objectOf({
      target: CROSS_VERSION_REFERENCE,
      metricName: text,
      targetValue: quantity,
      selector: LABEL_SELECTOR,
      averageValue: quantity,
      ...MARKS,
    }),
    external: objectOf({ metricName: text, metricSelector: LABEL_SELECTOR, targetValue: quantity, targetAverageValue: quantity, ...MARKS }),
    pods: objectOf({ metricName: text, targetAverageValue: quantity, selector: LABEL_SELECTOR, ...MARKS }),
    resource: objectOf({ name: text, metricSelector: LABEL_SELECTOR, targetAverageUtilization: int32, targetAverageValue: quantity, ...MARKS }),
    containerResource: objectOf({ name: text, container: text, targetAverageUtilization: int32, targetAverageValue: quantity, ...MARKS }),
  }),
  {},
);

export type LegacyMetric = ReadAs<typeof LEGACY_METRICS>[number];

/** These forms cannot leave the value out: an absent value is 0, and then refused as not positive. */
const ZERO = parseQuantity("0");

export const convertedMetric = ({ type, object, external, pods, resource, containerResource }: LegacyMetric): Metric => ({
  type,
  object: object && {
    describedObject: object.target,
    metric: { name: object.metricName, selector: object.selector },
    ...levels(object, () => objectTarget(object.targetValue ?? ZERO, object.averageValue)),
  },
  external: external && {
    metric: { name: external.metricName, selector: external.metricSelector },
    ...levels(external, () => ({
      type: external.targetValue === undefined ? "AverageValue" : "Value",
      value: external.targetValue,
      averageValue: external.targetAverageValue,
    })),
  },
  pods: pods && {
    metric: { name: pods.metricName, selector: pods.selector },
    ...levels(pods, () => ({ type: "AverageValue", averageValue: pods.targetAverageValue ?? ZERO })),
  },
  resource: resource && { name: resource.name, metricSelector: resource.metricSelector, ...levels(resource, () => usageTarget(resource)) },
  containerResource: containerResource && {
    name: containerResource.name,
    container: containerResource.container,
    ...levels(containerResource, () => usageTarget(containerResource)),
  },
});

interface WrittenMarks {
  readonly highWatermark?: Quantity | undefined;
  readonly lowWatermark?: Quantity | undefined;
}

/** The marks, or the target of the other fields. */
const levels = ({ highWatermark, lowWatermark }: WrittenMarks, target: () => Target): WrittenMarks & { readonly target?: Target } =>
  highWatermark === undefined && lowWatermark === undefined ? { target: target() } : { highWatermark, lowWatermark };

const objectTarget = (value: Quantity | undefined, averageValue: Quantity | undefined): Target => {
  if (averageValue === undefined) return { type: "Value", value };
  // In these forms a value of 0 means absent.
  return { type: "AverageValue", value: value && signOf(value) === 0 ? undefined : value, averageValue };
};

interface Usage {
  readonly targetAverageUtilization?: number | undefined;
  readonly targetAverageValue?: Quantity | undefined;
}

const usageTarget = ({ targetAverageUtilization, targetAverageValue }: Usage): Target => ({
  type: targetAverageUtilization === undefined ? "AverageValue" : "Utilization",
  averageUtilization: targetAverageUtilization,
  averageValue: targetAverageValue,
});

/** The v2 names and the names of these forms, longest first. */
const WRITTEN: readonly (readonly [string, string])[] = [
  [".object.describedObject", ".object.target"],
  [".object.metric.name", ".object.metricName"],
  [".object.target.value", ".object.targetValue"],
  [".object.target.averageValue", ".object.averageValue"],
  [".external.metric.name", ".external.metricName"],
  [".external.target.value", ".external.targetValue"],
  [".external.target.averageValue", ".external.targetAverageValue"],
  [".pods.metric.name", ".pods.metricName"],
  [".pods.target.averageValue", ".pods.targetAverageValue"],
  [".resource.target.averageUtilization", ".resource.targetAverageUtilization"],
  [".resource.target.averageValue", ".resource.targetAverageValue"],
  [".containerResource.target.averageUtilization", ".containerResource.targetAverageUtilization"],
  [".containerResource.target.averageValue", ".containerResource.targetAverageValue"],
];

/** The path of a metric's field in these forms; `undefined` when the name is the same. */
export const legacySource = (field: string): string | undefined => {
  const renamed = WRITTEN.find(([name]) => field.includes(name));
  return renamed && field.replace(renamed[0], renamed[1]);
};
