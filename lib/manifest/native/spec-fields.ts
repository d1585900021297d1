import { choice, flag, group, integer, list, type ReadOf, time, words } from "../../fields/field-types.ts";
import { NATIVE_FIELDS } from "../../policy/dialects.ts";
import { HPA_BLOCK } from "./hpa-block.ts";
import { METRIC_FIELDS } from "./metric-fields.ts";
import { SCHEDULE } from "./schedule-fields.ts";
import { WATERMARK_BLOCK } from "./watermark-block.ts";

/** The settings of the steps of a direction. */
const rules = (way: "up" | "down") => group(`When and how fast the count goes ${way}.`, NATIVE_FIELDS.ofDirection(way), { default: {} });

/** Fields of the spec that every form obeys, and that Tidemark itself reads. */
export const GOVERNING = ["rules", "owner", "dryRun", "pausedUntil", "schedule"] as const;

/** The fields of the spec of a PodAutoscaler; those of a step are in the file of the step. rule-table.ts has the rules between them. */
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
  ...NATIVE_FIELDS.before,
  scaleUp: rules("up"),
  scaleDown: rules("down"),
  ...NATIVE_FIELDS.after,
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
