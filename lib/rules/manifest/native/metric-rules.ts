import {
  all,
  any,
  atLeast,
  atMost,
  atMostOne,
  is,
  multipleOf,
  not,
  type Rule,
  isSet,
  unset,
} from "../../fields/rule.ts";
import {
  type AnySource,
  SOURCE_NAMES,
  type SourceName,
  sourceNamed,
} from "../../sources/sources.ts";
import type { measureOf } from "./spec.ts";

const MOST_PERCENT = 1_000_000;
const sourcesThat = (applies: (source: AnySource) => boolean): readonly SourceName[] =>
  SOURCE_NAMES.filter((name) => applies(sourceNamed(name)));
const anyOf = (sources: readonly SourceName[]) => any(...sources.map(isSet));

/** Rules of every metric. */
export const SOURCE_RULES: readonly Rule[] = [
  {
    needs: anyOf(SOURCE_NAMES),
    type: "FieldValueRequired",
    detail: "",
    fix: `write one of ${SOURCE_NAMES.join(", ")}`,
  },
  {
    needs: atMostOne(...SOURCE_NAMES),
    detail: "may not be set together with {first}",
    fix: "keep one source, and write the other as a metric of its own",
  },
];

type Measure = ReturnType<typeof measureOf>;

const measuresOf = (sources: readonly SourceName[], measures: readonly Measure[]): Rule => ({
  when: anyOf(sources),
  needs: any(unset("measure"), is("measure", ...measures)),
  at: "measure",
  detail: `must be ${measures.join(" or ")} for {given}`,
  fix: `write ${measures.join(" or ")}`,
});

const ALL_MEASURES: readonly Measure[] = ["Percent", "Average", "Total"];

/** Sources with the same measures share a rule. */
const MEASURE_RULES: readonly Rule[] = [
  ...Map.groupBy(SOURCE_NAMES, (name) =>
    ALL_MEASURES.filter((measure) => sourceNamed(name).measures.includes(measure)).join(" "),
  ),
].map(([measures, sources]) => measuresOf(sources, measures.split(" ") as readonly Measure[]));

/** An input of formulas asks for no count. A field about its count would have no effect. */
const OF_INPUT = {
  when: is("input", true),
  type: "FieldValueForbidden",
  detail: "may not be set with input: true",
  fix: "write it for the formula",
} as const;

const INPUT_RULES: readonly Rule[] = [
  { ...OF_INPUT, needs: unset("target", "watermarks", "tolerance") },
  { ...OF_INPUT, needs: not(is("scaleUpOnly", true)), at: "scaleUpOnly" },
  { ...OF_INPUT, needs: is("onMissing.action", "hold"), at: "onMissing" },
];

const LEVEL_RULES: readonly Rule[] = [
  {
    when: not(is("input", true)),
    needs: any(isSet("target"), isSet("watermarks")),
    at: "target",
    type: "FieldValueRequired",
    detail: "",
    fix: "write target, or watermarks with low and high",
  },
  {
    when: isSet("watermarks"),
    needs: unset("target"),
    detail: "may not be set together with watermarks",
    fix: "keep target or watermarks",
  },
  {
    when: isSet("watermarks"),
    needs: unset("tolerance"),
    detail: "may not be set together with watermarks",
    fix: "move the watermarks apart instead",
  },
  {
    needs: atMost("watermarks.low", "watermarks.high"),
    detail: "must be less than or equal to high: the watermarks are crossed",
    fix: "write the lower value as low",
  },
];

const LEVELS = ["target", "watermarks.low", "watermarks.high"] as const;

const wholePercents: Rule = {
  when: all(
    anyOf(sourcesThat(({ measures }) => measures.includes("Percent"))),
    any(unset("measure"), is("measure", "Percent")),
  ),
  needs: all(...LEVELS.flatMap((level) => [multipleOf(level, 1), atMost(level, MOST_PERCENT)])),
  says: `with measure: Percent, target, watermarks.low and watermarks.high must be whole percentages up to ${MOST_PERCENT}`,
  detail: `must be a whole percentage up to ${MOST_PERCENT}`,
  fix: "write whole percents such as 60",
};

const TIME_RULES: readonly Rule[] = [
  {
    when: anyOf(sourcesThat(({ asking }) => asking.way !== "registered")),
    needs: unset("everySeconds"),
    detail: "may only be set for a metric of a registered source",
    fix: "remove it: the cluster is asked in each sync",
  },
  {
    needs: atLeast("maxAgeSeconds", "everySeconds"),
    detail: "must be greater than or equal to everySeconds",
    fix: "write {everySeconds} or more, or ask more often",
  },
];

/** An idle workload has no pods, so it cannot be woken by a metric of its pods. */
const activationWithoutPods: Rule = {
  when: anyOf(sourcesThat(({ samplesOf }) => samplesOf === "pods")),
  needs: unset("activation"),
  says: "activation may not be set for a metric of pods: an idle workload has none; put it on an object, external or namespace metric",
  detail: "may not be set for a metric of pods: an idle workload has none",
  fix: "put it on an object, external or namespace metric",
};

/** Rules of a metric that has a source. Without one, only the absence of the source is reported. */
export const METRIC_RULES: readonly Rule[] = [
  ...SOURCE_NAMES.flatMap((name) => sourceNamed(name).rules ?? []),
  ...MEASURE_RULES,
  ...INPUT_RULES,
  ...TIME_RULES,
  ...LEVEL_RULES,
  wholePercents,
  activationWithoutPods,
];

const FALLBACK = is("action", "fallback");

/** Rules of `onMissing`. Both fields belong to `action: fallback`, which needs both. */
export const FALLBACK_RULES: readonly Rule[] = [
  {
    when: not(FALLBACK),
    needs: unset("replicas", "afterSeconds"),
    detail: "may only be set with action: fallback",
    fix: "write action: fallback, or remove it",
  },
  { when: FALLBACK, needs: isSet("replicas"), detail: "", fix: "write the count to fall back to" },
  {
    when: FALLBACK,
    needs: isSet("afterSeconds"),
    detail: "",
    fix: "write how long the metric must be missing, 0 for at once",
  },
];
