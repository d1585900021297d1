import type { About } from "./field.ts";
import { amount, carried, choice, flag, group, integer, list, texts, words } from "./field.ts";

const LABELS = group("Labels that the series of the metric must carry.", {
  matchLabels: texts("Label by label, the value it must have."),
  matchExpressions: list(
    "Further demands on labels.",
    group("One demand.", {
      key: words("The label.", { required: true }),
      operator: choice("How it is compared.", ["In", "NotIn", "Exists", "DoesNotExist"], { required: true }),
      values: list("Values of In and NotIn.", words("One value."), ""),
    }),
    {},
  ),
});

const METRIC = words("Name of the metric, as the metrics API knows it.", { required: true });
const RESOURCE = words('The resource: "cpu", "memory", or another one that pods request.', { required: true });
const OF = choice("What a percentage is taken of.", ["request", "limit"], { default: "request" });
const MOST_TOLERANCE = 100;

/** One metric: a source, how it is measured, and the level it is held to. */
export const METRIC_FIELDS = {
  name: words("Name of the metric in this manifest, unique; by default that of its resource or metric."),
  resource: group("Use of a resource by the pods.", { name: RESOURCE, of: OF }),
  containerResource: group("Use of a resource by one container of each pod.", {
    name: RESOURCE,
    container: words("Name of the container.", { required: true }),
    of: OF,
  }),
  pods: group("A custom metric of each pod.", { metric: METRIC, selector: LABELS }),
  object: group("A custom metric of one object of the namespace.", {
    describedObject: group(
      "The object.",
      {
        apiVersion: words("Its API version."),
        kind: words("Its kind.", { required: true }),
        name: words("Its name.", { required: true }),
      },
      { required: true },
    ),
    metric: METRIC,
    selector: LABELS,
  }),
  external: group("A metric of something outside the cluster.", { metric: METRIC, selector: LABELS }),
  namespace: group("A custom metric of the namespace itself.", { metric: METRIC, selector: LABELS }),
  measure: choice(
    "Percent of request or limit (resources), Average per pod, or the Total value. By default Percent for resources, Average for pods, Total for the others.",
    ["Percent", "Average", "Total"],
  ),
  target: amount("The one value that is aimed at; whole percents with Percent. Either this or watermarks.", { least: 0.001 }),
  tolerance: group("How far from the target nothing happens, as a share of it; without it the cluster's tolerance counts.", {
    up: amount("Above the target.", { least: 0, most: MOST_TOLERANCE }),
    down: amount("Below the target; from 1 on the metric never asks for fewer pods.", { least: 0, most: MOST_TOLERANCE }),
  }),
  watermarks: group("Two levels between which nothing happens, both included. Either these or target.", {
    low: amount("Below it the count shrinks.", { required: true, least: 0.001 }),
    high: amount("Above it the count grows.", { required: true, least: 0.001 }),
  }),
  scaleUpOnly: flag("The metric can ask for more pods, never for fewer.", { default: false }),
  onMissing: group(
    "What happens while the metric cannot be read. The count never shrinks then.",
    {
      action: choice(
        "hold keeps the count; scaleUpOnly lets the other metrics ask for more; fallback asks for a count after a time and holds before.",
        ["hold", "scaleUpOnly", "fallback"],
        { default: "hold" },
      ),
      replicas: integer("The fallback count: at least so many pods.", { least: 1 }),
      afterSeconds: integer("How long the metric must be missing before the fallback.", { least: 0, most: 86_400 }),
    },
    { default: {} },
  ),
  activation: amount("With idle: the workload is in use while the whole value is above this. Object, external and namespace metrics only.", {
    least: 0,
  }),
} as const;

const text = (meaning: string): About => ({ type: "text", meaning });
const whole = (meaning: string, more: Partial<About> = {}): About => ({ type: "integer", meaning, ...more });
const quantity = (meaning: string): About => ({ type: "quantity", meaning });
const object = (meaning: string, fields?: Readonly<Record<string, About>>): About => ({ type: "object", meaning, ...(fields && { fields }) });
const seconds = (meaning: string): About => whole(meaning, { least: 0 });

const RULES = object("How fast in this direction.", {
  stabilizationWindowSeconds: whole("Recommendations of so long ago still hold the count.", { least: 0, most: 3600 }),
  selectPolicy: { type: "choice", meaning: "Which policy counts.", choices: ["Max", "Min", "Disabled"] },
  policies: {
    type: "list",
    meaning: "Changes allowed per period.",
    items: object("One policy.", {
      type: { type: "choice", meaning: "What value counts.", choices: ["Pods", "Percent"] },
      value: whole("How much.", { least: 1 }),
      periodSeconds: whole("In how long.", { least: 1, most: 1800 }),
    }),
  },
  tolerance: quantity("How far from the target nothing happens."),
});

/** With `rules: hpa`: what a spec of autoscaling/v2 says beside target and bounds. */
export const HPA_BLOCK = carried("With rules: hpa, metrics and behavior as in autoscaling/v2 (docs/manifests.md).", {
  metrics: { type: "list", meaning: "As in autoscaling/v2.", items: object("One metric with its type and the block of that type.") },
  behavior: object("As in autoscaling/v2.", { scaleUp: RULES, scaleDown: RULES }),
  constraints: object("The draft block of rates (docs/manifests.md)."),
});

/** The one field of the block that is not the other form's own. */
export const COUNTS: About = {
  type: "choice",
  meaning: "What counts grow from: the ready pods, or the current count as in the multi-threshold form.",
  choices: ["ready", "current"],
  default: "ready",
};

/** With `rules: watermark`: what a WatermarkPodAutoscaler says beside target and bounds. */
export const WATERMARK_BLOCK = carried("With rules: watermark, the fields of a WatermarkPodAutoscaler (docs/manifests.md).", {
  counts: COUNTS,
  metrics: { type: "list", meaning: "External and Resource metrics with their marks.", items: object("One metric.") },
  recommender: object("An external recommender in the place of metrics."),
  algorithm: text("absolute, or average to divide values by the ready pods."),
  tolerance: quantity("Width added to each mark, a share of it."),
  scaleUpLimitFactor: quantity("Percent of the count that one step may add."),
  scaleDownLimitFactor: quantity("Percent of the count that one step may take away."),
  upscaleForbiddenWindowSeconds: seconds("No scale up so long after any scale."),
  downscaleForbiddenWindowSeconds: seconds("No scale down so long after any scale."),
  upscaleDelayAboveWatermarkSeconds: seconds("A breach of the high mark must last so long."),
  downscaleDelayBelowWatermarkSeconds: seconds("A breach of the low mark must last so long."),
  replicaScalingAbsoluteModulo: whole("Counts are multiples of this.", { least: 1 }),
  convergeTowardsWatermark: text("highwatermark or lowwatermark: between the marks the count moves towards it."),
  tolerateZero: { type: "flag", meaning: "A value of 0 is taken as it is." },
  minAvailableReplicaPercentage: whole("Percent of the pods that must be ready.", { most: 100 }),
  readinessDelaySeconds: seconds("How long a starting pod is left out."),
});
