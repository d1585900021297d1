import type { Problem } from "../../fields/problem.ts";
import {
  all,
  any,
  atLeast,
  type RuleCondition,
  is,
  larger,
  matches,
  type Rule,
  isSet,
  some,
} from "../../fields/rule.ts";
import type { TargetRef } from "../../model/spec-common.ts";
import { GROUP_VERSION, object } from "../native/field-descriptions.ts";
import { SPEC_FIELDS } from "../native/spec-fields.ts";
import { apiProblems, membersProblems, rulesProblems } from "./api-problems.ts";
import type { FieldDescription } from "../../fields/field-types.ts";
import { LEVEL_MARKS, MARKS_IN_ORDER, SELECTOR_OF_MARKS, TARGET_OR_MARKS } from "./level-fields.ts";
import {
  API_VERSION,
  MEMBER_DEMANDS,
  MEMBERS,
  METRIC_FIELD,
  NO_OTHERS_OF_UNKNOWN,
  REFERENCE,
  METRIC_MEMBERS,
  type SourceMember,
} from "./metric-fields.ts";
import { BEHAVIOR_FIELD } from "./validate-behavior.ts";
import { type DraftSpec, isMarked, type ManifestMetric, type Reference } from "./v2-shape.ts";

/**
 * What every form asks of the bounds and of the target. Each form reports it in words of its own.
 */
export const BOUNDS_IN_ORDER: RuleCondition = atLeast("maxReplicas", "minReplicas");
export const READABLE_VERSION: RuleCondition = matches("scaleTargetRef.apiVersion", GROUP_VERSION);
/** Only a ReplicationController is scalable in the core group. */
export const TARGET_WITH_GROUP: RuleCondition = any(
  is("scaleTargetRef.kind", "ReplicationController"),
  all(isSet("scaleTargetRef.apiVersion"), matches("scaleTargetRef.apiVersion", "^[^/]+/[^/]*$")),
);
/**
 * CPU and memory cannot be measured without pods, so only an outside metric can scale up from 0.
 */
export const wakingMetric = (metrics: string): RuleCondition =>
  some(metrics, is("type", "Object", "External"));

const MOST_FIX = "write spec.maxReplicas: the largest count the workload may have, 1 or more";

const BOUNDS = object(
  "The bounds.",
  {
    minReplicas: {
      ...SPEC_FIELDS.minReplicas.about,
      api: {
        least: [
          "must be greater than or equal to 0",
          "write 1 or more, or 0 to allow scaling to zero",
        ],
      },
    },
    maxReplicas: {
      ...SPEC_FIELDS.maxReplicas.about,
      api: { required: ["", MOST_FIX], least: ["must be greater than or equal to 1", MOST_FIX] },
    },
  },
  [
    {
      needs: BOUNDS_IN_ORDER,
      terms: { least: larger("minReplicas", 1) },
      detail: "must be greater than or equal to `minReplicas`",
      fix: "write {least} or more, or a smaller minReplicas",
    },
  ],
);

const TARGET_GROUP: Rule = {
  when: READABLE_VERSION,
  needs: TARGET_WITH_GROUP,
  at: "scaleTargetRef.apiVersion",
  detail: "apiVersion must specify API group",
  fix: "write group and version, such as apps/v1 for a Deployment",
};

const ZERO: Rule = {
  when: is("minReplicas", 0),
  needs: wakingMetric("metrics"),
  type: "FieldValueForbidden",
  detail: "must specify at least one Object or External metric to support scaling to zero replicas",
  fix: "add an Object or External metric, or write minReplicas: 1",
};

/**
 * Every rule of hpa.md 1.3 for a spec with defaults. An update that keeps kind and apiVersion of
 * the target does not check its group again.
 */
export const specProblems = (
  spec: DraftSpec,
  oldTarget: TargetRef | undefined,
): readonly Problem[] => [
  ...apiProblems(BOUNDS, { ...spec, maxReplicas: spec.maxReplicas ?? 0 }, "spec"),
  ...membersProblems(REFERENCE, spec.scaleTargetRef, "spec.scaleTargetRef"),
  ...(sameKind(spec.scaleTargetRef, oldTarget) ? [] : targetVersionProblems(spec)),
  ...(spec.metrics ?? []).flatMap((metric, index) =>
    metricProblems(metric, `spec.metrics[${index}]`),
  ),
  ...rulesProblems([ZERO], spec, "spec"),
  ...apiProblems(BEHAVIOR_FIELD, spec.behavior, "spec.behavior"),
];

const sameKind = (now: Reference | undefined, before: TargetRef | undefined): boolean =>
  before !== undefined && now?.kind === before.kind && (now.apiVersion ?? "") === before.apiVersion;

const targetVersionProblems = (spec: DraftSpec): readonly Problem[] => [
  ...apiProblems(API_VERSION, spec.scaleTargetRef?.apiVersion, "spec.scaleTargetRef.apiVersion"),
  ...rulesProblems([TARGET_GROUP], spec, "spec"),
];

type Block = NonNullable<ManifestMetric[SourceMember]>;

const FIELDS_OF = Object.fromEntries(
  Object.values(METRIC_MEMBERS).map(({ member, about }) => [member, about.fields ?? {}]),
) as Readonly<Record<SourceMember, Readonly<Record<string, FieldDescription>>>>;
const { fields: { type: TYPE } = {} } = METRIC_FIELD;

/**
 * Problems of a metric in the order of the API: the type, the first member, the others, then what
 * the API does not have.
 */
const metricProblems = (metric: ManifestMetric, path: string): readonly Problem[] => {
  const marked = isMarked(metric);
  const [first] = MEMBERS.filter((member) => metric[member] !== undefined);
  return [
    ...(TYPE ? apiProblems(TYPE, metric.type, `${path}.type`) : []),
    ...(first
      ? membersProblems(
          FIELDS_OF[first],
          withoutMarks(metric[first] ?? {}, marked),
          `${path}.${first}`,
        )
      : []),
    ...rulesProblems([MEMBER_DEMANDS.get(metric.type ?? "") ?? NO_OTHERS_OF_UNKNOWN], metric, path),
    ...(marked
      ? MEMBERS.flatMap((member) => markProblems(metric[member], `${path}.${member}`))
      : rulesProblems([SELECTOR_OF_MARKS], metric.resource, `${path}.resource`)),
  ];
};

/** A block with marks needs no target, and a target beside them is not checked. */
const withoutMarks = (block: Block, marked: boolean): Block => ({
  ...block,
  highWatermark: undefined,
  lowWatermark: undefined,
  target: marked ? undefined : (block.target ?? {}),
});

const markProblems = (block: Block | undefined, path: string): readonly Problem[] => [
  ...rulesProblems([TARGET_OR_MARKS], block, path),
  ...membersProblems(LEVEL_MARKS, block, path),
  ...rulesProblems(MARKS_IN_ORDER, block, path),
];
