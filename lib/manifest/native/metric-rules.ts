import type { FieldDescription } from "../../fields/field-types.ts";
import { forbidden, invalid, type Problem, required } from "../../fields/problem.ts";
import { isObject } from "../../model/is-object.ts";
import { isWhole, milliOf, type Quantity } from "../../model/quantity.ts";
import { type AnySource, SOURCE_NAMES, SOURCES, type SourceName, sourceNamed } from "../../sources/sources.ts";
import { notAbove } from "./schema-conditions.ts";
import type { Rule } from "./paired-rule.ts";
import { isOfRegistered, measureOf, sourcesOf } from "./read-metric.ts";
import { allOf, anyOf, areAbsent, equals, exactlyOneSet, ifNot, ifThen, isSet, members } from "./schema-conditions.ts";
import { segmentProblems } from "./segment-problems.ts";
import type { MetricRead } from "./spec-fields.ts";

const MOST_PERCENT = 1_000_000;
const sourcesThat = (is: (source: AnySource) => boolean): readonly SourceName[] => SOURCE_NAMES.filter((name) => is(sourceNamed(name)));
const RESOURCES = anyOf(...sourcesThat(({ measures }) => measures.includes("Percent")).map(isSet));
const OF_PODS = sourcesThat(({ samplesOf }) => samplesOf === "pods");
const WHOLE_PERCENT = { multipleOf: 1, maximum: MOST_PERCENT };

const oneSource: Rule<MetricRead> = {
  says: `write exactly one of ${SOURCE_NAMES.join(", ")}`,
  schema: exactlyOneSet(...SOURCE_NAMES),
  problems: (metric, { path }) => {
    const [source, ...more] = sourcesOf(metric);
    if (source === undefined) return [required(path, "", `write one of ${SOURCE_NAMES.join(", ")}`)];
    return more.map((other) =>
      forbidden(`${path}.${other}`, `may not be set together with ${source}`, "keep one source, and write the other as a metric of its own"),
    );
  },
};

/** The names of the source become parts of a path of the cluster's API. */
const names: Rule<MetricRead> = {
  problems: (metric, { path }) =>
    SOURCE_NAMES.flatMap((name) => (metric[name] === undefined ? [] : segmentsIn(SOURCES[name].field.about, metric[name], `${path}.${name}`))),
};

/** The problems of all fields below a block that become segments of a path. */
const segmentsIn = ({ segment, fields = {} }: FieldDescription, value: unknown, path: string): readonly Problem[] => {
  if (segment) return segmentProblems(typeof value === "string" ? value : undefined, path);
  return isObject(value) ? Object.entries(fields).flatMap(([name, about]) => segmentsIn(about, value[name], `${path}.${name}`)) : [];
};

/** The rules of the sources themselves. */
const OWN_RULES: readonly Rule<MetricRead>[] = SOURCE_NAMES.flatMap((name) => sourceNamed(name).rules ?? []).map((rule) => ({
  ...rule,
  problems: (metric, { path }) => rule.problems(metric, path),
}));

type Measure = ReturnType<typeof measureOf>;

/** The measures of some sources. */
const measuresOf = (sources: readonly SourceName[], measures: readonly Measure[]): Rule<MetricRead> => {
  const [source, ...more] = sources.map(isSet);
  return {
    says: `measure must be ${measures.join(" or ")} for ${sources.join(", ")}`,
    schema: ifThen(source && more.length === 0 ? source : anyOf(...sources.map(isSet)), members({ measure: { enum: [...measures, null] } })),
    problems: (metric, { path }) => {
      const [set] = sourcesOf(metric);
      if (set === undefined || !sources.includes(set) || measures.includes(measureOf(metric))) return [];
      return [invalid(`${path}.measure`, `must be ${measures.join(" or ")} for ${set}`, `write ${measures.join(" or ")}`)];
    },
  };
};

const ALL_MEASURES: readonly Measure[] = ["Percent", "Average", "Total"];

/** Sources with the same measures share a rule. */
const MEASURE_RULES: readonly Rule<MetricRead>[] = [
  ...Map.groupBy(SOURCE_NAMES, (name) => ALL_MEASURES.filter((measure) => sourceNamed(name).measures.includes(measure)).join(" ")),
].map(([measures, sources]) =>
  measuresOf(
    sources,
    ALL_MEASURES.filter((measure) => measures.split(" ").includes(measure)),
  ),
);

const IS_INPUT = equals("input", true);
const OF_PROPOSALS = ["target", "watermarks", "tolerance"] as const;

/** An input of formulas asks for no count. A field about its count would have no effect. */
const nothingProposed: Rule<MetricRead> = {
  says: "with input: true, write no target, watermarks, tolerance, scaleUpOnly or onMissing: write them for the formula",
  schema: ifThen(IS_INPUT, allOf(areAbsent(...OF_PROPOSALS), { not: equals("scaleUpOnly", true) }, areNoActions())),
  problems: ({ input, onMissing, scaleUpOnly, ...metric }, { path }) => {
    if (!input) return [];
    const written = [
      ...OF_PROPOSALS.filter((name) => metric[name]),
      ...(scaleUpOnly ? ["scaleUpOnly"] : []),
      ...(onMissing.action === "hold" ? [] : ["onMissing"]),
    ];
    return written.map((name) => forbidden(`${path}.${name}`, "may not be set with input: true", "write it for the formula"));
  },
};

const OF_CLUSTER = sourcesThat(({ asking }) => asking.way !== "registered");

const timesOfRegistered: Rule<MetricRead> = {
  says: "everySeconds and maxAgeSeconds belong to metrics of registered sources",
  schema: ifThen(anyOf(...OF_CLUSTER.map(isSet)), areAbsent("everySeconds", "maxAgeSeconds")),
  problems: (metric, { path }) => {
    if (isOfRegistered(metric)) return [];
    return (["everySeconds", "maxAgeSeconds"] as const)
      .filter((name) => metric[name] !== undefined)
      .map((name) =>
        forbidden(`${path}.${name}`, "may only be set for a metric of a registered source", "remove it: the cluster is asked in each sync"),
      );
  },
};

const ageAboveEvery: Rule<MetricRead> = {
  says: "maxAgeSeconds must be greater than or equal to everySeconds",
  cel: "!has(self.maxAgeSeconds) || !has(self.everySeconds) || self.maxAgeSeconds >= self.everySeconds",
  problems: ({ everySeconds = 0, maxAgeSeconds = everySeconds }, { path }) =>
    maxAgeSeconds < everySeconds
      ? [invalid(`${path}.maxAgeSeconds`, "must be greater than or equal to everySeconds", `write ${everySeconds} or more, or ask more often`)]
      : [],
};

const targetOrWatermarks: Rule<MetricRead> = {
  says: "write either target or watermarks",
  schema: ifNot(IS_INPUT, exactlyOneSet("target", "watermarks")),
  problems: ({ input, target, watermarks }, { path }) => {
    if (input) return [];
    if (!target && !watermarks) return [required(`${path}.target`, "", "write target, or watermarks with low and high")];
    return target && watermarks ? [forbidden(`${path}.target`, "may not be set together with watermarks", "keep target or watermarks")] : [];
  },
};

const toleranceOfTarget: Rule<MetricRead> = {
  says: "tolerance may not be set together with watermarks",
  schema: ifThen(isSet("watermarks"), areAbsent("tolerance")),
  problems: ({ watermarks, tolerance }, { path }) =>
    watermarks && tolerance ? [forbidden(`${path}.tolerance`, "may not be set together with watermarks", "move the watermarks apart instead")] : [],
};

const wholePercents: Rule<MetricRead> = {
  says: `target and watermarks must be whole percentages up to ${MOST_PERCENT}`,
  schema: ifThen(
    allOf(RESOURCES, { not: equals("measure", "Average") }),
    members({ target: WHOLE_PERCENT, watermarks: members({ low: WHOLE_PERCENT, high: WHOLE_PERCENT }) }),
  ),
  problems: (metric, { path }) => {
    if (measureOf(metric) !== "Percent") return [];
    const { target, watermarks } = metric;
    const levels = watermarks ? { "watermarks.low": watermarks.low, "watermarks.high": watermarks.high } : { target };
    return Object.entries(levels).flatMap(([name, level]) => (level ? percentProblems(level, `${path}.${name}`) : []));
  },
};

const percentProblems = (level: Quantity, path: string): readonly Problem[] =>
  isWhole(level) && milliOf(level) <= BigInt(MOST_PERCENT) * 1000n
    ? []
    : [invalid(path, `must be a whole percentage up to ${MOST_PERCENT}`, "write whole percents such as 60")];

const watermarksInOrder: Rule<MetricRead> = {
  says: "watermarks.low must be less than or equal to watermarks.high",
  cel: `!has(self.watermarks) || ${notAbove("self.watermarks.low", "self.watermarks.high")}`,
  problems: ({ watermarks: { low, high } = {} }, { path }) =>
    low && high && milliOf(low) > milliOf(high)
      ? [invalid(`${path}.watermarks.low`, "must be less than or equal to high: the watermarks are crossed", "write the lower value as low")]
      : [],
};

/** An idle workload has no pods, so it cannot be woken by a metric of its pods. */
const activationWithoutPods: Rule<MetricRead> = {
  says: "activation may not be set for a metric of pods: an idle workload has none",
  schema: ifThen(anyOf(...OF_PODS.map(isSet)), areAbsent("activation")),
  problems: (metric, { path }) =>
    metric.activation && OF_PODS.some((name) => metric[name] !== undefined)
      ? [
          forbidden(
            `${path}.activation`,
            "may not be set for a metric of pods: an idle workload has none",
            "put it on an object, external or namespace metric",
          ),
        ]
      : [],
};

/** Only what is written is compared: the default of onMissing is to hold. */
function areNoActions() {
  return { not: allOf(isSet("onMissing"), members({ onMissing: anyOf(equals("action", "scaleUpOnly"), equals("action", "fallback")) })) };
}

/** Rules of every metric. */
export const SOURCE_RULES: readonly Rule<MetricRead>[] = [oneSource];

/** Rules of a metric that has a source. Without one, only the absence of the source is reported. */
export const METRIC_RULES: readonly Rule<MetricRead>[] = [
  names,
  ...OWN_RULES,
  ...MEASURE_RULES,
  nothingProposed,
  timesOfRegistered,
  ageAboveEvery,
  targetOrWatermarks,
  toleranceOfTarget,
  wholePercents,
  watermarksInOrder,
  activationWithoutPods,
];
