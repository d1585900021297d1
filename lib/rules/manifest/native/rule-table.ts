import { memberOf, ruleProblems, type RuleSubject } from "../../fields/evaluate.ts";
import { firstOfEach, type Problem } from "../../fields/problem.ts";
import type { Rule } from "../../fields/rule.ts";
import type { Json } from "../../model/json.ts";
import { NATIVE_RULES } from "../../policy/dialects.ts";
import { SOURCE_NAMES, sourceNamed } from "../../sources/sources.ts";
import { FALLBACK_RULES, METRIC_RULES, SOURCE_RULES } from "./metric-rules.ts";
import { sourcesOf } from "./spec.ts";
import { ENTRY_RULES, entryProblems } from "./schedule-rules.ts";
import type { SpecRead } from "./spec-fields.ts";
import {
  BOUNDS_OF_METRICS,
  FIELD_RULES,
  formulaProblems,
  textProblems,
  SPEC_RULES,
  strayFields,
} from "./spec-rules.ts";

export interface ManifestRead {
  readonly spec: SpecRead;
  /** The members of the spec in the document, without defaults. */
  readonly written: Json;
}

/** An object of a manifest and its path: "spec.metrics[0]". */
type Located = readonly [path: string, subject: RuleSubject];

/** The rules of the objects at one path of the manifest. */
interface RulesAtPath {
  /** The path in the terms of `explain-schema`: "spec.metrics[]". */
  readonly path: string;
  readonly rules: readonly Rule[];
  readonly subjectsIn: (manifest: ManifestRead) => readonly Located[];
}

const specOf = ({ spec, written }: ManifestRead): readonly Located[] => [
  ["spec", { read: spec, written }],
];

const objectIn = ([path, { read, written }]: Located, name: string): Located => [
  `${path}.${name}`,
  { read: memberOf(read, name), written: memberOf(written, name) },
];

/** The objects of a list. What comes from a default was not written. */
const itemsIn = (located: Located, name: string): readonly Located[] => {
  const [path, { read, written }] = objectIn(located, name);
  if (!Array.isArray(read)) return [];
  return read.map((item: unknown, index) => [
    `${path}[${index}]`,
    { read: item, written: Array.isArray(written) ? written[index] : item },
  ]);
};

const metricsIn = (manifest: ManifestRead): readonly Located[] =>
  specOf(manifest).flatMap((spec) => itemsIn(spec, "metrics"));

const metricsWithSource = (manifest: ManifestRead): readonly Located[] =>
  metricsIn(manifest).filter((_, index) => {
    const metric = manifest.spec.metrics[index];
    return metric && sourcesOf(metric).length > 0;
  });

/** Rules of the direction and of its policies. */
const directionRules = (direction: "scaleUp" | "scaleDown"): readonly RulesAtPath[] => {
  const directionIn = (manifest: ManifestRead): readonly Located[] =>
    specOf(manifest).map((spec) => objectIn(spec, direction));
  return [
    { path: `spec.${direction}`, rules: NATIVE_RULES.ofDirection, subjectsIn: directionIn },
    {
      path: `spec.${direction}.policies[]`,
      rules: NATIVE_RULES.ofPolicy,
      subjectsIn: (manifest) =>
        directionIn(manifest).flatMap((rules) => itemsIn(rules, "policies")),
    },
  ];
};

const FOR_ALL_RULES: readonly RulesAtPath[] = [
  { path: "spec", rules: FIELD_RULES, subjectsIn: specOf },
  {
    path: "spec.schedule[]",
    rules: ENTRY_RULES,
    subjectsIn: (manifest) => specOf(manifest).flatMap((spec) => itemsIn(spec, "schedule")),
  },
];

const FOR_NATIVE_RULES: readonly RulesAtPath[] = [
  { path: "spec", rules: SPEC_RULES, subjectsIn: specOf },
  { path: "spec.metrics[]", rules: SOURCE_RULES, subjectsIn: metricsIn },
  { path: "spec.metrics[]", rules: METRIC_RULES, subjectsIn: metricsWithSource },
  {
    path: "spec.metrics[].onMissing",
    rules: FALLBACK_RULES,
    subjectsIn: (manifest) =>
      metricsWithSource(manifest).map((metric) => objectIn(metric, "onMissing")),
  },
  { path: "spec", rules: BOUNDS_OF_METRICS, subjectsIn: specOf },
  ...directionRules("scaleUp"),
  ...directionRules("scaleDown"),
];

/** All rules between fields of our own. */
export const RULE_TABLE: readonly RulesAtPath[] = [...FOR_ALL_RULES, ...FOR_NATIVE_RULES];

/** Rules of the object at a path such as "spec.metrics[]". */
export const rulesAt = (path: string): readonly Rule[] =>
  RULE_TABLE.filter((rules) => rules.path === path).flatMap(({ rules }) => rules);

const problemsIn = (table: readonly RulesAtPath[], manifest: ManifestRead): readonly Problem[] =>
  table.flatMap(({ rules, subjectsIn }) =>
    subjectsIn(manifest).flatMap(([path, subject]) =>
      rules.flatMap((rule) => ruleProblems(rule, subject, path)),
    ),
  );

/** Problems of fields with any `rules`: fields that belong to others, and the schedule. */
export const fieldProblems = (manifest: ManifestRead): readonly Problem[] =>
  firstOfEach([
    ...strayFields(manifest.spec, manifest.written),
    ...problemsIn(FOR_ALL_RULES, manifest),
    ...entryProblems(manifest.spec),
    ...textProblems(manifest.spec),
  ]);

/** Contradictions in a spec with `rules: native`, beyond the bounds of single fields. */
export const nativeProblems = (manifest: ManifestRead): readonly Problem[] => [
  ...formulaProblems(manifest.spec),
  ...problemsIn(FOR_NATIVE_RULES, manifest),
  ...sourceProblems(manifest.spec),
];

/** What no condition says of a source. */
const sourceProblems = ({ metrics }: SpecRead): readonly Problem[] =>
  metrics.flatMap((metric, index) =>
    SOURCE_NAMES.flatMap((name) => {
      const block = metric[name];
      return block === undefined
        ? []
        : (sourceNamed(name).problems?.(block, `spec.metrics[${index}].${name}`) ?? []);
    }),
  );
