import { groupOf } from "../../model/api-group.ts";
import { invalid, type Problem, required } from "../problem.ts";
import { misplacedFields, strayFields } from "./misplaced-fields.ts";
import type { Rule } from "./paired-rule.ts";
import { nameOf } from "./read-metric.ts";
import { allOf, anyOf, areAbsent, equals, ifNot, ifThen, isSet, members } from "./schema-conditions.ts";
import { segmentProblems } from "./segment-problems.ts";
import { MOST_REPLICAS, type SpecRead } from "./spec-fields.ts";

const OF_NATIVE = ["metrics", "combine", "scaleUp", "scaleDown", "flapBudget", "idle"] as const;
const REPLICAS = { minimum: 1, maximum: MOST_REPLICAS };

const hpaFields: Rule<SpecRead> = {
  schema: ifThen(equals("rules", "hpa"), areAbsent(...OF_NATIVE, "watermark")),
  problems: ({ rules }, { written }) => (rules === "hpa" ? misplacedFields(rules, written) : []),
};

/** The form of the watermark rules reports a minReplicas below 1. */
const watermarkFields: Rule<SpecRead> = {
  schema: ifThen(equals("rules", "watermark"), allOf(areAbsent(...OF_NATIVE, "hpa"), members({ minReplicas: { minimum: 1 } }))),
  problems: ({ rules }, { written }) => (rules === "watermark" ? misplacedFields(rules, written) : []),
};

const nativeFields: Rule<SpecRead> = {
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
/** The first design adds the group, and the watermark rules only warn. */
const WITHOUT_GROUP = anyOf(equals("rules", "watermark"), allOf(isSet("hpa"), members({ hpa: isSet("cpuUtilization") })));

const targetGroup: Rule<SpecRead> = {
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
  schema: ifThen(TO_ZERO, allOf(isSet("hpa"), members({ hpa: allOf(isSet("metrics"), members({ metrics: FROM_OUTSIDE })) }))),
  problems: () => [],
};

const boundsInOrder: Rule<SpecRead> = {
  problems: ({ minReplicas, maxReplicas }) =>
    maxReplicas !== undefined && maxReplicas < minReplicas
      ? [invalid("spec.maxReplicas", "must be greater than or equal to minReplicas", `write ${minReplicas} or more`)]
      : [],
};

const uniqueNames: Rule<SpecRead> = {
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

const idleBelowMinimum: Rule<SpecRead> = {
  problems: ({ idle, minReplicas }) =>
    idle && idle.replicas >= minReplicas ? [invalid("spec.idle.replicas", "must be less than minReplicas", "write 0, or raise minReplicas")] : [],
};

const activationForIdle: Rule<SpecRead> = {
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
  idleBelowMinimum,
  activationForIdle,
];
