import type { Json } from "../../fields/json.ts";
import { forbidden, invalid, type Problem, required } from "../../fields/problem.ts";
import type { ServerRule } from "../../fields/field-types.ts";
import { METRIC_RULES, SOURCE_RULES } from "./metric-rules.ts";
import { type ManifestRead, type Rule, type RulesAtPath, rulesAt } from "./paired-rule.ts";
import { sourcesOf } from "./read-metric.ts";
import { ENTRY_RULES, SCHEDULE_RULES } from "./schedule-rules.ts";
import { allOf, areAbsent, equals, ifThen, isSet, ifNot, members } from "./schema-conditions.ts";
import type { MetricRead, SpecRead, RulesRead } from "./spec-fields.ts";
import { FIELD_RULES, SPEC_RULES } from "./spec-rules.ts";
import { isWhole, milliOf } from "../../model/quantity.ts";

type Policy = RulesRead["policies"][number];

const wholePods: Rule<Policy> = {
  says: "with type: Pods, value must be a whole number",
  schema: ifThen(equals("type", "Pods"), members({ value: { multipleOf: 1 } })),
  problems: ({ type, value }, { path }) =>
    type === "Pods" && value && !isWhole(value) ? [invalid(`${path}.value`, "must be a whole number of pods", "write 1 or more")] : [],
};

const factorAboveOne: Rule<Policy> = {
  says: "with type: Factor, value must be greater than 1",
  schema: ifThen(equals("type", "Factor"), members({ value: { exclusiveMinimum: 1 } })),
  problems: ({ type, value }, { path }) =>
    type === "Factor" && value && milliOf(value) <= 1000n
      ? [invalid(`${path}.value`, "must be greater than 1: times 1 changes nothing", 'write a factor such as "1.5"')]
      : [],
};

const POLICY_RULES: readonly Rule<Policy>[] = [wholePods, factorAboveOne];

const stepWithinBounds: Rule<RulesRead> = {
  problems: ({ stepMinimum }, { path, spec: { minReplicas, maxReplicas } }) => {
    if (maxReplicas === undefined) return [];
    const room = maxReplicas - minReplicas;
    const most = Math.max(1, room);
    if (stepMinimum <= most) return [];
    const detail = `must be less than or equal to maxReplicas - minReplicas, which is ${room}: no change is that large`;
    return [invalid(`${path}.stepMinimum`, detail, `write ${most} or less`)];
  },
};

const atLeastOnePolicy: Rule<RulesRead> = {
  says: "policies must hold at least one policy; leave it out for the defaults",
  schema: ifNot(equals("selectPolicy", "Disabled"), members({ policies: { minItems: 1 } })),
  problems: ({ policies, selectPolicy }, { path }) =>
    policies.length === 0 && selectPolicy !== "Disabled"
      ? [required(`${path}.policies`, "must hold at least one policy", "add a policy, or leave policies out for the defaults")]
      : [],
};

const DIRECTION_RULES: readonly Rule<RulesRead>[] = [stepWithinBounds, atLeastOnePolicy];

type OnMissing = MetricRead["onMissing"];

/** Both fields belong to `action: fallback`, which needs both. */
const fieldsOfFallback: Rule<OnMissing> = {
  says: "replicas and afterSeconds belong to action: fallback, which needs both",
  schema: ifThen(equals("action", "fallback"), allOf(isSet("replicas"), isSet("afterSeconds")), areAbsent("replicas", "afterSeconds")),
  problems: ({ action, ...written }, { path }) => {
    if (action !== "fallback")
      return (["replicas", "afterSeconds"] as const)
        .filter((name) => written[name] !== undefined)
        .map((name) => forbidden(`${path}.${name}`, "may only be set with action: fallback", "write action: fallback, or remove it"));
    return [
      ...(written.replicas === undefined ? [required(`${path}.replicas`, "", "write the count to fall back to")] : []),
      ...(written.afterSeconds === undefined
        ? [required(`${path}.afterSeconds`, "", "write how long the metric must be missing, 0 for at once")]
        : []),
    ];
  },
};

const withinBounds: Rule<OnMissing> = {
  problems: ({ action, replicas }, { path, spec: { minReplicas, maxReplicas = minReplicas } }) =>
    action === "fallback" && replicas !== undefined && (replicas < minReplicas || replicas > maxReplicas)
      ? [invalid(`${path}.replicas`, "must lie within minReplicas and maxReplicas", `write ${minReplicas} to ${maxReplicas}`)]
      : [],
};

const FALLBACK_RULES: readonly Rule<OnMissing>[] = [fieldsOfFallback, withinBounds];

const LEAST = "(has(self.minReplicas) ? self.minReplicas : 1)";

const largestStep = (way: "scaleUp" | "scaleDown"): ServerRule => ({
  says: `${way}.stepMinimum must be 1, or less than or equal to maxReplicas - minReplicas`,
  cel: `!has(self.${way}) || !has(self.${way}.stepMinimum) || self.${way}.stepMinimum <= 1 || self.${way}.stepMinimum <= self.maxReplicas - ${LEAST}`,
});

const fallbackWithinBounds: ServerRule = {
  says: "onMissing.replicas must lie within minReplicas and maxReplicas",
  cel: `!has(self.metrics) || self.metrics.all(metric, !has(metric.onMissing) || !has(metric.onMissing.replicas) || (metric.onMissing.replicas >= ${LEAST} && metric.onMissing.replicas <= self.maxReplicas))`,
};

const BLOCKS = ["object", "external", "pods", "resource", "containerResource"];
const MARKED = BLOCKS.map((block) => `(has(metric.${block}) && (has(metric.${block}.highWatermark) || has(metric.${block}.lowWatermark)))`).join(
  " || ",
);

const marksAboveZero: ServerRule = {
  says: "minReplicas may not be 0 together with watermarks",
  cel: `${LEAST} > 0 || !has(self.hpa) || !has(self.hpa.metrics) || !self.hpa.metrics.exists(metric, ${MARKED})`,
};

/** Rules between the spec and a field deep inside it. For people the rule of the inner field reports the problem; an API server only shows a rule its own object. */
const WHOLE_SPEC_RULES: readonly ServerRule[] = [largestStep("scaleUp"), largestStep("scaleDown"), fallbackWithinBounds, marksAboveZero];

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

const FOR_ALL_RULES: readonly RulesAtPath[] = [
  rulesAt("spec", FIELD_RULES, (spec) => [["spec", spec]]),
  rulesAt("spec", SCHEDULE_RULES, (spec) => [["spec", spec]]),
  rulesAt("spec.schedule[]", ENTRY_RULES, ({ schedule = [] }) => schedule.map((entry, index) => [`spec.schedule[${index}]`, entry])),
];

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
