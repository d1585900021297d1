import type { Json } from "../json.ts";
import type { Problem } from "../problem.ts";
import { DIRECTION_RULES, POLICY_RULES } from "./direction-rules.ts";
import { FALLBACK_RULES } from "./fallback-rules.ts";
import { METRIC_RULES, SOURCE_RULES } from "./metric-rules.ts";
import { type ManifestRead, type RulesAtPath, rulesAt } from "./paired-rule.ts";
import { sourcesOf } from "./read-metric.ts";
import type { ServerRule } from "./server-rule.ts";
import type { MetricRead, SpecRead } from "./spec-fields.ts";
import { FIELD_RULES, SPEC_RULES } from "./spec-rules.ts";
import { WHOLE_SPEC_RULES } from "./whole-spec-rules.ts";

const metricsOf = ({ metrics }: SpecRead): readonly (readonly [string, MetricRead])[] =>
  metrics.map((metric, index) => [`spec.metrics[${index}]`, metric]);

const metricsWithSource = (spec: SpecRead): readonly (readonly [string, MetricRead])[] =>
  metricsOf(spec).filter(([, metric]) => sourcesOf(metric).length > 0);

/** Rules of the direction and of its policies. */
const directionRules = (direction: "scaleUp" | "scaleDown"): readonly RulesAtPath[] => {
  const path = `spec.${direction}`;
  return [
    rulesAt(path, DIRECTION_RULES, (spec) => [[path, spec[direction]]]),
    rulesAt(`${path}.policies[]`, POLICY_RULES, (spec) => spec[direction].policies.map((policy, index) => [`${path}.policies[${index}]`, policy])),
  ];
};

const FOR_ALL_RULES: readonly RulesAtPath[] = [rulesAt("spec", FIELD_RULES, (spec) => [["spec", spec]])];

const FOR_NATIVE_RULES: readonly RulesAtPath[] = [
  rulesAt("spec", SPEC_RULES, (spec) => [["spec", spec]]),
  rulesAt("spec.metrics[]", SOURCE_RULES, metricsOf),
  rulesAt("spec.metrics[]", METRIC_RULES, metricsWithSource),
  rulesAt("spec.metrics[].onMissing", FALLBACK_RULES, (spec) =>
    metricsWithSource(spec).map(([path, { onMissing }]) => [`${path}.onMissing`, onMissing]),
  ),
  ...directionRules("scaleUp"),
  ...directionRules("scaleDown"),
];

/** All rules between fields of our own. */
export const RULE_TABLE: readonly RulesAtPath[] = [...FOR_ALL_RULES, ...FOR_NATIVE_RULES];

/** Conditions of the JSON Schema for the object at a path such as "spec.metrics[]". */
export const conditionsAt = (path: string): readonly Json[] =>
  RULE_TABLE.filter((rules) => rules.path === path).flatMap(({ conditions }) => conditions);

/** Rules of the API server for the object at a path. */
export const serverRulesAt = (path: string): readonly ServerRule[] => [
  ...RULE_TABLE.filter((rules) => rules.path === path).flatMap(({ serverRules }) => serverRules),
  ...(path === "spec" ? WHOLE_SPEC_RULES : []),
];

/** Fields that do not belong to the `rules` of a spec. */
export const fieldProblems = (manifest: ManifestRead): readonly Problem[] => FOR_ALL_RULES.flatMap(({ problems }) => problems(manifest));

/** Contradictions in a spec with `rules: native`, beyond the bounds of single fields. */
export const nativeProblems = (manifest: ManifestRead): readonly Problem[] => FOR_NATIVE_RULES.flatMap(({ problems }) => problems(manifest));
