import { amount, choice, flag, group, integer, list, type ReadOf, time, words } from "../../fields/field-types.ts";
import { HPA_BLOCK } from "./hpa-block.ts";
import { METRIC_FIELDS } from "./metric-fields.ts";
import { SCHEDULE } from "./schedule-fields.ts";
import { WATERMARK_BLOCK } from "./watermark-block.ts";

/** Limit of `rules: native`; the other forms have bounds of their own. */
export const MOST_REPLICAS = 1_000_000;

const HOUR = 3_600;
const DAY = 86_400;
const MOST_REVERSALS = 100;
const LEAST_POLICY = 0.001;
/** A limit for policies, so that windows stay bounded. */
const MOST_POLICY = 1_000_000;

const UP_POLICIES = [
  { type: "Percent", value: 100, periodSeconds: 15 },
  { type: "Pods", value: 4, periodSeconds: 15 },
];
const DOWN_POLICIES = [{ type: "Percent", value: 100, periodSeconds: 15 }];

const POLICY = group("One policy.", {
  type: choice(
    "Pods: a number of pods. Percent: of the count at the start of the period. Factor: the count at the start of the period times the factor, or divided by it.",
    ["Pods", "Percent", "Factor"],
    { required: true },
  ),
  value: amount("The amount; whole for Pods, above 1 for Factor.", { required: true, least: LEAST_POLICY, most: MOST_POLICY }),
  periodSeconds: integer("In how long.", { required: true, least: 1, most: DAY }),
});

const rules = (way: "up" | "down", stabilizationWindowSeconds: number, policies: readonly unknown[]) =>
  group(
    `When and how fast the count goes ${way}.`,
    {
      sustainSeconds: integer(`How long the metrics must ask for it without interruption.`, { default: 0, least: 0, most: HOUR }),
      stabilizationWindowSeconds: integer(
        way === "up"
          ? "The count stays at or below the lowest proposal of this time."
          : "The count stays at or above the highest proposal of this time.",
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
        "Which changes the policies count. Both: changes of the other direction inside the period give room, as in autoscaling/v2. SameDirection: they do not count.",
        ["Both", "SameDirection"],
        { default: "Both" },
      ),
      stepMinimum: integer("A smaller change is not made.", { default: 1, least: 1, most: MOST_REPLICAS }),
      replicaModulo: integer("Counts are rounded up to multiples of this; minReplicas and maxReplicas take precedence.", {
        default: 1,
        least: 1,
        most: MOST_REPLICAS,
      }),
      forbiddenAfterEventSeconds: integer("No scale in this direction for this time after a scale of either direction.", {
        default: 0,
        least: 0,
        most: DAY,
      }),
    },
    { default: {} },
  );

/** Fields of the spec that every form obeys, and that Tidemark itself reads. */
export const GOVERNING = ["rules", "owner", "dryRun", "pausedUntil", "schedule"] as const;

/** The fields of the spec of a PodAutoscaler. rule-table.ts has the rules between them. */
export const SPEC_FIELDS = {
  rules: choice(
    "The rules that decide: Tidemark's own, those of autoscaling/v2, or those of the Watermark Pod Autoscaler.",
    ["native", "hpa", "watermark"],
    {
      default: "native",
    },
  ),
  owner: words("The owner, for people who read the autoscaler. The topic of the owner gets its problems."),
  scaleTargetRef: group(
    "The workload that is scaled, in the namespace of the autoscaler.",
    {
      apiVersion: words("Its API version, such as apps/v1."),
      kind: words("Its kind, such as Deployment.", { required: true, segment: true }),
      name: words("Its name.", { required: true, segment: true }),
    },
    { required: true },
  ),
  minReplicas: integer("Fewest pods; 0 only with rules: hpa, at most 1000000 with rules: native. Fewer while idle.", { default: 1, least: 0 }),
  maxReplicas: integer("Most pods; at most 1000000 with rules: native.", { required: true, least: 1 }),
  metrics: list(
    "The metrics; at least one. Only with rules: native.",
    group("One metric; exactly one of its sources.", METRIC_FIELDS),
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
  flapBudget: group(
    "How often the count may change its direction. It may always grow, and shrinks only while a reversal is left for growing again.",
    {
      reversals: integer("Most scales against the direction of the scale before.", { required: true, least: 1, most: MOST_REVERSALS }),
      periodSeconds: integer("In how long.", { required: true, least: 1, most: HOUR }),
    },
  ),
  idle: group("Scale to zero, or to another count below minReplicas, while no metric is above its activation threshold.", {
    replicas: integer("The count of an idle workload.", { default: 0, least: 0, most: MOST_REPLICAS }),
    afterSeconds: integer("How long no metric may be above its activation threshold before the count falls.", { default: 300, least: 0, most: DAY }),
  }),
  dryRun: flag("Decides and reports everything, and writes nothing.", { default: false }),
  pausedUntil: time("Nothing is written before this instant, RFC 3339."),
  schedule: SCHEDULE,
  hpa: HPA_BLOCK,
  watermark: WATERMARK_BLOCK,
} as const;

export const SPEC = group("The wanted state.", SPEC_FIELDS, { required: true });
export type SpecRead = ReadOf<typeof SPEC_FIELDS>;
export type MetricRead = SpecRead["metrics"][number];
export type RulesRead = SpecRead["scaleUp"];

/** The value of an unreadable metric. */
function emptyMetric(): ReadOf<typeof METRIC_FIELDS> {
  return { input: false, scaleUpOnly: false, onMissing: { action: "hold" } };
}
