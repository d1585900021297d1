import { says, unless, values, when } from "./demands.ts";
import { amount, choice, flag, group, integer, list, type ReadOf, time, words } from "./field.ts";
import { HPA_BLOCK } from "./hpa-block.ts";
import { METRIC_DEMANDS, METRIC_FIELDS } from "./metric-fields.ts";
import { MOST_REPLICAS, SPEC_DEMANDS } from "./spec-demands.ts";
import { WATERMARK_BLOCK } from "./watermark-block.ts";

const HOUR = 3_600;
const DAY = 86_400;
const MOST_REVERSALS = 100;
const LEAST_POLICY = 0.001;
/** Policies and periods without limits would make windows without bounds. */
const MOST_POLICY = 1_000_000;

const UP_POLICIES = [
  { type: "Percent", value: 100, periodSeconds: 15 },
  { type: "Pods", value: 4, periodSeconds: 15 },
];
const DOWN_POLICIES = [{ type: "Percent", value: 100, periodSeconds: 15 }];

const POLICY = group(
  "One policy.",
  {
    type: choice(
      "Pods: so many of them. Percent: of the count at the start of the period. Factor: times that count, or divided by it.",
      ["Pods", "Percent", "Factor"],
      { required: true },
    ),
    value: amount("How much; whole for Pods, above 1 for Factor.", { required: true, least: LEAST_POLICY, most: MOST_POLICY }),
    periodSeconds: integer("In how long.", { required: true, least: 1, most: DAY }),
  },
  {
    demands: [
      when(says("type", "Pods"), values({ value: { multipleOf: 1 } })),
      when(says("type", "Factor"), values({ value: { exclusiveMinimum: 1 } })),
    ],
  },
);

const rules = (way: "up" | "down", stabilizationWindowSeconds: number, policies: readonly unknown[]) =>
  group(
    `When and how fast the count goes ${way}.`,
    {
      sustainSeconds: integer(`How long the metrics must ask for it without a break.`, { default: 0, least: 0, most: HOUR }),
      stabilizationWindowSeconds: integer(
        way === "up" ? "Never above the lowest count wanted in so long." : "Never below the highest count wanted in so long.",
        { default: stabilizationWindowSeconds, least: 0, most: DAY },
      ),
      selectPolicy: choice(
        "Max takes the policy that allows most, Min the one that allows least; Disabled forbids the direction.",
        ["Max", "Min", "Disabled"],
        {
          default: "Max",
        },
      ),
      policies: list("How much the count may change per period.", POLICY, {}, { default: policies }),
      countedChanges: choice(
        "Which changes the policies count. Both: what the other direction did inside the period is given back first, as behavior of autoscaling/v2 has it. SameDirection: it changes nothing.",
        ["Both", "SameDirection"],
        { default: "Both" },
      ),
      stepMinimum: integer("A wanted change of fewer pods is not made.", { default: 1, least: 1, most: MOST_REPLICAS }),
      replicaModulo: integer("Counts are multiples of this, rounded up; minReplicas and maxReplicas go before it.", {
        default: 1,
        least: 1,
        most: MOST_REPLICAS,
      }),
      forbiddenAfterEventSeconds: integer("Nothing in this direction for so long after a scale of either direction.", {
        default: 0,
        least: 0,
        most: DAY,
      }),
    },
    { default: {}, demands: [unless(says("selectPolicy", "Disabled"), values({ policies: { minItems: 1 } }))] },
  );

/** The spec of a PodAutoscaler, field by field. */
export const SPEC_FIELDS = {
  rules: choice(
    "Whose arithmetic decides: Tidemark's own, that of autoscaling/v2, or that of the Watermark Pod Autoscaler.",
    ["native", "hpa", "watermark"],
    {
      default: "native",
    },
  ),
  owner: words("Who answers for it; for people."),
  scaleTargetRef: group(
    "The workload that is scaled, in the namespace of the autoscaler.",
    {
      apiVersion: words("Its API version, such as apps/v1."),
      kind: words("Its kind, such as Deployment.", { required: true }),
      name: words("Its name.", { required: true }),
    },
    { required: true },
  ),
  minReplicas: integer("Fewest pods; 0 only with rules: hpa, at most 1000000 with rules: native. Fewer while idle.", { default: 1, least: 0 }),
  maxReplicas: integer("Most pods; at most 1000000 with rules: native.", { required: true, least: 1 }),
  metrics: list(
    "What is measured; at least one. Only with rules: native.",
    group("One metric; exactly one of its sources.", METRIC_FIELDS, { demands: METRIC_DEMANDS }),
    emptyMetric(),
    {
      default: [],
    },
  ),
  combine: choice("How the proposals of the metrics become one: the largest, the smallest, or their mean rounded up.", ["Max", "Min", "Mean"], {
    default: "Max",
  }),
  scaleUp: rules("up", 0, UP_POLICIES),
  scaleDown: rules("down", 300, DOWN_POLICIES),
  flapBudget: group("How often the count may turn round. It may always grow, and shrinks only while a turn is left for the way up again.", {
    reversals: integer("At most so many scales against the direction of the one before.", { required: true, least: 1, most: MOST_REVERSALS }),
    periodSeconds: integer("In how long.", { required: true, least: 1, most: HOUR }),
  }),
  idle: group("Scale to zero, or to another count below minReplicas, while no metric is above its activation threshold.", {
    replicas: integer("The count of an idle workload.", { default: 0, least: 0, most: MOST_REPLICAS }),
    afterSeconds: integer("How long it must be out of use.", { default: 300, least: 0, most: DAY }),
  }),
  dryRun: flag("Everything is decided and told, nothing is written.", { default: false }),
  pausedUntil: time("Nothing is written before this instant, RFC 3339."),
  hpa: HPA_BLOCK,
  watermark: WATERMARK_BLOCK,
} as const;

export const SPEC = group("What is wanted.", SPEC_FIELDS, { required: true, demands: SPEC_DEMANDS });
export type SpecRead = ReadOf<typeof SPEC_FIELDS>;
export type MetricRead = SpecRead["metrics"][number];
export type RulesRead = SpecRead["scaleUp"];

/** What stands for a metric that could not be read. */
function emptyMetric(): ReadOf<typeof METRIC_FIELDS> {
  return { scaleUpOnly: false, onMissing: { action: "hold" } };
}
