import type { Json } from "../json.ts";
import { absent, all, either, exactlyOne, given, says, values, when } from "./demands.ts";
import { amount, choice, flag, group, integer, list, texts, words } from "./field.ts";

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
const MOST_PERCENT = 1_000_000;

const RESOURCES = either(given("resource"), given("containerResource"));
const WHOLE_PERCENT = { multipleOf: 1, maximum: MOST_PERCENT };
const measures = (...known: readonly string[]): Json => values({ measure: { enum: [...known, null] } });

/** What the fields of one metric ask of each other. */
export const METRIC_DEMANDS: readonly Json[] = [
  exactlyOne("resource", "containerResource", "pods", "object", "external", "namespace"),
  when(RESOURCES, measures("Percent", "Average")),
  when(given("pods"), measures("Average")),
  when(either(given("object"), given("external"), given("namespace")), measures("Average", "Total")),
  exactlyOne("target", "watermarks"),
  when(given("watermarks"), absent("tolerance")),
  when(
    all(RESOURCES, { not: says("measure", "Average") }),
    values({ target: WHOLE_PERCENT, watermarks: values({ low: WHOLE_PERCENT, high: WHOLE_PERCENT }) }),
  ),
  when(either(RESOURCES, given("pods")), absent("activation")),
];

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
    { default: {}, demands: [when(says("action", "fallback"), all(given("replicas"), given("afterSeconds")), absent("replicas", "afterSeconds"))] },
  ),
  activation: amount("With idle: the workload is in use while the whole value is above this. Object, external and namespace metrics only.", {
    least: 0,
  }),
} as const;
