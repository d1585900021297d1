import { isObject } from "../model/json.ts";
import { pathSegmentFaults } from "../model/kubernetes-names.ts";
import { milliOf, type Quantity, signOf } from "../model/quantity.ts";
import { readInstant } from "../model/time-text.ts";
import type { FieldDescription } from "./field-types.ts";
import { invalidField, notSupported, type Problem, required } from "./problem.ts";

/** Problems of a value against its description: required, choices, least and most. */
export const boundProblems = (
  about: FieldDescription,
  value: unknown,
  path: string,
): readonly Problem[] => {
  if (isMissing(about, value))
    return about.required ? [required(path, "", `write ${last(path)}: ${about.meaning}`)] : [];
  if (about.readElsewhere) return [];
  return CHECKS[about.type]?.(about, value, path) ?? [];
};

/**
 * An empty text means absent, but where there is a default, and for a choice or a time, it is a
 * wrong value.
 */
const isMissing = (
  { type, required: needed, default: filled }: FieldDescription,
  value: unknown,
): boolean =>
  value === undefined ||
  (value === "" && (needed === true || (type === "text" && filled === undefined)));

type Check = (about: FieldDescription, value: unknown, path: string) => readonly Problem[];

const memberProblems: Check = ({ fields = {} }, value, path) =>
  Object.entries(fields).flatMap(([name, member]) =>
    boundProblems(member, isObject(value) ? value[name] : undefined, `${path}.${name}`),
  );

const itemProblems: Check = (about, value, path) => {
  const { items, key, leastItems = 0, mostItems = Number.POSITIVE_INFINITY } = about;
  if (!items || !Array.isArray(value)) return [];
  if (value.length < leastItems)
    return [invalidField(path, "must have at least one", "write one, or leave the field out")];
  if (value.length > mostItems)
    return [
      invalidField(
        path,
        `must have at most ${mostItems} items, not ${value.length}`,
        `write ${mostItems} or fewer`,
      ),
    ];
  return [
    ...value.flatMap((entry: unknown, index) => boundProblems(items, entry, `${path}[${index}]`)),
    ...(key === undefined ? [] : repeatedKeys(key, value, path)),
  ];
};

/** The field by which the items of a list are told apart. An absent one is reported as such. */
const repeatedKeys = (key: string, items: readonly unknown[], path: string): readonly Problem[] => {
  const names = items.map((item) => (isObject(item) ? item[key] : undefined));
  const repeated = names.flatMap((name, index) =>
    name && names.indexOf(name) !== index ? [index] : [],
  );
  const detail = (name: unknown): string =>
    `must be unique: "${String(name)}" is the ${key} of another entry`;
  return repeated.map((index) =>
    invalidField(
      `${path}[${index}].${key}`,
      detail(names[index]),
      `give this entry a ${key} of its own`,
    ),
  );
};

/** A name becomes a part of a path, and some texts have a form. */
const textProblems: Check = (
  { segment, form, mostCharacters = Number.POSITIVE_INFINITY },
  value,
  path,
) => {
  const written = String(value);
  // A text has at most as many characters as code units, which need no counting.
  const characters = written.length > mostCharacters ? [...written].length : 0;
  if (characters > mostCharacters) {
    const detail = `must have at most ${mostCharacters} characters, and has ${characters}`;
    return [{ field: path, type: "FieldValueTooLong", detail, fix: "write a shorter one" }];
  }
  if (segment)
    return pathSegmentFaults(written).map((fault) =>
      invalidField(path, fault, "write the name in the cluster, without / and %"),
    );
  return form?.detail === undefined || new RegExp(form.pattern, "u").test(written)
    ? []
    : [invalidField(path, form.detail, form.fix ?? "")];
};

const choiceProblems: Check = ({ choices = [] }, value, path) =>
  choices.includes(String(value)) ? [] : [notSupported(path, choices)];

const timeProblems: Check = (_, value, path) =>
  readInstant(String(value)) !== undefined
    ? []
    : [invalidField(path, "must be an RFC 3339 time", "write it like 2030-01-31T08:00:00Z")];

const rangeProblems = (
  { least, most }: FieldDescription,
  value: number,
  path: string,
): readonly Problem[] => {
  if (least !== undefined && value < least)
    return [
      invalidField(path, `must be greater than or equal to ${least}`, `write ${least} or more`),
    ];
  if (most !== undefined && value > most)
    return [invalidField(path, `must be less than or equal to ${most}`, `write ${most} or less`)];
  return [];
};

const last = (path: string): string => path.slice(path.lastIndexOf(".") + 1);

/**
 * A value less than a thousandth below 0 would be rounded up (hpa.md 0.4), but it is below every
 * bound.
 */
const unitsOf = (quantity: Quantity): number => {
  const units = Number(milliOf(quantity)) / 1000;
  return signOf(quantity) < 0 ? Math.min(units, -Number.EPSILON) : units;
};

/** Checks by type. Flags have no bounds. */
const CHECKS: Readonly<Partial<Record<FieldDescription["type"], Check>>> = {
  object: memberProblems,
  list: itemProblems,
  text: textProblems,
  choice: choiceProblems,
  time: timeProblems,
  integer: (about, value, path) => rangeProblems(about, Number(value), path),
  quantity: (about, value, path) => rangeProblems(about, unitsOf(value as Quantity), path),
};
