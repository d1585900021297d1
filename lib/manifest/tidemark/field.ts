import type { Quantity } from "../../model/quantity.ts";
import type { Json } from "../json.ts";
import { int32, isObject, listOf, objectOf, quantity, type Reading, type Shape, text, textMap } from "../shape.ts";

/** What a field means and may hold: the one source of reading, defaults, bounds, JSON Schema and `explain-schema`. */
export interface About {
  readonly type: "integer" | "quantity" | "text" | "time" | "flag" | "choice" | "object" | "list" | "texts" | "anything";
  readonly meaning: string;
  readonly required?: boolean;
  /** As a manifest would write it; an absent field is read as this. */
  readonly default?: unknown;
  /** Both ends are allowed. */
  readonly least?: number;
  readonly most?: number;
  readonly choices?: readonly string[];
  readonly fields?: Readonly<Record<string, About>>;
  readonly items?: About;
  /** What the members ask of each other, for the JSON Schema; see demands.ts. */
  readonly demands?: readonly Json[];
  /** Read and checked by another form. */
  readonly elsewhere?: true;
}

export interface Field<Value, Filled extends boolean = boolean> {
  readonly about: About;
  readonly shape: Shape<Value>;
  /** True for a field with a default: it is never absent once it was read. */
  readonly filled: Filled;
}

type Options = Pick<About, "required" | "default" | "least" | "most" | "demands">;
type IsFilled<Given> = Given extends { readonly default: unknown } ? true : false;

const field = <Value, Given extends Options>(
  type: About["type"],
  meaning: string,
  shape: Shape<Value>,
  options: Given,
  rest: Partial<About> = {},
): Field<Value, IsFilled<Given>> => ({
  about: { type, meaning, ...options, ...rest },
  shape,
  filled: ("default" in options) as IsFilled<Given>,
});

const NONE = {};
const flagShape: Shape<boolean> = (value, path, reading) => {
  if (value === null || value === undefined) return undefined;
  if (typeof value === "boolean") return value;
  reading.problems.push({
    field: path,
    type: "FieldValueTypeInvalid",
    detail: `must be true or false, not ${JSON.stringify(value)}`,
    fix: "write true or false",
  });
  return undefined;
};

export const integer = <Given extends Options = typeof NONE>(meaning: string, options: Given = NONE as Given): Field<number, IsFilled<Given>> =>
  field("integer", meaning, int32, options);
export const amount = <Given extends Options = typeof NONE>(meaning: string, options: Given = NONE as Given): Field<Quantity, IsFilled<Given>> =>
  field("quantity", meaning, quantity, options);
export const words = <Given extends Options = typeof NONE>(meaning: string, options: Given = NONE as Given): Field<string, IsFilled<Given>> =>
  field("text", meaning, text, options);
export const time = (meaning: string): Field<string, false> => field("time", meaning, text, NONE);
export const flag = <Given extends Options = typeof NONE>(meaning: string, options: Given = NONE as Given): Field<boolean, IsFilled<Given>> =>
  field("flag", meaning, flagShape, options);
export const texts = (meaning: string): Field<Readonly<Record<string, string>>, false> => field("texts", meaning, textMap, NONE);

/** A value outside the set is read as it is; `boundProblems` says so. */
export const choice = <const Choice extends string, Given extends Options = typeof NONE>(
  meaning: string,
  choices: readonly Choice[],
  options: Given = NONE as Given,
): Field<Choice, IsFilled<Given>> => field("choice", meaning, text as Shape<Choice>, options, { choices });

export const list = <Item, Given extends Options = typeof NONE>(
  meaning: string,
  items: Field<Item>,
  empty: Item,
  options: Given = NONE as Given,
): Field<readonly Item[], IsFilled<Given>> => field("list", meaning, listOf(items.shape, empty), options, { items: items.about });

type Fields = Readonly<Record<string, Field<unknown>>>;
type ValueOf<Some> = Some extends Field<infer Value> ? Value : never;
type FilledNames<Known extends Fields> = { [Name in keyof Known]: Known[Name] extends Field<unknown, true> ? Name : never }[keyof Known];

/** What an object of these fields reads as: those with a default are there, the others may be absent. */
export type ReadOf<Known extends Fields> = { readonly [Name in FilledNames<Known>]: ValueOf<Known[Name]> } & {
  readonly [Name in Exclude<keyof Known, FilledNames<Known>>]?: ValueOf<Known[Name]> | undefined;
};

export const group = <Known extends Fields, Given extends Options = typeof NONE>(
  meaning: string,
  known: Known,
  options: Given = NONE as Given,
): Field<ReadOf<Known>, IsFilled<Given>> => {
  const fields = Object.fromEntries(Object.entries(known).map(([name, { about }]) => [name, about]));
  const read = objectOf(Object.fromEntries(Object.entries(known).map(([name, { shape }]) => [name, shape])));
  const shape: Shape<ReadOf<Known>> = (value, path, reading) => {
    const members = read(value, path, reading);
    return members && (withDefaults(members, known, path, reading) as ReadOf<Known>);
  };
  return field("object", meaning, shape, options, { fields });
};

/** Also in the place of what could not be read, so that the rest can still be checked; the problem is told already. */
const withDefaults = (members: Readonly<Record<string, unknown>>, known: Fields, path: string, reading: Reading) => ({
  ...members,
  ...Object.fromEntries(
    Object.entries(known)
      .filter(([name, { about }]) => about.default !== undefined && members[name] === undefined)
      .map(([name, { shape, about }]) => [name, shape(about.default, `${path}.${name}`, reading)]),
  ),
});

/** Content that another form reads: described here for editors, taken as it is. */
export const carried = (
  meaning: string,
  fields: Readonly<Record<string, About>>,
  demands: readonly Json[],
): Field<Readonly<Record<string, unknown>>, false> =>
  field(
    "object",
    meaning,
    (value, path, reading) => {
      if (value === null || value === undefined) return undefined;
      if (isObject(value)) return value;
      reading.problems.push({ field: path, type: "FieldValueTypeInvalid", detail: "must be an object", fix: "write an object" });
      return undefined;
    },
    NONE,
    { fields, demands, elsewhere: true },
  );
