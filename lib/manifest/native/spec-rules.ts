import type { Json } from "../../fields/json.ts";
import { forbidden, invalid, type Problem, required } from "../../fields/problem.ts";
import { groupOf } from "../../model/spec-common.ts";
import { isObject } from "../../model/is-object.ts";
import { readExpression } from "../../sources/read-expression.ts";
import { sourceNamed } from "../../sources/sources.ts";
import { fieldsOf } from "./explain-field.ts";
import type { Rule } from "./paired-rule.ts";
import { nameOf, sourcesOf } from "./read-metric.ts";
import { allOf, anyOf, areAbsent, equals, ifNot, ifThen, isSet, members } from "./schema-conditions.ts";
import { segmentProblems } from "./segment-problems.ts";
import { GOVERNING, type MetricRead, MOST_REPLICAS, SPEC_FIELDS, type SpecRead } from "./spec-fields.ts";

const OF_NATIVE = ["metrics", "combine", "scaleUp", "scaleDown", "flapBudget", "idle"] as const;
const REPLICAS = { minimum: 1, maximum: MOST_REPLICAS };

const hpaFields: Rule<SpecRead> = {
  says: "with rules: hpa, metrics and behavior stand in spec.hpa",
  schema: ifThen(equals("rules", "hpa"), areAbsent(...OF_NATIVE, "watermark")),
  problems: ({ rules }, { written }) => (rules === "hpa" ? misplacedFields(rules, written) : []),
};

/** The form of the watermark rules reports a minReplicas below 1. */
const watermarkFields: Rule<SpecRead> = {
  says: "with rules: watermark, the fields of the rules stand in spec.watermark, and minReplicas is at least 1",
  schema: ifThen(equals("rules", "watermark"), allOf(areAbsent(...OF_NATIVE, "hpa"), members({ minReplicas: { minimum: 1 } }))),
  problems: ({ rules }, { written }) => (rules === "watermark" ? misplacedFields(rules, written) : []),
};

const nativeFields: Rule<SpecRead> = {
  says: `with rules: native, write at least one metric, no block hpa or watermark, and counts from 1 to ${MOST_REPLICAS}`,
  schema: ifNot(
    anyOf(equals("rules", "hpa"), equals("rules", "watermark")),
    allOf(areAbsent("hpa", "watermark"), isSet("metrics"), members({ metrics: { minItems: 1 }, minReplicas: REPLICAS, maxReplicas: REPLICAS })),
  ),
  problems: (spec, { written }) => {
    if (spec.rules === "hpa" || spec.rules === "watermark") return [];
    return [
      ...misplacedFields(spec.rules, written),
      ...replicaProblems(spec),
      ...(spec.metrics.length === 0 ? [required("spec.metrics", "", "write at least one metric")] : []),
    ];
  },
};

const replicaProblems = ({ minReplicas, maxReplicas }: SpecRead): readonly Problem[] => [
  ...(minReplicas < 1 ? [invalid("spec.minReplicas", "must be greater than or equal to 1", "write 1 or more, and idle to scale to zero")] : []),
  ...Object.entries({ minReplicas, maxReplicas }).flatMap(([name, count]) =>
    count !== undefined && count > MOST_REPLICAS
      ? [invalid(`spec.${name}`, `must be less than or equal to ${MOST_REPLICAS}`, `write ${MOST_REPLICAS} or less`)]
      : [],
  ),
];

const fieldsOfBlock: Rule<SpecRead> = {
  problems: ({ rules }, { written }) => strayFields(rules, written),
};

/** Rules that hold with all `rules`: the fields that each of them has. */
export const FIELD_RULES: readonly Rule<SpecRead>[] = [hpaFields, watermarkFields, nativeFields, fieldsOfBlock];

/** Only a ReplicationController is scalable in the core group. */
const TARGET_WITH_GROUP = anyOf(equals("kind", "ReplicationController"), {
  required: ["apiVersion"],
  properties: { apiVersion: { type: "string", pattern: "^[^/]+/[^/]*$" } },
});
/** The first design adds the group of these kinds, and the watermark rules only warn. */
const ADDS_GROUP = allOf(
  { required: ["kind"], properties: { kind: { enum: ["Deployment", "ReplicaSet"] } } },
  anyOf(areAbsent("apiVersion"), equals("apiVersion", "")),
);
const WITHOUT_GROUP = anyOf(equals("rules", "watermark"), allOf(isSet("hpa"), members({ hpa: isSet("cpuUtilization"), scaleTargetRef: ADDS_GROUP })));

const targetGroup: Rule<SpecRead> = {
  says: "spec.scaleTargetRef.apiVersion must be group/version, such as apps/v1 for a Deployment",
  schema: ifNot(WITHOUT_GROUP, members({ scaleTargetRef: TARGET_WITH_GROUP })),
  problems: ({ scaleTargetRef }, { path }) => {
    if (!scaleTargetRef) return [];
    const group = groupOf(scaleTargetRef.apiVersion ?? "");
    return group === undefined || (group === "" && scaleTargetRef.kind !== "ReplicationController")
      ? [invalid(`${path}.scaleTargetRef.apiVersion`, "must be group/version", "write group/version, such as apps/v1 for a Deployment")]
      : [];
  },
};

const targetNames: Rule<SpecRead> = {
  problems: ({ scaleTargetRef }, { path }) =>
    (["kind", "name"] as const).flatMap((part) => segmentProblems(scaleTargetRef?.[part], `${path}.scaleTargetRef.${part}`)),
};

const TO_ZERO = allOf(equals("rules", "hpa"), { required: ["minReplicas"], properties: { minReplicas: { const: 0 } } });
const FROM_OUTSIDE = { contains: anyOf(equals("type", "Object"), equals("type", "External")) };

/** A rule of the block `hpa`. Its form reports the problem in the words of the Kubernetes API. */
const outsideMetricForZero: Rule<SpecRead> = {
  says: "a minReplicas of 0 needs at least one Object or External metric",
  schema: ifThen(TO_ZERO, allOf(isSet("hpa"), members({ hpa: allOf(isSet("metrics"), members({ metrics: FROM_OUTSIDE })) }))),
  problems: () => [],
};

const boundsInOrder: Rule<SpecRead> = {
  says: "maxReplicas must be greater than or equal to minReplicas",
  cel: "self.maxReplicas >= (has(self.minReplicas) ? self.minReplicas : 1)",
  problems: ({ minReplicas, maxReplicas }) =>
    maxReplicas !== undefined && maxReplicas < minReplicas
      ? [invalid("spec.maxReplicas", "must be greater than or equal to minReplicas", `write ${minReplicas} or more`)]
      : [],
};

/** The name of a metric in CEL, as `nameOf` finds it. */
const NAME_IN_CEL = [
  "has(metric.name) && metric.name != '' ? metric.name",
  ...["resource", "containerResource"].map((source) => `has(metric.${source}) ? metric.${source}.name`),
  ...["pods", "object", "external"].map((source) => `has(metric.${source}) ? metric.${source}.metric`),
  "has(metric.__namespace__) ? metric.__namespace__.metric",
  ...["prometheus", "http"].map((source) => `has(metric.${source}) ? metric.${source}.source`),
  "has(metric.sqs) ? metric.sqs.queue",
  "has(metric.formula) ? 'formula'",
  "''",
].join(" : ");

const uniqueNames: Rule<SpecRead> = {
  says: "every metric must have a name of its own; without a name it has that of its source",
  cel: `!has(self.metrics) || self.metrics.map(metric, ${NAME_IN_CEL}).all(name, self.metrics.map(metric, ${NAME_IN_CEL}).filter(other, other == name).size() == 1)`,
  problems: ({ metrics }) => {
    const names = metrics.map(nameOf);
    const first = new Map(names.map((name, index) => [name, index] as const).reverse());
    return names.flatMap((name, index) =>
      name !== "" && first.get(name) !== index
        ? [invalid(`spec.metrics[${index}].name`, `must be unique: "${name}" is the name of another metric`, "give this metric a name of its own")]
        : [],
    );
  },
};

/** Each name of a formula is a metric whose value needs no pods: the average of some pods is no value of the workload. A formula of formulas could name itself. */
const namesOfFormulas: Rule<SpecRead> = {
  problems: ({ metrics }) => metrics.flatMap((metric, index) => namesIn(metric, `spec.metrics[${index}].formula.expression`, metrics)),
};

const namesIn = ({ formula }: MetricRead, path: string, metrics: readonly MetricRead[]): readonly Problem[] => {
  const reading = formula?.expression ? readExpression(formula.expression) : undefined;
  if (reading?.kind !== "expression") return [];
  const known = metrics.filter(isForFormulas).map(nameOf);
  return [...reading.names].flatMap(([name, at]) => {
    if (known.includes(name)) return [];
    const is = metrics.some((metric) => nameOf(metric) === name) ? "is a formula, or a metric of pods" : "is the name of no other metric";
    const fix =
      known.length > 0
        ? `write one of ${known.join(", ")}; a metric gets another name by its field name`
        : "add a metric with this name that is neither a formula nor of pods";
    return [invalid(path, `cannot be read at character ${at}: "${name}" ${is}`, fix)];
  });
};

const isForFormulas = (metric: MetricRead): boolean =>
  sourcesOf(metric).some((source) => source !== "formula" && sourceNamed(source).samplesOf === "whole");

const usedInputs: Rule<SpecRead> = {
  problems: ({ metrics }) => {
    const readings = metrics.flatMap(({ formula }) => (formula ? [readExpression(formula.expression ?? "")] : []));
    // A formula that cannot be read has a problem of its own, and what it would name is not known.
    if (readings.some(({ kind }) => kind !== "expression")) return [];
    const named = new Set(readings.flatMap((reading) => (reading.kind === "expression" ? [...reading.names.keys()] : [])));
    return metrics.flatMap((metric, index) =>
      metric.input && !named.has(nameOf(metric))
        ? [invalid(`spec.metrics[${index}].input`, `no formula names "${nameOf(metric)}"`, "name it in a formula, or give it a target instead")]
        : [],
    );
  },
};

const somethingProposes: Rule<SpecRead> = {
  says: "at least one metric must be without input: true",
  cel: "!has(self.metrics) || self.metrics.exists(metric, !has(metric.input) || !metric.input)",
  problems: ({ metrics }) =>
    metrics.length > 0 && metrics.every(({ input }) => input)
      ? [required("spec.metrics", "every metric is an input", "add a formula, or leave input out of one metric")]
      : [],
};

const idleBelowMinimum: Rule<SpecRead> = {
  says: "idle.replicas must be less than minReplicas",
  cel: "!has(self.idle) || (has(self.idle.replicas) ? self.idle.replicas : 0) < (has(self.minReplicas) ? self.minReplicas : 1)",
  problems: ({ idle, minReplicas }) =>
    idle && idle.replicas >= minReplicas ? [invalid("spec.idle.replicas", "must be less than minReplicas", "write 0, or raise minReplicas")] : [],
};

const activationForIdle: Rule<SpecRead> = {
  says: "idle needs a metric with an activation threshold",
  cel: "!has(self.idle) || (has(self.metrics) && self.metrics.exists(metric, has(metric.activation)))",
  schema: ifThen(isSet("idle"), members({ metrics: { contains: isSet("activation") } })),
  problems: ({ idle, metrics }) =>
    idle && !metrics.some(({ activation }) => activation)
      ? [required("spec.metrics", "idle needs a metric with an activation threshold", "write activation on an object, external or namespace metric")]
      : [],
};

/** Rules of a spec with `rules: native`. The forms of other rules find the problems of their own fields. */
export const SPEC_RULES: readonly Rule<SpecRead>[] = [
  boundsInOrder,
  targetGroup,
  targetNames,
  outsideMetricForZero,
  uniqueNames,
  namesOfFormulas,
  usedInputs,
  somethingProposes,
  idleBelowMinimum,
  activationForIdle,
];

const SHARED: readonly string[] = [...GOVERNING, "scaleTargetRef", "minReplicas", "maxReplicas"];
const RULES: readonly string[] = SPEC_FIELDS.rules.about.choices ?? [];

/** Fields of other rules. They would have no effect, and their meaning cannot be guessed. */
const misplacedFields = (rules: SpecRead["rules"], written: Json): readonly Problem[] => {
  if (!RULES.includes(rules)) return [];
  const names = writtenNames(written).filter((name) => Object.hasOwn(SPEC_FIELDS, name) && !SHARED.includes(name) && !isForeignList(name, written));
  const misplaced = names.filter((name) => (rules === "native" ? isBlock(name) : name !== rules));
  return misplaced.map((name) =>
    forbidden(
      `spec.${name}`,
      `may not be set with rules: ${rules}`,
      isBlock(name) ? `write rules: ${name}` : `move it into spec.${rules}, or write rules: native`,
    ),
  );
};

const BLOCKS = ["hpa", "watermark"] as const;
const isBlock = (name: string): boolean => BLOCKS.some((block) => block === name);

/** Fields of a block that stand beside it, as in the form that they come from. Metrics are recognized by their type. */
const strayFields = (rules: SpecRead["rules"], written: Json): readonly Problem[] => {
  if (!RULES.includes(rules)) return [];
  return BLOCKS.flatMap((block) =>
    writtenNames(written)
      .filter((name) =>
        Object.hasOwn(SPEC_FIELDS, name) ? block === "hpa" && isForeignList(name, written) : Object.hasOwn(fieldsOf(SPEC_FIELDS[block].about), name),
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

const writtenNames = (written: Json): readonly string[] => Object.keys(written).filter((name) => (written[name] ?? undefined) !== undefined);

/** Metrics of autoscaling/v2 and of a WatermarkPodAutoscaler have a type; native metrics have none. */
const isForeignList = (name: string, written: Json): boolean =>
  name === "metrics" &&
  Array.isArray(written[name]) &&
  written[name].some((metric: unknown) => isObject(metric) && typeof metric["type"] === "string");
