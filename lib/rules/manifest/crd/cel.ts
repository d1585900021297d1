import type { FieldDescription } from "../../fields/field-types.ts";
import type { RuleCondition, NamePart, Rule, Term, ValueCondition } from "../../fields/rule.ts";
import { fieldAt } from "../native/explain-field.ts";
import { isTooShort, patternOf } from "../native/rule-schema.ts";

/** A value in CEL, its description, and for the item of a list the object that holds the list. */
interface Scope {
  readonly self: string;
  readonly about: FieldDescription;
  readonly outer?: Scope;
}

/**
 * A rule as a CEL expression about `self`, its object. The API server removes a null before it
 * checks rules, so that a member which is null is absent here too.
 */
export const ruleCel = ({ when, needs }: Rule, about: FieldDescription): string => {
  const scope: Scope = { self: "self", about };
  const holds = celOf(needs, scope);
  return when === undefined ? holds : some([negated(celOf(when, scope)), holds]);
};

const celOf = (condition: RuleCondition, scope: Scope): string => {
  switch (condition.kind) {
    case "all":
      return every(condition.of.map((one) => celOf(one, scope)));
    case "any":
      return some(condition.of.map((one) => celOf(one, scope)));
    case "not":
      return negated(celOf(condition.of, scope));
    case "set":
      return isSet(scope, condition.field);
    case "unset":
      return every(condition.fields.map((field) => negated(isSet(scope, field))));
    case "atMostOne":
      return `[${condition.fields.map((field) => isSet(scope, field)).join(", ")}].filter(one, one).size() <= 1`;
    case "each":
      return ifThere(
        valueAt(scope, condition.field),
        (list) => `${list}.all(item, ${inItem(condition, scope)})`,
      );
    case "some": {
      const { missing, value } = valueAt(scope, condition.field);
      return every([...missing.map(negated), `${value}.exists(item, ${inItem(condition, scope)})`]);
    }
    case "unique":
      return ifThere(valueAt(scope, condition.field), (list) =>
        uniqueCel(list, condition.by, fieldAt(scope.about, condition.field)),
      );
    case "is":
    case "compared":
    case "multiple":
    case "matches":
    case "length":
      return valueCel(condition, scope);
  }
};

const inItem = (
  { field, item }: Extract<RuleCondition, { readonly kind: "each" | "some" }>,
  scope: Scope,
): string => celOf(item, { self: "item", about: fieldAt(scope.about, field), outer: scope });

const valueCel = (condition: ValueCondition, scope: Scope): string => {
  const { field } = condition;
  const about = fieldAt(scope.about, field);
  const place = valueAt(scope, field);
  switch (condition.kind) {
    case "is": {
      const [first, ...more] = condition.values.map(literal);
      return every([
        ...place.missing.map(negated),
        more.length === 0
          ? `${place.value} == ${first}`
          : `${place.value} in [${[first, ...more].join(", ")}]`,
      ]);
    }
    case "compared":
      return compared(condition, scope);
    case "multiple":
      return ifThere(place, (value) =>
        about.type === "quantity"
          ? `${amountOf(value)}.isInteger()`
          : `${value} % ${condition.of} == 0`,
      );
    case "matches":
      return ifThere(
        place,
        (value) => `${value}.matches(${literal(patternOf(condition.pattern, about))})`,
      );
    case "length": {
      const { least, most } = condition;
      const sizes = (value: string): string =>
        every([
          ...(least > 0 ? [`${value}.size() >= ${least}`] : []),
          ...(most === undefined ? [] : [`${value}.size() <= ${most}`]),
        ]);
      return isTooShort(about.default, least)
        ? every([...place.missing.map(negated), sizes(place.value)])
        : ifThere(place, sizes);
    }
  }
};

const compared = (
  { field, sign, term }: Extract<RuleCondition, { readonly kind: "compared" }>,
  scope: Scope,
): string => {
  const one = valueAt(scope, field);
  const isAmount = fieldAt(scope.about, field).type === "quantity";
  const other = isAmount ? amountTerm(term, scope) : numberTerm(term, scope);
  const holds = isAmount
    ? `${amountOf(one.value)}.compareTo(${other.value}) ${sign} 0`
    : `${one.value} ${sign} ${other.value}`;
  return some([...one.missing, ...other.missing, holds]);
};

/** A value, and the conditions under which it is absent. */
interface Place {
  readonly missing: readonly string[];
  readonly value: string;
}

const numberTerm = (term: Term, scope: Scope): Place => {
  if (typeof term === "number") return { missing: [], value: String(term) };
  if (typeof term === "string") return valueAt(scope, term);
  switch (term.kind) {
    case "outer": {
      if (!scope.outer)
        throw new RangeError(`the term "${term.field}" is of an outer object, and there is none`);
      return valueAt(scope.outer, term.field);
    }
    case "times": {
      const { missing, value } = numberTerm(term.of, scope);
      return { missing, value: `${term.factor} * ${value}` };
    }
    case "difference":
    case "larger": {
      const [one, other] = [numberTerm(term.of[0], scope), numberTerm(term.of[1], scope)];
      const value =
        term.kind === "difference"
          ? `${one.value} - ${other.value}`
          : `(${one.value} > ${other.value} ? ${one.value} : ${other.value})`;
      return { missing: [...one.missing, ...other.missing], value };
    }
  }
};

const amountTerm = (term: Term, scope: Scope): Place => {
  const { missing, value } = numberTerm(term, scope);
  return { missing, value: typeof term === "number" ? `quantity('${term}')` : amountOf(value) };
};

/**
 * A field with its default, where its value is printed as a literal. A field that is required is
 * there once its object is; a field whose object has a default is there as if that object were
 * written without members.
 */
const valueAt = ({ self, about }: Scope, path: string): Place => {
  const steps = stepsOf(self, about, path);
  const last = steps.at(-1);
  if (!last) throw new RangeError("a condition names no field");
  const optional = steps.filter((step) => !step.about.required);
  const filled = last.about.default;
  if (filled === undefined || typeof filled === "object")
    return { missing: optional.map(({ at }) => negated(`has(${at})`)), value: last.at };
  const [open, sure] = [
    optional.filter((step) => step === last || step.about.default !== undefined),
    optional.filter((step) => step.about.default === undefined),
  ];
  const written = every(open.map(({ at }) => `has(${at})`));
  return {
    missing: sure.map(({ at }) => negated(`has(${at})`)),
    value: `(${written} ? ${last.at} : ${literal(filled)})`,
  };
};

const stepsOf = (
  self: string,
  about: FieldDescription,
  path: string,
): readonly { readonly at: string; readonly about: FieldDescription }[] => {
  const names = path.split(".");
  return names.map((_, index) => ({
    at: [self, ...names.slice(0, index + 1).map(escaped)].join("."),
    about: fieldAt(about, names.slice(0, index + 1).join(".")),
  }));
};

const isSet = ({ self, about }: Scope, path: string): string => {
  const steps = stepsOf(self, about, path);
  const last = steps.at(-1);
  const there = steps
    .filter((step) => step === last || !step.about.required)
    .map(({ at }) => `has(${at})`);
  return every([...there, ...(last?.about.type === "text" ? [`${last.at} != ''`] : [])]);
};

const ifThere = ({ missing, value }: Place, condition: (value: string) => string): string =>
  some([...missing, condition(value)]);

/** An item without a name breaks another rule, so that it may repeat the empty one here. */
const uniqueCel = (list: string, by: readonly NamePart[], about: FieldDescription): string => {
  const names = by.map((part) => {
    if (typeof part !== "string")
      return `${isSet({ self: "item", about }, part.set)} ? ${literal(part.set)}`;
    const steps = stepsOf("item", about, part);
    const last = steps.at(-1);
    // A required text is never empty.
    const there = last?.about.required
      ? every(steps.filter((step) => !step.about.required).map(({ at }) => `has(${at})`))
      : isSet({ self: "item", about }, part);
    return `${there} ? ${last?.at}`;
  });
  const all = `${list}.map(item, ${[...names, "''"].join(" : ")})`;
  return `${all}.all(name, ${all}.filter(other, other == name).size() == 1)`;
};

/**
 * The amount of a quantity in CEL. The API server of a cluster gives a rule the whole number or the
 * text.
 */
export const amountOf = (self: string): string =>
  `(type(${self}) == int ? quantity(string(${self})) : quantity(${self}))`;

/** A word that CEL reserves has underscores around it. */
const RESERVED: ReadonlySet<string> = new Set([
  "namespace",
  "in",
  "as",
  "break",
  "const",
  "continue",
  "else",
  "for",
  "function",
  "if",
  "import",
  "let",
  "loop",
  "package",
  "return",
  "var",
  "void",
  "while",
]);
const escaped = (name: string): string => (RESERVED.has(name) ? `__${name}__` : name);

const literal = (value: unknown): string =>
  typeof value === "string"
    ? `'${value.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`
    : String(value);

const HAS = /^has\([\w.]+\)$/;
const NOT = /^!has\([\w.]+\)$/;

const negated = (expression: string): string => {
  if (HAS.test(expression)) return `!${expression}`;
  return NOT.test(expression) ? expression.slice(1) : `!(${expression})`;
};

const joined = (operator: " && " | " || ", parts: readonly string[]): string =>
  parts.length === 1
    ? (parts[0] ?? "")
    : parts
        .map((part) =>
          part.includes(operator === " && " ? " || " : " && ") || part.includes(" ? ")
            ? `(${part})`
            : part,
        )
        .join(operator);

const every = (parts: readonly string[]): string =>
  parts.length === 0 ? "true" : joined(" && ", parts);
const some = (parts: readonly string[]): string =>
  parts.length === 0 ? "false" : joined(" || ", parts);
