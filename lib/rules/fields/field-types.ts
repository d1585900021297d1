import { isObject } from "../model/json.ts";
import type { Quantity } from "../model/quantity.ts";
import type { Rule } from "./rule.ts";
import {
  int32,
  listOf,
  objectOf,
  quantity,
  type ReadContext,
  type Shape,
  text,
  textMap,
} from "./shape.ts";

/**
 * The form of a text, and what is said of a text in another form. Without these words code reports
 * the problem.
 */
export interface TextForm {
  /** A regular expression that JavaScript and RE2 read alike. */
  readonly pattern: string;
  readonly detail?: string;
  readonly fix?: string;
}

/** What is wrong, and what to write. */
export type Words = readonly [detail: string, fix: string];

/**
 * The description of a field: the one source of parsing, defaults, bounds, JSON Schema and
 * `explain-schema`.
 */
export interface FieldDescription {
  readonly type:
    | "integer"
    | "quantity"
    | "text"
    | "time"
    | "flag"
    | "choice"
    | "object"
    | "list"
    | "texts"
    | "anything";
  readonly meaning: string;
  readonly required?: boolean;
  /** The value of an absent field, as written in a manifest. */
  readonly default?: unknown;
  /** Inclusive. */
  readonly least?: number;
  readonly most?: number;
  readonly choices?: readonly string[];
  readonly fields?: Readonly<Record<string, FieldDescription>>;
  readonly items?: FieldDescription;
  /**
   * Rules between the members of a block that another form checks. The rules of our own fields are
   * in rule-table.ts.
   */
  readonly rules?: readonly Rule[];
  /** True for a name that becomes one segment of a path: it has no / and no %. */
  readonly segment?: true;
  readonly leastItems?: number;
  readonly mostItems?: number;
  readonly mostCharacters?: number;
  /** True for a text of a language, such as PromQL: it may have line ends and tabs. Names may not. */
  readonly lines?: true;
  /** Of a list of objects: the field whose value each of them has for itself. */
  readonly key?: string;
  /** Form of a text that another form checks, for the API server of a cluster. */
  readonly pattern?: string;
  /** Form of a text of our own, for editors too. */
  readonly form?: TextForm;
  /**
   * What the API of another form checks of a text, in its words, where the pattern only says it to
   * others.
   */
  readonly faults?: (text: string) => readonly string[];
  /** What to write instead of a text with faults. */
  readonly faultsFix?: string;
  /** True when another form reads and checks the field. */
  readonly readElsewhere?: true;
  /**
   * What the API of another form says of a value that is absent, below or above its bounds, no
   * whole number, or none of its choices.
   */
  readonly api?: {
    readonly [Fault in "required" | "least" | "most" | "fraction" | "choices"]?: Words;
  };
}

export interface Field<Value, Filled extends boolean = boolean> {
  readonly about: FieldDescription;
  readonly shape: Shape<Value>;
  /** True for a field with a default, which is never absent after reading. */
  readonly filled: Filled;
}

type Options = Pick<
  FieldDescription,
  | "required"
  | "default"
  | "least"
  | "most"
  | "segment"
  | "form"
  | "key"
  | "leastItems"
  | "mostItems"
  | "mostCharacters"
  | "lines"
>;
type IsFilled<Given> = Given extends { readonly default: unknown } ? true : false;

const field = <Value, Given extends Options>(
  description: FieldDescription,
  shape: Shape<Value>,
  options: Given,
): Field<Value, IsFilled<Given>> => ({
  about: { ...description, ...options },
  shape,
  filled: ("default" in options) as IsFilled<Given>,
});

const NONE = {};
const flagShape: Shape<boolean> = (value, path, context) => {
  if (value === null || value === undefined) return undefined;
  if (typeof value === "boolean") return value;
  context.problems.push({
    field: path,
    type: "FieldValueTypeInvalid",
    detail: `must be true or false, not ${JSON.stringify(value)}`,
    fix: "write true or false",
  });
  return undefined;
};

export const integer = <Given extends Options = typeof NONE>(
  meaning: string,
  options: Given = NONE as Given,
): Field<number, IsFilled<Given>> => field({ type: "integer", meaning }, int32, options);
export const amount = <Given extends Options = typeof NONE>(
  meaning: string,
  options: Given = NONE as Given,
): Field<Quantity, IsFilled<Given>> => field({ type: "quantity", meaning }, quantity, options);
export const words = <Given extends Options = typeof NONE>(
  meaning: string,
  options: Given = NONE as Given,
): Field<string, IsFilled<Given>> => field({ type: "text", meaning }, text, options);
export const time = (meaning: string): Field<string, false> =>
  field({ type: "time", meaning }, text, NONE);
export const flag = <Given extends Options = typeof NONE>(
  meaning: string,
  options: Given = NONE as Given,
): Field<boolean, IsFilled<Given>> => field({ type: "flag", meaning }, flagShape, options);
export const texts = (meaning: string): Field<Readonly<Record<string, string>>, false> =>
  field({ type: "texts", meaning }, textMap, NONE);

/** A value outside the set is kept, and `boundProblems` reports it. */
export const choice = <const Choice extends string, Given extends Options = typeof NONE>(
  meaning: string,
  choices: readonly Choice[],
  options: Given = NONE as Given,
): Field<Choice, IsFilled<Given>> =>
  field({ type: "choice", meaning, choices }, text as Shape<Choice>, options);

export const listField = <Item, Given extends Options = typeof NONE>(
  meaning: string,
  items: Field<Item>,
  empty: Item,
  options: Given = NONE as Given,
): Field<readonly Item[], IsFilled<Given>> =>
  field({ type: "list", meaning, items: items.about }, listOf(items.shape, empty), options);

type Fields = Readonly<Record<string, Field<unknown>>>;
type ValueOf<Some> = Some extends Field<infer Value> ? Value : never;
type FilledNames<Known extends Fields> = {
  [Name in keyof Known]: Known[Name] extends Field<unknown, true> ? Name : never;
}[keyof Known];

/** The value of an object with these fields. Fields with defaults are always present. */
export type ReadOf<Known extends Fields> = {
  readonly [Name in FilledNames<Known>]: ValueOf<Known[Name]>;
} & {
  readonly [Name in Exclude<keyof Known, FilledNames<Known>>]?: ValueOf<Known[Name]> | undefined;
};

export const group = <Known extends Fields, Given extends Options = typeof NONE>(
  meaning: string,
  known: Known,
  options: Given = NONE as Given,
): Field<ReadOf<Known>, IsFilled<Given>> => {
  const fields = Object.fromEntries(
    Object.entries(known).map(([name, { about }]) => [name, about]),
  );
  const read = objectOf(
    Object.fromEntries(Object.entries(known).map(([name, { shape }]) => [name, shape])),
  );
  const shape: Shape<ReadOf<Known>> = (value, path, context) => {
    const members = read(value, path, context);
    return members && (withDefaults(members, known, path, context) as ReadOf<Known>);
  };
  return field({ type: "object", meaning, fields }, shape, options);
};

/**
 * Defaults also replace unreadable values, so that the rest can be checked; their problems are
 * already reported.
 */
const withDefaults = (
  members: Readonly<Record<string, unknown>>,
  known: Fields,
  path: string,
  context: ReadContext,
) => ({
  ...members,
  ...Object.fromEntries(
    Object.entries(known)
      .filter(([name, { about }]) => about.default !== undefined && members[name] === undefined)
      .map(([name, { shape, about }]) => [name, shape(about.default, `${path}.${name}`, context)]),
  ),
});

/** A block that another form reads. It is described here for editors, and kept as it is. */
export const foreignBlock = (
  meaning: string,
  fields: Readonly<Record<string, FieldDescription>>,
  rules: readonly Rule[],
): Field<Readonly<Record<string, unknown>>, false> =>
  field(
    { type: "object", meaning, fields, rules, readElsewhere: true },
    (value, path, context) => {
      if (value === null || value === undefined) return undefined;
      if (isObject(value)) return value;
      context.problems.push({
        field: path,
        type: "FieldValueTypeInvalid",
        detail: "must be an object",
        fix: "write an object",
      });
      return undefined;
    },
    NONE,
  );
