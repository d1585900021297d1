import { readInstant } from "../../model/instant.ts";
import { isObject } from "../../model/is-object.ts";
import { milliOf, type Quantity, signOf } from "../../model/quantity.ts";
import { invalid, notSupported, type Problem, required } from "../problem.ts";
import type { FieldDescription } from "./field-types.ts";

/** Problems of a value against its description: required, choices, least and most. */
export const boundProblems = (about: FieldDescription, value: unknown, path: string): readonly Problem[] => {
  if (isMissing(about, value)) return about.required ? [required(path, "", `write ${last(path)}: ${about.meaning}`)] : [];
  if (about.readElsewhere) return [];
  return CHECKS[about.type]?.(about, value, path) ?? [];
};

/** An empty text means absent, but for a choice or a time it is a wrong value. */
const isMissing = ({ type, required: needed }: FieldDescription, value: unknown): boolean =>
  value === undefined || (value === "" && (needed === true || type === "text"));

type Check = (about: FieldDescription, value: unknown, path: string) => readonly Problem[];

const memberProblems: Check = ({ fields = {} }, value, path) =>
  Object.entries(fields).flatMap(([name, member]) => boundProblems(member, isObject(value) ? value[name] : undefined, `${path}.${name}`));

const itemProblems: Check = ({ items }, value, path) =>
  items && Array.isArray(value) ? value.flatMap((entry: unknown, index) => boundProblems(items, entry, `${path}[${index}]`)) : [];

const choiceProblems: Check = ({ choices = [] }, value, path) => (choices.includes(String(value)) ? [] : [notSupported(path, choices)]);

const timeProblems: Check = (_, value, path) =>
  readInstant(String(value)) !== undefined ? [] : [invalid(path, "must be an RFC 3339 time", "write it like 2030-01-31T08:00:00Z")];

const rangeProblems = ({ least, most }: FieldDescription, value: number, path: string): readonly Problem[] => {
  if (least !== undefined && value < least) return [invalid(path, `must be greater than or equal to ${least}`, `write ${least} or more`)];
  if (most !== undefined && value > most) return [invalid(path, `must be less than or equal to ${most}`, `write ${most} or less`)];
  return [];
};

const last = (path: string): string => path.slice(path.lastIndexOf(".") + 1);

/** A value less than a thousandth below 0 would be rounded up (hpa.md 0.4), but it is below every bound. */
const unitsOf = (quantity: Quantity): number => {
  const units = Number(milliOf(quantity)) / 1000;
  return signOf(quantity) < 0 ? Math.min(units, -Number.EPSILON) : units;
};

/** Checks by type. Texts and flags have no bounds. */
const CHECKS: Readonly<Partial<Record<FieldDescription["type"], Check>>> = {
  object: memberProblems,
  list: itemProblems,
  choice: choiceProblems,
  time: timeProblems,
  integer: (about, value, path) => rangeProblems(about, Number(value), path),
  quantity: (about, value, path) => rangeProblems(about, unitsOf(value as Quantity), path),
};
