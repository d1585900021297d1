import {
  amount,
  choice,
  flag,
  group,
  integer,
  words,
  listField,
  type ReadOf,
  time,
} from "../../fields/field-types.ts";
import { SOURCE_NAMES, SOURCES, type SourceName } from "../../sources/sources.ts";
import { NATIVE_FIELDS } from "../../policy/dialects.ts";
import { ADVICE } from "./advice-fields.ts";
import { HPA_BLOCK } from "./hpa-block.ts";
import { SCHEDULE } from "./schedule-fields.ts";
import { WATERMARK_BLOCK } from "../watermark/fields.ts";

const MOST_TOLERANCE = 100;

type SourceFields = { readonly [Name in SourceName]: (typeof SOURCES)[Name]["field"] };
const SOURCE_FIELDS = Object.fromEntries(
  SOURCE_NAMES.map((name) => [name, SOURCES[name].field]),
) as SourceFields;

/** The fields of one metric: its source, its measure and its target. */
export const METRIC_FIELDS = {
  name: words(
    "Unique name of the metric in this manifest; by default the name of its resource or metric.",
  ),
  ...SOURCE_FIELDS,
  measure: choice(
    "Percent of request or limit (resources), Average per pod, or the Total value. By default Percent for resources, Average for pods, Total for the others.",
    ["Percent", "Average", "Total"],
  ),
  everySeconds: integer(
    "A registered source is asked once in this time; by default in each sync, CloudWatch once in a period.",
    {
      least: 1,
      most: 3_600,
    },
  ),
  maxAgeSeconds: integer(
    "A value whose sample is older is missing. By default 180 for pods, and for a registered source three times everySeconds, at least 180 and the time that CloudWatch looks at; any age for an object or external metric, and for pods with pods: asHpa.",
    {
      least: 1,
      most: 3_600,
    },
  ),
  input: flag(
    "The metric is a part of formulas, and asks for no count of its own: it has neither target nor watermarks.",
    { default: false },
  ),
  target: amount("The wanted value; whole percents with Percent. Either this or watermarks.", {
    least: 0.001,
  }),
  tolerance: group(
    "The band around the target in which the count stays, as a share of it; without it the cluster's tolerance counts.",
    {
      up: amount("Above the target.", { least: 0, most: MOST_TOLERANCE }),
      down: amount("Below the target; from 1 on the metric never asks for fewer pods.", {
        least: 0,
        most: MOST_TOLERANCE,
      }),
    },
  ),
  watermarks: group(
    "Two levels between which the count stays, both inclusive. Either these or target.",
    {
      low: amount("Below it the count shrinks.", { required: true, least: 0.001 }),
      high: amount("Above it the count grows.", { required: true, least: 0.001 }),
    },
  ),
  scaleUpOnly: flag("The metric can ask for more pods, never for fewer.", { default: false }),
  onMissing: group(
    "What happens while the metric cannot be read. The count never shrinks then.",
    {
      action: choice(
        "hold keeps the count; scaleUpOnly lets the other metrics ask for more; fallback asks for a count after a time and holds before, and wakes an idle workload where the metric has an activation.",
        ["hold", "scaleUpOnly", "fallback"],
        { default: "hold" },
      ),
      replicas: integer("The fallback count: the least number of pods.", { least: 1 }),
      afterSeconds: integer("How long the metric must be missing before the fallback.", {
        least: 0,
        most: 86_400,
      }),
    },
    { default: {} },
  ),
  activation: amount(
    "With idle: the workload is in use while the whole value is above this. Metrics that are not of pods only.",
    {
      least: 0,
    },
  ),
} as const;

/** The settings of the steps of a direction. */
const rules = (way: "up" | "down") =>
  group(`When and how fast the count goes ${way}.`, NATIVE_FIELDS.ofDirection(way), {
    default: {},
  });

/** Fields of the spec that every form obeys, and that Tidemark itself reads. */
export const GOVERNING = ["rules", "owner", "dryRun", "pausedUntil", "schedule", "advice"] as const;

/**
 * The fields of the spec of a PodAutoscaler; the fields of a step are in the file of the step.
 * rule-table.ts has the rules between them.
 */
export const SPEC_FIELDS = {
  rules: choice(
    "The rules that decide: Tidemark's own rules, the rules of autoscaling/v2, or the rules of the Watermark Pod Autoscaler.",
    ["native", "hpa", "watermark"],
    {
      default: "native",
    },
  ),
  owner: words(
    "The owner, for people who read the autoscaler. The topic of the owner gets its problems.",
  ),
  scaleTargetRef: group(
    "The workload that is scaled, in the namespace of the autoscaler.",
    {
      apiVersion: words("Its API version, such as apps/v1."),
      kind: words("Its kind, such as Deployment.", { required: true, segment: true }),
      name: words("Its name.", { required: true, segment: true }),
    },
    { required: true },
  ),
  minReplicas: integer(
    "Fewest pods; 0 only with rules: hpa, at most 1000000 with rules: native. Fewer while idle.",
    { default: 1, least: 0 },
  ),
  maxReplicas: integer("Most pods; at most 1000000 with rules: native.", {
    required: true,
    least: 1,
  }),
  metrics: listField(
    "The metrics; at least one. Only with rules: native.",
    group("One metric; exactly one of its sources.", METRIC_FIELDS),
    emptyMetric(),
    {
      default: [],
    },
  ),
  ...NATIVE_FIELDS.before,
  scaleUp: rules("up"),
  scaleDown: rules("down"),
  ...NATIVE_FIELDS.after,
  dryRun: flag("Decides and reports everything, and writes nothing.", { default: false }),
  pausedUntil: time("Nothing is written before this instant, RFC 3339."),
  schedule: SCHEDULE,
  advice: ADVICE,
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
