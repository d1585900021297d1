import { forbidden, invalidField, type Problem } from "../../fields/problem.ts";
import {
  all,
  atLeast,
  atMost,
  each,
  is,
  length,
  type NamePart,
  not,
  outer,
  type Rule,
  isSet,
  some,
  unique,
  unset,
} from "../../fields/rule.ts";
import { MOST_REPLICAS } from "../../model/spec-native.ts";
import { isObject, type Json } from "../../model/json.ts";
import { NATIVE_RULES } from "../../policy/dialects.ts";
import { readExpression } from "../../sources/read-expression.ts";
import { namedBy, SOURCE_NAMES, sourceNamed } from "../../sources/sources.ts";
import { noMarks } from "../hpa/metric-fields.ts";
import {
  BOUNDS_IN_ORDER,
  READABLE_VERSION,
  TARGET_WITH_GROUP,
  wakingMetric,
} from "../hpa/validate-spec.ts";
import { LEAST_MINIMUM } from "../watermark/fields.ts";
import { membersOf } from "./explain-field.ts";
import { saying } from "./field-descriptions.ts";
import { nameOf, sourcesOf } from "./spec.ts";
import { type MetricRead, SPEC_FIELDS, type SpecRead } from "./spec-fields.ts";

const OF_NATIVE = ["metrics", "combine", "scaleUp", "scaleDown", "flapBudget", "idle"] as const;
const BLOCKS = ["hpa", "watermark"] as const;
const NATIVE = is("rules", "native");

/** Fields of other rules. They would have no effect, and their meaning cannot be guessed. */
const noFieldsOf = (rules: "hpa" | "watermark"): Rule => ({
  when: is("rules", rules),
  needs: unset(...OF_NATIVE),
  detail: `may not be set with rules: ${rules}`,
  fix: `move it into spec.${rules}, or write rules: native`,
});

const noBlocks = (rules: "native" | "hpa" | "watermark"): readonly Rule[] =>
  BLOCKS.filter((block) => block !== rules).map((block) => ({
    when: is("rules", rules),
    needs: unset(block),
    detail: `may not be set with rules: ${rules}`,
    fix: `write rules: ${block}`,
  }));

const mostReplicas = (name: string): Rule => ({
  when: NATIVE,
  needs: atMost(name, MOST_REPLICAS),
  detail: `must be less than or equal to ${MOST_REPLICAS}`,
  fix: `write ${MOST_REPLICAS} or less`,
});

/** Rules that hold with all `rules`: the fields that each of them has. */
export const FIELD_RULES: readonly Rule[] = [
  ...noBlocks("native"),
  ...noBlocks("hpa"),
  ...noBlocks("watermark"),
  noFieldsOf("hpa"),
  noFieldsOf("watermark"),
  {
    when: NATIVE,
    needs: atLeast("minReplicas", 1),
    detail: "must be greater than or equal to 1",
    fix: "write 1 or more, and idle to scale to zero",
  },
  mostReplicas("minReplicas"),
  mostReplicas("maxReplicas"),
  {
    when: all(NATIVE, isSet("advice")),
    needs: is("combine", "Max"),
    at: "advice",
    detail: "may not be set with combine: Min or Mean",
    fix: "write combine: Max, which goes by the metric that needs most, as a forecast does",
  },
  {
    when: NATIVE,
    needs: length("metrics", 1),
    type: "FieldValueRequired",
    detail: "",
    fix: "write at least one metric",
  },
  saying(
    "with rules: watermark, minReplicas must be greater than or equal to 1",
    LEAST_MINIMUM.needs,
    is("rules", "watermark"),
  ),
];

/** The first design adds the group of these kinds, and the watermark rules only warn. */
const ADDS_GROUP = all(
  isSet("hpa.cpuUtilization"),
  is("scaleTargetRef.kind", "Deployment", "ReplicaSet"),
  unset("scaleTargetRef.apiVersion"),
);

const targetGroup: Rule = {
  when: all(isSet("scaleTargetRef"), not(is("rules", "watermark")), not(ADDS_GROUP)),
  needs: all(READABLE_VERSION, TARGET_WITH_GROUP),
  at: "scaleTargetRef.apiVersion",
  says: "scaleTargetRef.apiVersion must be group/version, such as apps/v1 for a Deployment",
  detail: "must be group/version",
  fix: "write group/version, such as apps/v1 for a Deployment",
};

const boundsInOrder: Rule = {
  needs: BOUNDS_IN_ORDER,
  detail: "must be greater than or equal to minReplicas",
  fix: "write {minReplicas} or more",
};

/** A metric without a name has the name of its source. */
const uniqueNames: Rule = {
  needs: unique(
    "metrics",
    "name",
    ...SOURCE_NAMES.flatMap((name): readonly NamePart[] => {
      const fields = namedBy(name);
      return fields.length === 0 ? [{ set: name }] : fields.map((field) => `${name}.${field}`);
    }),
  ),
  detail: "must be unique: {name} is the name of another metric",
  fix: "give this metric a name of its own",
};

const somethingProposes: Rule = {
  when: isSet("metrics"),
  needs: some("metrics", not(is("input", true))),
  type: "FieldValueRequired",
  says: "at least one metric must be without input: true",
  detail: "every metric is an input",
  fix: "add a formula, or leave input out of one metric",
};

const fallbackWithinBounds: Rule = {
  needs: each(
    "metrics",
    all(
      atLeast("onMissing.replicas", outer("minReplicas")),
      atMost("onMissing.replicas", outer("maxReplicas")),
    ),
  ),
  detail: "must lie within minReplicas and maxReplicas",
  fix: "write {minReplicas} to {maxReplicas}",
};

/**
 * Rules of a spec with `rules: native`. The forms of other rules report the problems of their own
 * fields.
 */
export const SPEC_RULES: readonly Rule[] = [
  boundsInOrder,
  targetGroup,
  saying(
    "a minReplicas of 0 needs at least one Object or External metric",
    wakingMetric("hpa.metrics"),
    all(is("rules", "hpa"), is("minReplicas", 0)),
  ),
  saying(
    "minReplicas may not be 0 together with watermarks",
    noMarks("hpa.metrics"),
    is("minReplicas", 0),
  ),
  uniqueNames,
  somethingProposes,
  ...NATIVE_RULES.ofSpec,
];

/**
 * Rules between the bounds of a spec and its metrics. They come after the rules of a metric, which
 * say more.
 */
export const BOUNDS_OF_METRICS: readonly Rule[] = [fallbackWithinBounds];

/**
 * Characters of all formulas of a manifest, and of all dates of its schedule: reading them takes a
 * few milliseconds of each environment that meets the manifest.
 */
export const TEXT_LIMITS = { formulas: 8_192, dates: 16_384 } as const;

/** What no condition can say: how long the texts are together. */
export const textProblems = ({ metrics, schedule = [] }: SpecRead): readonly Problem[] => {
  const formulas = metrics.reduce(
    (sum, { formula }) => sum + (formula?.expression?.length ?? 0),
    0,
  );
  const dates = schedule
    .flatMap((entry) => [...(entry.dates ?? []), ...(entry.except ?? [])])
    .reduce((sum, date) => sum + date.length, 0);
  return [
    ...(formulas > TEXT_LIMITS.formulas
      ? [
          invalidField(
            "spec.metrics",
            `must have formulas of at most ${TEXT_LIMITS.formulas} characters together, and has ${formulas}`,
            "shorten the formulas, or divide the metrics over several recording rules",
          ),
        ]
      : []),
    ...(dates > TEXT_LIMITS.dates
      ? [
          invalidField(
            "spec.schedule",
            `must have dates of at most ${TEXT_LIMITS.dates} characters together, and has ${dates}`,
            "write ranges, or name a calendar of the fleet",
          ),
        ]
      : []),
  ];
};

/** What no condition can say: whether an expression can be read, and which names it has. */
export const formulaProblems = ({ metrics }: SpecRead): readonly Problem[] => [
  ...namesOfFormulas(metrics),
  ...usedInputs(metrics),
];

/**
 * Each name of a formula is a metric whose value needs no pods: the average of some pods is no
 * value of the workload. A formula of formulas could name itself.
 */
const namesOfFormulas = (metrics: readonly MetricRead[]): readonly Problem[] =>
  metrics.flatMap((metric, index) =>
    namesIn(metric, `spec.metrics[${index}].formula.expression`, metrics),
  );

const namesIn = (
  { formula }: MetricRead,
  path: string,
  metrics: readonly MetricRead[],
): readonly Problem[] => {
  const reading = formula?.expression ? readExpression(formula.expression) : undefined;
  if (reading?.kind !== "expression") return [];
  const known = metrics.filter(isForFormulas).map(nameOf);
  return [...reading.names].flatMap(([name, at]) => {
    if (known.includes(name)) return [];
    const fault = metrics.some((metric) => nameOf(metric) === name)
      ? "is a formula, or a metric of pods"
      : "is the name of no other metric";
    const fix =
      known.length > 0
        ? `write one of ${known.join(", ")}; a metric gets another name by its field name`
        : "add a metric with this name that is neither a formula nor of pods";
    return [invalidField(path, `cannot be read at character ${at}: "${name}" ${fault}`, fix)];
  });
};

const isForFormulas = (metric: MetricRead): boolean =>
  sourcesOf(metric).some(
    (source) => source !== "formula" && sourceNamed(source).samplesOf === "whole",
  );

const usedInputs = (metrics: readonly MetricRead[]): readonly Problem[] => {
  const readings = metrics.flatMap(({ formula }) =>
    formula ? [readExpression(formula.expression ?? "")] : [],
  );
  // A formula that cannot be read has a problem of its own, and what it would name is not known.
  if (readings.some(({ kind }) => kind !== "expression")) return [];
  const named = new Set(
    readings.flatMap((reading) => (reading.kind === "expression" ? [...reading.names.keys()] : [])),
  );
  return metrics.flatMap((metric, index) =>
    metric.input && !named.has(nameOf(metric))
      ? [
          invalidField(
            `spec.metrics[${index}].input`,
            `no formula names "${nameOf(metric)}"`,
            "name it in a formula, or give it a target instead",
          ),
        ]
      : [],
  );
};

const RULES: readonly string[] = SPEC_FIELDS.rules.about.choices ?? [];

/**
 * Fields of a block that stand beside it, as in the form that they come from. Metrics are
 * recognized by their type.
 */
export const strayFields = ({ rules }: SpecRead, written: Json): readonly Problem[] => {
  if (!RULES.includes(rules)) return [];
  return BLOCKS.flatMap((block) =>
    writtenNames(written)
      .filter((name) =>
        Object.hasOwn(SPEC_FIELDS, name)
          ? block === "hpa" && isForeignList(name, written)
          : Object.hasOwn(membersOf(SPEC_FIELDS[block].about), name),
      )
      .map((name) =>
        forbidden(
          `spec.${name}`,
          "may not stand here: it belongs to another form",
          `move it into spec.${block} with rules: ${block}, or use tidemark convert`,
        ),
      ),
  );
};

const writtenNames = (written: Json): readonly string[] =>
  Object.keys(written).filter((name) => (written[name] ?? undefined) !== undefined);

/**
 * Metrics of autoscaling/v2 and of a WatermarkPodAutoscaler have a type; native metrics have none.
 */
const isForeignList = (name: string, written: Json): boolean =>
  name === "metrics" &&
  Array.isArray(written[name]) &&
  written[name].some((metric: unknown) => isObject(metric) && typeof metric["type"] === "string");
