import { ruleProblems } from "../../fields/evaluate.ts";
import type { FieldDescription } from "../../fields/field-types.ts";
import { invalidField, notSupported, type Problem, required } from "../../fields/problem.ts";
import type { Rule } from "../../fields/rule.ts";
import { isObject } from "../../model/json.ts";
import { floatOf, isWhole, type Quantity, signOf } from "../../model/quantity.ts";
import { pathSegmentFaults } from "../../model/kubernetes-names.ts";

/**
 * Problems of a value by the description of its field, in the words of the API and in its order:
 * members, then rules between them. As in Go, a required field that is absent has its zero value.
 */
export const apiProblems = (
  about: FieldDescription,
  value: unknown,
  path: string,
): readonly Problem[] => {
  if (value === undefined && !about.required && about.type !== "list") return [];
  return CHECKS[about.type]?.(about, value, path) ?? [];
};

/** Problems of the members, without the rules between them. */
export const membersProblems = (
  fields: Readonly<Record<string, FieldDescription>>,
  value: unknown,
  path: string,
): readonly Problem[] =>
  Object.entries(fields).flatMap(([name, member]) =>
    apiProblems(member, isObject(value) ? value[name] : undefined, `${path}.${name}`),
  );

export const rulesProblems = (
  rules: readonly Rule[],
  value: unknown,
  path: string,
): readonly Problem[] =>
  rules.flatMap((rule) => ruleProblems(rule, { read: value, written: value }, path));

type Check = (about: FieldDescription, value: unknown, path: string) => readonly Problem[];

const objectProblems: Check = ({ fields = {}, rules = [] }, value, path) => [
  ...membersProblems(fields, value, path),
  ...rulesProblems(rules, value, path),
];

const itemProblems: Check = ({ items, leastItems = 0, api }, value, path) => {
  const list: readonly unknown[] = Array.isArray(value) ? value : [];
  if (list.length < leastItems && api?.least) return [required(path, ...api.least)];
  return items ? list.flatMap((item, index) => apiProblems(items, item, `${path}[${index}]`)) : [];
};

const choiceProblems: Check = ({ choices = [], api }, value = "", path = "") => [
  ...(value === "" && api?.required ? [required(path, ...api.required)] : []),
  ...(choices.some((choice) => choice === value)
    ? []
    : [api?.choices ? invalidField(path, ...api.choices) : notSupported(path, choices)]),
];

const textProblems: Check = (
  { required: isRequired, api, segment, faults, faultsFix },
  value = "",
  path = "",
) => {
  if (value === "" && isRequired) return api?.required ? [required(path, ...api.required)] : [];
  const found = segment ? pathSegmentFaults(String(value)) : faults?.(String(value));
  return found?.map((fault) => invalidField(path, fault, faultsFix ?? SEGMENT_FIX)) ?? [];
};

const SEGMENT_FIX = "write the name in the cluster, without / and %";

const INT32 = 2 ** 31;

const numberProblems: Check = ({ least = -INT32, most = INT32 - 1, api }, value = 0, path = "") => {
  if (value === 0 && api?.required) return [required(path, ...api.required)];
  const [below = `must be greater than or equal to ${least}`, fix = `write ${least} to ${most}`] =
    api?.least ?? [];
  if (Number(value) < least) return [invalidField(path, below, fix)];
  const [over = `must be less than or equal to ${most}`, less = fix] = api?.most ?? [];
  return Number(value) > most ? [invalidField(path, over, less)] : [];
};

/** The controllers count thousandths in 64 bits: more is taken for this much, silently. */
const MOST = Number(2n ** 63n) / 1_000;

/** A bound above 0 means: any positive quantity. */
const quantityProblems: Check = ({ least = 0, most = MOST, api }, value, path) => {
  const quantity = value as Quantity;
  const isLarge = floatOf(quantity) > most;
  const words =
    signOf(quantity) < Math.ceil(least)
      ? api?.least
      : isLarge
        ? api?.most
        : isWhole(quantity)
          ? undefined
          : api?.fraction;
  return words ? [invalidField(path, ...words)] : [];
};

const CHECKS: Readonly<Partial<Record<FieldDescription["type"], Check>>> = {
  object: objectProblems,
  list: itemProblems,
  choice: choiceProblems,
  integer: numberProblems,
  quantity: quantityProblems,
  text: textProblems,
};
