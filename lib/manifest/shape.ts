import { canonicalOf, parseQuantity, type Quantity } from "../model/quantity.ts";
import { nearestName } from "./nearest.ts";
import { type Problem, type Warning, wrongType } from "./problem.ts";

/**
 * Shapes read JSON as the Kubernetes API decodes it: null and absent are the same, numbers are not texts, unknown fields are passed over. One pass gives the value, every
 * problem with its path, and a warning for each unknown field, which strict validation refuses; what cannot be read is left out, so that the rest can still be checked.
 */
export type Shape<Value> = (value: unknown, path: string, reading: Reading) => Value | undefined;

export interface Reading {
  readonly problems: Problem[];
  readonly warnings: Warning[];
  /** Names of fields match whatever their capitals, as in JSON that travels in annotations (hpa.md 1.2). */
  readonly anyCase: boolean;
  /** How often the cluster is synced that it is read for. */
  readonly syncPeriodSeconds: number;
}

/** Sync period of a cluster that says nothing of it, and where no cluster is known. */
export const DEFAULT_SYNC_PERIOD_SECONDS = 15;

/** Unknown fields of one manifest that are told; the search for the nearest name costs more than the rest. */
const MAX_UNKNOWN = 50;
/** Of a quantity's text, as written and as stored: what is stored can be a little longer, and must be readable again. */
const MAX_QUANTITY_CHARACTERS = 256;
const INT32 = 2 ** 31;

export const newReading = (anyCase = false, syncPeriodSeconds = DEFAULT_SYNC_PERIOD_SECONDS): Reading => ({
  problems: [],
  warnings: [],
  anyCase,
  syncPeriodSeconds,
});

const wrong = (path: string, wanted: string, value: unknown, reading: Reading): undefined => {
  reading.problems.push(wrongType(path, wanted, value));
  return undefined;
};

export const text: Shape<string> = (value, path, reading) => {
  if (value === null || value === undefined) return undefined;
  return typeof value === "string" ? value : wrong(path, "a text", value, reading);
};

export const int32: Shape<number> = (value, path, reading) => {
  if (value === null || value === undefined) return undefined;
  const fits = typeof value === "number" && Number.isInteger(value) && value >= -INT32 && value < INT32;
  // Minus zero is zero, here and in every comparison that follows.
  return fits ? value + 0 : wrong(path, "a whole number below 2147483648", value, reading);
};

/** A number counts as its own text, up to where JSON numbers are exact; blanks around a quoted text are cut off. */
export const quantity: Shape<Quantity> = (value, path, reading) => {
  if (value === null || value === undefined) return undefined;
  const written = typeof value === "number" ? exactText(value) : typeof value === "string" ? value.trim() : "";
  const read = written.length > MAX_QUANTITY_CHARACTERS ? undefined : parseQuantity(written);
  const kept = read && canonicalOf(read).length <= MAX_QUANTITY_CHARACTERS ? read : undefined;
  if (kept && written !== value && typeof value === "string") warnBlanks(path, value, written, reading);
  return kept ?? wrong(path, 'a quantity such as 80, "250m" or "1500Mi"', value, reading);
};

/** The API cuts them off without a word. They come from a template or a slip, and what else the slip changed is not known. */
const warnBlanks = (field: string, value: string, written: string, { warnings }: Reading): void => {
  const fix = `write "${written}"`;
  const refusal = { type: "FieldValueInvalid", detail: "may not have blanks around it", fix } as const;
  warnings.push({ field, message: `the blanks around ${JSON.stringify(value)} are cut off`, fix, refusal });
};

/** A larger number has lost its last digits before it is seen here: it must be quoted. */
const exactText = (value: number): string => (Math.abs(value) > Number.MAX_SAFE_INTEGER ? "" : String(value));

/** Content that is known but not used here. */
export const anything: Shape<unknown> = (value) => value ?? undefined;

export const listOf =
  <Item>(item: Shape<Item>, empty: Item): Shape<readonly Item[]> =>
  (value, path, reading) => {
    if (value === null || value === undefined) return undefined;
    if (!Array.isArray(value)) return wrong(path, "a list", value, reading);
    return value.map((entry: unknown, index) => item(entry, `${path}[${index}]`, reading) ?? empty);
  };

export const textMap: Shape<Readonly<Record<string, string>>> = (value, path, reading) => {
  if (value === null || value === undefined) return undefined;
  if (!isObject(value)) return wrong(path, "an object of texts", value, reading);
  return Object.fromEntries(Object.entries(value).map(([key, entry]) => [key, text(entry, `${path}.${key}`, reading) ?? ""]));
};

/** What a shape reads as. */
export type ReadAs<Some> = Some extends Shape<infer Value> ? Value : never;

type Fields = Readonly<Record<string, Shape<unknown>>>;
/** What an object of these fields reads as; every member can be absent. */
type Read<Known extends Fields> = { readonly [Name in keyof Known]?: ReadAs<Known[Name]> | undefined };

export const objectOf =
  <Known extends Fields>(known: Known): Shape<Read<Known>> =>
  (value, path, reading) => {
    if (value === null || value === undefined) return undefined;
    if (!isObject(value)) return wrong(path, "an object", value, reading);
    const names = Object.keys(known);
    const members = Object.entries(value).flatMap(([written, entry]) => {
      const field = path === "" ? written : `${path}.${written}`;
      const name = fieldName(written, names, reading);
      if (name !== undefined) return [[name, known[name]?.(entry, field, reading)] as const];
      warnUnknown(written, path, names, reading);
      return [];
    });
    return Object.fromEntries(members) as Read<Known>;
  };

const fieldName = (written: string, names: readonly string[], { anyCase }: Reading): string | undefined => {
  if (names.includes(written)) return written;
  return anyCase ? names.find((name) => name.toLowerCase() === written.toLowerCase()) : undefined;
};

const warnUnknown = (written: string, parent: string, names: readonly string[], { warnings }: Reading): void => {
  if (warnings.filter(({ refusal }) => refusal?.type === "FieldUnknown").length >= MAX_UNKNOWN) return;
  const field = parent === "" ? written : `${parent}.${written}`;
  const message = `unknown field "${field}" is ignored`;
  const nearest = nearestName(written, names);
  const fix = nearest === undefined ? "remove it" : `write "${nearest}" if that is meant`;
  const meant = nearest !== undefined && { meant: parent === "" ? nearest : `${parent}.${nearest}` };
  warnings.push({ field, message, fix, ...meant, refusal: { type: "FieldUnknown", detail: "unknown field", fix } });
};

export const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
