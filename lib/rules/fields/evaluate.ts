import { isObject } from "../model/json.ts";
import { isWhole, milliOf, milliOfText, type Quantity } from "../model/quantity.ts";
import type { Problem, ProblemType } from "./problem.ts";
import {
  type RuleCondition,
  isInOrder,
  type NamePart,
  type Rule,
  type Term,
  type ValueCondition,
} from "./rule.ts";
import { filledText, givenFields, type Texts } from "./rule-text.ts";

/**
 * An object of a manifest: as it was read, with its defaults, and as it was written. Only what is
 * written is set.
 */
export interface RuleSubject {
  readonly read: unknown;
  readonly written: unknown;
  /** The object that holds the list of this one. */
  readonly outer?: RuleSubject;
}

/** Where a condition does not hold. */
interface Fault {
  /** Relative to the object. Empty for the object itself. */
  readonly field: string;
  readonly type: ProblemType;
  /** Texts for the words of the problem. */
  readonly texts?: Texts;
}

/**
 * The problems of an object that breaks a rule, below the path of the object. `own` are what its
 * words name in braces and no term can say.
 */
export const ruleProblems = (
  rule: Rule,
  subject: RuleSubject,
  path: string,
  own?: () => Texts,
): readonly Problem[] => {
  if (rule.parts) return rule.parts.flatMap((part) => ruleProblems(part, subject, path, own));
  if (rule.reportedElsewhere || (rule.when && !holds(rule.when, subject))) return [];
  const faults = faultsIn(rule.needs, subject);
  const [first] = faults;
  if (!first) return [];
  const located = rule.at === undefined ? faults : [{ ...first, field: rule.at }];
  const given = givenFields(rule).find((field) => isSet(subject, field)) ?? "";
  return located.map(({ field, type, texts }) => {
    const words = (text: string): string =>
      filledText(text, rule, { ...own?.(), ...texts, given, path }, (term) =>
        termText(term, subject),
      );
    return {
      field: joined(path, field),
      type: rule.type ?? type,
      detail: words(rule.detail),
      fix: words(rule.fix),
    };
  });
};

const holds = (condition: RuleCondition, subject: RuleSubject): boolean =>
  faultsIn(condition, subject).length === 0;

const INVALID = "FieldValueInvalid";
const OBJECT: readonly Fault[] = [{ field: "", type: INVALID }];

const faultsIn = (condition: RuleCondition, subject: RuleSubject): readonly Fault[] => {
  switch (condition.kind) {
    case "all":
      return condition.of.flatMap((one) => faultsIn(one, subject));
    case "any":
      return condition.of.some((one) => holds(one, subject)) ? [] : OBJECT;
    case "not":
      return holds(condition.of, subject) ? OBJECT : [];
    case "set":
      return isSet(subject, condition.field)
        ? []
        : [{ field: condition.field, type: "FieldValueRequired" }];
    case "unset":
      return forbidden(condition.fields.filter((field) => isSet(subject, field)));
    case "atMostOne": {
      const [first, ...more] = condition.fields.filter((field) => isSet(subject, field));
      return forbidden(more, { first: first ?? "" });
    }
    case "each":
      return itemsOf(subject, condition.field).flatMap((item, index) =>
        faultsIn(condition.item, item).map((fault) => ({
          ...fault,
          field: joined(`${condition.field}[${index}]`, fault.field),
        })),
      );
    case "some":
      return itemsOf(subject, condition.field).some((item) => holds(condition.item, item))
        ? []
        : [{ field: condition.field, type: INVALID }];
    case "unique":
      return repeated(condition.field, condition.by, itemsOf(subject, condition.field));
    case "is":
    case "compared":
    case "multiple":
    case "matches":
    case "length":
      return isRight(condition, subject) ? [] : [{ field: condition.field, type: INVALID }];
  }
};

const forbidden = (fields: readonly string[], texts: Texts = {}): readonly Fault[] =>
  fields.map((field) => ({ field, type: "FieldValueForbidden", texts }));

const isRight = (condition: ValueCondition, subject: RuleSubject): boolean => {
  const value = at(subject.read, condition.field);
  if (condition.kind === "is") return condition.values.some((one) => one === value);
  if (value === undefined) return true;
  switch (condition.kind) {
    case "compared": {
      const [one, other] = [numberOf(value), termValue(condition.term, subject)];
      return one === undefined || other === undefined || isInOrder(one, condition.sign, other);
    }
    case "multiple":
      return isMultiple(value, condition.of);
    case "matches":
      return value === "" || patternOf(condition.pattern).test(String(value));
    case "length":
      return isLong(value, condition);
  }
};

const PATTERNS = new Map<string, RegExp>();

/** Patterns come from rules in the code, so that there are few. */
const patternOf = (pattern: string): RegExp => {
  const known = PATTERNS.get(pattern) ?? new RegExp(pattern, "u");
  PATTERNS.set(pattern, known);
  return known;
};

const isMultiple = (value: unknown, of: number): boolean => {
  const isFraction = isQuantity(value) && !isWhole(value);
  return !isFraction && (numberOf(value) ?? 0n) % (BigInt(of) * THOUSAND) === 0n;
};

/** Characters are code points, as JSON Schema and CEL count them. */
const isLong = (
  value: unknown,
  { least, most = Number.POSITIVE_INFINITY }: { readonly least: number; readonly most?: number },
): boolean => {
  const size = Array.isArray(value) ? value.length : [...String(value)].length;
  return size >= least && size <= most;
};

/**
 * Where an item has the name of an earlier one. An item without a name is reported by the rule of
 * what it lacks.
 */
const repeated = (
  list: string,
  by: readonly NamePart[],
  items: readonly RuleSubject[],
): readonly Fault[] => {
  const names = items.map((item) => nameBy(by, item));
  const [field] = by;
  return names.flatMap((name, index) =>
    name !== "" && names.indexOf(name) !== index
      ? [
          {
            field: `${list}[${index}].${typeof field === "string" ? field : ""}`,
            type: INVALID,
            texts: { name: JSON.stringify(name) },
          },
        ]
      : [],
  );
};

const nameBy = (by: readonly NamePart[], item: RuleSubject): string => {
  for (const part of by) {
    if (typeof part !== "string" && isSet(item, part.set)) return part.set;
    const value = typeof part === "string" ? at(item.read, part) : "";
    if (typeof value === "string" && value !== "") return value;
  }
  return "";
};

export const memberOf = (value: unknown, name: string): unknown =>
  isObject(value) ? (value[name] ?? undefined) : undefined;

/** Most paths are one name, and a rule is evaluated for each metric of each manifest. */
const at = (value: unknown, path: string): unknown =>
  path.includes(".") ? path.split(".").reduce(memberOf, value) : memberOf(value, path);

const isSet = ({ written }: RuleSubject, field: string): boolean =>
  (at(written, field) ?? "") !== "";

/** The items of a list. Items that come from a default were not written. */
const itemsOf = (subject: RuleSubject, field: string): readonly RuleSubject[] => {
  const read = at(subject.read, field);
  const written = at(subject.written, field);
  if (!Array.isArray(read)) return [];
  return read.map((item: unknown, index) => ({
    read: item,
    written: Array.isArray(written) ? written[index] : item,
    outer: subject,
  }));
};

const THOUSAND = 1_000n;

const isQuantity = (value: unknown): value is Quantity =>
  isObject(value) && typeof value["mantissa"] === "bigint";

/**
 * In thousandths. A quantity is rounded up to them, as it is stored. A text is read as a quantity.
 */
const numberOf = (value: unknown): bigint | undefined => {
  if (typeof value === "number") return BigInt(Math.round(value * Number(THOUSAND)));
  if (typeof value === "string") return milliOfText(value);
  return isQuantity(value) ? milliOf(value) : undefined;
};

const termValue = (term: Term, subject: RuleSubject): bigint | undefined => {
  if (typeof term === "number") return numberOf(term);
  if (typeof term === "string") return numberOf(at(subject.read, term));
  if (term.kind === "outer") return subject.outer && termValue(term.field, subject.outer);
  if (term.kind === "times")
    return calculated([term.of], subject, (value) => value * BigInt(term.factor));
  return calculated(
    term.of,
    subject,
    term.kind === "difference" ? (one, other = 0n) => one - other : largerOf,
  );
};

const largerOf = (one: bigint, other = one): bigint => {
  if (one < other) return other;
  return one;
};

const calculated = (
  terms: readonly Term[],
  subject: RuleSubject,
  calculate: (one: bigint, other?: bigint) => bigint,
): bigint | undefined => {
  const values = terms
    .map((term) => termValue(term, subject))
    .filter((value) => value !== undefined);
  const [one, other] = values;
  return one === undefined || values.length < terms.length ? undefined : calculate(one, other);
};

const termText = (term: Term, subject: RuleSubject): string | undefined => {
  const value = termValue(term, subject);
  return value === undefined ? undefined : String(Number(value) / Number(THOUSAND));
};

const joined = (path: string, field: string): string => (field === "" ? path : `${path}.${field}`);
