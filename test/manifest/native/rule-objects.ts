import fc from "fast-check";
import type { FieldDescription } from "../../../lib/rules/fields/field-types.ts";
import type { RuleCondition, Rule, Term } from "../../../lib/rules/fields/rule.ts";
import { isObject } from "../../../lib/rules/model/json.ts";
import { parseQuantity } from "../../../lib/rules/model/quantity.ts";
import {
  explainField,
  fieldAt,
  membersOf,
  memberPath,
} from "../../../lib/rules/manifest/native/explain-field.ts";
import { RULE_TABLE } from "../../../lib/rules/manifest/native/rule-table.ts";
import { SPEC } from "../../../lib/rules/manifest/native/spec-fields.ts";

type Json = Readonly<Record<string, unknown>>;

/** A rule, the path of its object, and the description of the object. */
export interface PlacedRule {
  readonly path: string;
  readonly rule: Rule;
  readonly about: FieldDescription;
}

/** Rules inside the blocks that another form checks. */
const inBlocks = (path: string, about: FieldDescription): readonly PlacedRule[] => [
  ...(about.rules ?? []).map((rule) => ({ path, rule, about })),
  ...Object.entries(membersOf(about)).flatMap(([name, member]) =>
    inBlocks(memberPath(path, name, member), member.items ?? member),
  ),
];

/** Rules of our own fields. */
export const OWN_RULES: readonly PlacedRule[] = RULE_TABLE.flatMap(({ path, rules }) => {
  const field = explainField(path);
  if (field.kind !== "known") throw new Error(`"${path}" is no field`);
  const { about } = field;
  return rules.map((rule) => ({ path, rule, about: about.items ?? about }));
});

/** Every rule of the tree, our own and those of the other forms. */
export const PLACED_RULES: readonly PlacedRule[] = [...OWN_RULES, ...inBlocks("spec", SPEC.about)];

const INSIDE = "[].";

const ofTerm = (term: Term): readonly string[] => {
  if (typeof term === "string") return [term];
  if (typeof term === "number") return [];
  if (term.kind === "outer") return [`^${term.field}`];
  return Array.isArray(term.of) ? term.of.flatMap(ofTerm) : ofTerm(term.of as Term);
};

/** The fields that a condition reads; those of a list follow its name and "[].". */
const fieldsIn = (condition: RuleCondition): readonly string[] => {
  switch (condition.kind) {
    case "all":
    case "any":
      return condition.of.flatMap(fieldsIn);
    case "not":
      return fieldsIn(condition.of);
    case "unset":
    case "atMostOne":
      return condition.fields;
    case "compared":
      return [condition.field, ...ofTerm(condition.term)];
    case "some":
    case "each":
      return fieldsIn(condition.item).map((field) =>
        field.startsWith("^") ? field.slice(1) : `${condition.field}${INSIDE}${field}`,
      );
    case "unique":
      return condition.by.map(
        (part) => `${condition.field}${INSIDE}${typeof part === "string" ? part : part.set}`,
      );
    case "set":
    case "is":
    case "multiple":
    case "matches":
    case "length":
      return [condition.field];
  }
};

const TEXTS = [
  "",
  "web",
  "a/b",
  "a/b/c",
  "Namespace",
  "ReplicationController",
  "Deployment",
  "apps/v1",
] as const;
const valuesOf = (about: FieldDescription): fc.Arbitrary<unknown> => {
  switch (about.type) {
    case "integer":
      return fc.oneof(
        fc.integer({ min: 0, max: 4 }),
        fc.constantFrom(1, 2, 60, 90, 120, 180, 1_000_001, 50_000),
      );
    case "quantity":
      return fc.oneof(
        fc.integer({ min: 0, max: 4 }),
        fc.constantFrom(0.5, 1.5, 99, 99.9, 100, 2_000_000),
      );
    case "flag":
      return fc.boolean();
    case "choice":
      return fc.constantFrom(...(about.choices ?? []));
    case "texts":
      return fc.constant({});
    case "list":
      return fc.constantFrom<unknown>([], [{}]);
    case "object":
      return fc.constant({});
    case "text":
    case "time":
    case "anything":
      return fc.constantFrom(...TEXTS);
  }
};

/**
 * The object with the value at the path, its parents as objects. A value that stands in another's
 * way is replaced.
 */
const withValue = (object: Json, [name = "", ...rest]: readonly string[], value: unknown): Json => {
  if (value === undefined) return object;
  if (rest.length === 0)
    return isObject(object[name]) && isObject(value) ? object : { ...object, [name]: value };
  const inner = object[name];
  return { ...object, [name]: withValue(isObject(inner) ? inner : {}, rest, value) };
};

/** Objects in which some of these fields have some value, and the others are absent. */
const objectWith = (fields: readonly string[], about: FieldDescription): fc.Arbitrary<Json> => {
  const flat = fields.filter((field) => !field.includes(INSIDE));
  const lists = Map.groupBy(
    fields.filter((field) => field.includes(INSIDE)),
    (field) => field.slice(0, field.indexOf(INSIDE)),
  );
  const ofField = (field: string) =>
    fc
      .option(valuesOf(fieldAt(about, field)), { nil: null, freq: 9 })
      .map((value) => [field, value] as const);
  const ofLists = [...lists].map(([list, members]) => {
    const names = [...new Set(members.map((member) => member.slice(list.length + INSIDE.length)))];
    const item = objectWith(names, fieldAt(about, list));
    return fc
      .option(fc.array(item, { maxLength: 3 }), { nil: undefined })
      .map((value) => [list, value] as const);
  });
  return fc
    .subarray([...flat])
    .chain((some) => fc.tuple(...some.map(ofField), ...ofLists))
    .map((values) =>
      values.reduce<Json>((object, [path, value]) => withValue(object, path.split("."), value), {}),
    );
};

/** Objects about which a rule has something to say. */
export const objectsFor = ({ rule, about }: PlacedRule): fc.Arbitrary<Json> =>
  objectWith(
    [...new Set([...(rule.when ? fieldsIn(rule.when) : []), ...fieldsIn(rule.needs)])],
    about,
  );

/**
 * The value with the object at a path such as "metrics[].onMissing"; of a list it is the first
 * item.
 */
const placed = (value: unknown, [step = "", ...rest]: readonly string[], object: Json): unknown => {
  if (step === "") return { ...(isObject(value) ? value : {}), ...object };
  const name = step.replace("[]", "");
  const members = isObject(value) ? value : {};
  const member = members[name];
  if (!step.endsWith("[]")) return { ...members, [name]: placed(member, rest, object) };
  const [first, ...more]: readonly unknown[] = Array.isArray(member) ? member : [];
  return { ...members, [name]: [placed(first, rest, object), ...more] };
};

/** A spec with the object where the rule is about it. */
export const specWith = (spec: Json, { path }: PlacedRule, object: Json): Json =>
  placed(spec, path.split(".").slice(1), object) as Json;

/** The object as it is read: quantities as amounts, nulls absent, and with its defaults. */
export const asRead = (value: unknown, about: FieldDescription): unknown => {
  if (about.type === "quantity" && (typeof value === "number" || typeof value === "string"))
    return parseQuantity(String(value));
  if (Array.isArray(value))
    return value.map((item: unknown) => (about.items ? asRead(item, about.items) : item));
  if (!isObject(value) || !about.fields) return value;
  return Object.fromEntries(
    Object.entries(about.fields).flatMap(([name, member]) => {
      const given = value[name] ?? member.default ?? undefined;
      return given === undefined ? [] : [[name, asRead(given, member)]];
    }),
  );
};
