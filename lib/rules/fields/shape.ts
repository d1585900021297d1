import { isObject } from "../model/json.ts";
import { nearestName } from "../model/nearest-name.ts";
import { canonicalOf, parseQuantity, type Quantity } from "../model/quantity.ts";
import { type Problem, type Warning, wrongType } from "./problem.ts";

/**
 * Shapes read JSON as the Kubernetes API decodes it: null means absent, a number is not a text,
 * unknown fields are skipped. One pass returns the value, every problem with its path, and a
 * warning for each unknown field, which strict validation refuses. Unreadable fields are left out,
 * so that the rest can still be checked.
 */
export type Shape<Value> = (
  value: unknown,
  path: string,
  context: ReadContext,
) => Value | undefined;

export interface ReadContext {
  readonly problems: Problem[];
  readonly warnings: Warning[];
  /** Matches field names without regard to case, as in JSON inside annotations (hpa.md 1.2). */
  readonly anyCase: boolean;
  /** Sync period of the cluster. */
  readonly syncPeriodSeconds: number;
}

/** Sync period of a cluster without a setting, or when no cluster is known. */
export const DEFAULT_SYNC_PERIOD_SECONDS = 15;

/**
 * Unknown fields of one manifest that are reported. The search for the nearest name costs more than
 * the rest.
 */
const MAX_UNKNOWN = 50;
/**
 * Limit of a quantity's text, as given and as stored. The stored text can be a little longer, and
 * must be readable again.
 */
const MAX_QUANTITY_CHARACTERS = 256;
const INT32 = 2 ** 31;

export const newReadContext = (
  anyCase = false,
  syncPeriodSeconds = DEFAULT_SYNC_PERIOD_SECONDS,
): ReadContext => ({
  problems: [],
  warnings: [],
  anyCase,
  syncPeriodSeconds,
});

const wrong = (
  path: string,
  wanted: string,
  value: unknown,
  context: ReadContext,
  fix?: string,
): undefined => {
  context.problems.push(wrongType(path, wanted, value, fix));
  return undefined;
};

const VARIABLE = /\$\{?\w|\{\{/;
const THOUSANDS = /^\d{1,3}(?:,\d{3})+$/;
const PERCENT = /^(\d{1,9}) ?%$/;
const DIGITS = /^\d{1,9}$/;

/** What to write for a text that stands for a number in other files, and not here. */
const numberFix = (value: unknown): string | undefined => {
  if (typeof value !== "string") return undefined;
  const written = value.trim();
  if (VARIABLE.test(written))
    return "put the value in the place of the variable before it is applied, as envsubst or helm template does";
  if (THOUSANDS.test(written)) return `write ${written.replaceAll(",", "")}`;
  const percent = PERCENT.exec(written)?.[1];
  if (percent !== undefined) return `write ${percent}`;
  return DIGITS.test(written) ? `write ${Number(written)} without quotes` : undefined;
};

export const text: Shape<string> = (value, path, context) => {
  if (value === null || value === undefined) return undefined;
  return typeof value === "string" ? value : wrong(path, "a text", value, context);
};

export const int32: Shape<number> = (value, path, context) => {
  if (value === null || value === undefined) return undefined;
  const fits =
    typeof value === "number" && Number.isInteger(value) && value >= -INT32 && value < INT32;
  // Turns minus zero into zero.
  return fits
    ? value + 0
    : wrong(path, "a whole number below 2147483648", value, context, numberFix(value));
};

const isRounded = (value: unknown): boolean =>
  typeof value === "number" && Math.abs(value) > Number.MAX_SAFE_INTEGER;
/**
 * A larger number was rounded when YAML or JSON was read, and what was written is not known any
 * more.
 */
const EXACT = `at most ${Number.MAX_SAFE_INTEGER} without quotes, because a larger number is rounded when it is read`;

/**
 * A quantity. A number is read as its own text, up to where JSON numbers are exact. Blanks around a
 * quoted text are removed.
 */
export const quantity: Shape<Quantity> = (value, path, context) => {
  if (value === null || value === undefined) return undefined;
  if (isRounded(value)) return wrong(path, EXACT, value, context, "write it in quotes");
  const written =
    typeof value === "number" ? String(value) : typeof value === "string" ? value.trim() : "";
  const read = written.length > MAX_QUANTITY_CHARACTERS ? undefined : parseQuantity(written);
  const kept = read && canonicalOf(read).length <= MAX_QUANTITY_CHARACTERS ? read : undefined;
  if (kept && written !== value && typeof value === "string")
    warnBlanks(path, value, written, context);
  return (
    kept ??
    wrong(path, 'a quantity such as 80, "250m" or "1500Mi"', value, context, numberFix(value))
  );
};

/**
 * The API removes them silently. They come from a template or a typing error, which may have
 * changed something else too.
 */
const warnBlanks = (
  field: string,
  value: string,
  written: string,
  { warnings }: ReadContext,
): void => {
  const fix = `write "${written}"`;
  const refusal = {
    type: "FieldValueInvalid",
    detail: "may not have blanks around it",
    fix,
  } as const;
  warnings.push({
    field,
    message: `the blanks around ${JSON.stringify(value)} are cut off`,
    fix,
    refusal,
  });
};

/** A known field whose content is not used. */
export const anything: Shape<unknown> = (value) => value ?? undefined;

export const listOf =
  <Item>(item: Shape<Item>, empty: Item): Shape<readonly Item[]> =>
  (value, path, context) => {
    if (value === null || value === undefined) return undefined;
    if (!Array.isArray(value)) return wrong(path, "a list", value, context);
    return value.map((entry: unknown, index) => item(entry, `${path}[${index}]`, context) ?? empty);
  };

export const textMap: Shape<Readonly<Record<string, string>>> = (value, path, context) => {
  if (value === null || value === undefined) return undefined;
  if (!isObject(value)) return wrong(path, "an object of texts", value, context);
  return Object.fromEntries(
    Object.entries(value).map(([key, entry]) => [
      key,
      text(entry, `${path}.${key}`, context) ?? "",
    ]),
  );
};

export type ReadAs<Some> = Some extends Shape<infer Value> ? Value : never;

type Fields = Readonly<Record<string, Shape<unknown>>>;
/** The value of an object with these fields; every member can be absent. */
type Read<Known extends Fields> = {
  readonly [Name in keyof Known]?: ReadAs<Known[Name]> | undefined;
};

export const objectOf =
  <Known extends Fields>(known: Known): Shape<Read<Known>> =>
  (value, path, context) => {
    if (value === null || value === undefined) return undefined;
    if (!isObject(value)) return wrong(path, "an object", value, context);
    const names = Object.keys(known);
    const members = Object.entries(value).flatMap(([written, entry]) => {
      const field = path === "" ? written : `${path}.${written}`;
      const name = fieldName(written, names, context);
      if (name !== undefined) return [[name, known[name]?.(entry, field, context)] as const];
      warnUnknown(written, path, names, context);
      return [];
    });
    return Object.fromEntries(members) as Read<Known>;
  };

const fieldName = (
  written: string,
  names: readonly string[],
  { anyCase }: ReadContext,
): string | undefined => {
  if (names.includes(written)) return written;
  return anyCase ? names.find((name) => name.toLowerCase() === written.toLowerCase()) : undefined;
};

const warnUnknown = (
  written: string,
  parent: string,
  names: readonly string[],
  { warnings }: ReadContext,
): void => {
  if (warnings.filter(({ refusal }) => refusal?.type === "FieldUnknown").length >= MAX_UNKNOWN)
    return;
  const field = parent === "" ? written : `${parent}.${written}`;
  const message = `unknown field "${field}" is ignored`;
  const nearest = nearestName(written, names);
  const fix = nearest === undefined ? "remove it" : `write "${nearest}" if that is meant`;
  const meant = nearest !== undefined && {
    meant: parent === "" ? nearest : `${parent}.${nearest}`,
  };
  warnings.push({
    field,
    message,
    fix,
    ...meant,
    refusal: { type: "FieldUnknown", detail: "unknown field", fix },
  });
};
