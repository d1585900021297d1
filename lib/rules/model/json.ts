import { foreignText } from "./foreign-text.ts";
import type { MilliByResource } from "./observation.ts";
import { milliOfText } from "./quantity.ts";
import { readDuration, EARLIEST_MS, LATEST_MS, readInstant } from "./time-text.ts";

/** True for a JSON object: neither null nor a list. */
export const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/**
 * A JSON object of the Kubernetes API. Only the fields that rules use are read, because a list of
 * ten thousand pods is read every few seconds.
 */
export type Json = Readonly<Record<string, unknown>>;

const EMPTY: Json = {};
const NONE: readonly never[] = [];

export const asObject = (value: unknown): Json => (isObject(value) ? value : EMPTY);
export const asList = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : NONE);
export const asText = (value: unknown): string => (typeof value === "string" ? value : "");
/**
 * A name that is safe in messages. Names of Kubernetes are printable ASCII of at most 253
 * characters, and stay unchanged.
 */
export const asName = (value: unknown): string => {
  const text = asText(value);
  return NAME.test(text) ? text : foreignText(text);
};
const NAME = /^[!-~]{0,253}$/;
export const asCount = (value: unknown): number | undefined =>
  typeof value === "number" && Number.isSafeInteger(value) ? value : undefined;

/** The value of a JSON text; undefined for a text that is none. */
export const jsonIn = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

/** A map of texts, such as labels. A valid map is returned itself and not copied. */
export const asTexts = (value: unknown): Readonly<Record<string, string>> => {
  const object = asObject(value);
  for (const key in object)
    if (typeof object[key] !== "string")
      return Object.fromEntries(Object.entries(object).filter(isTextEntry));
  return object as Readonly<Record<string, string>>;
};

const isTextEntry = (entry: [string, unknown]): entry is [string, string] =>
  typeof entry[1] === "string";

const NOTHING: MilliByResource = {};

/**
 * A ResourceList in thousandths. A value that is not a quantity is left out, so that it is missing
 * and not zero.
 */
export const readAmounts = (raw: unknown): MilliByResource => {
  const amounts: Record<string, bigint> = {};
  let any = false;
  const list = asObject(raw);
  for (const resource in list) {
    const milli = readMilli(list[resource]);
    if (milli === undefined) continue;
    amounts[resource] = milli;
    any = true;
  }
  return any ? amounts : NOTHING;
};

/** Thousandths of a quantity: a text, or a plain number (hpa.md 0.4). */
export const readMilli = (raw: unknown): bigint | undefined => {
  if (typeof raw === "string") return milliOfText(raw.trim());
  return typeof raw === "number" ? milliOfText(String(raw)) : undefined;
};

/**
 * Milliseconds since 1970 of an RFC 3339 text, or of the BigInt seconds that protobuf gives;
 * `undefined` when it is absent or none.
 */
export const readTime = (raw: unknown): number | undefined => {
  if (typeof raw !== "bigint") return readInstant(asText(raw));
  const atMs = Number(raw) * 1_000;
  return atMs >= EARLIEST_MS && atMs <= LATEST_MS ? atMs : undefined;
};

/**
 * Milliseconds of a duration as the API writes it: "30s", "1m0s", "10.02s", or of the BigInt
 * nanoseconds that protobuf gives; `undefined` for anything else.
 */
export const readWindow = (raw: unknown): number | undefined =>
  typeof raw === "bigint" ? positive(Number(raw) / 1e6) : readDuration(asText(raw));

const positive = (ms: number): number | undefined => (ms >= 0 ? ms : undefined);

type MayBeAbsent<Members, Name extends keyof Members> = string extends Name
  ? false
  : undefined extends Members[Name]
    ? true
    : false;

/** The same members, of which those that may be undefined are optional. */
type Present<Members> = {
  readonly [Name in keyof Members as MayBeAbsent<Members, Name> extends true
    ? never
    : Name]: Exclude<Members[Name], undefined>;
} & {
  readonly [Name in keyof Members as MayBeAbsent<Members, Name> extends true
    ? Name
    : never]?: Exclude<Members[Name], undefined>;
};

/** Removes absent members, so that they have no key. */
export const present = <const Members extends object>(members: Members): Present<Members> =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as never;

/** Returns undefined for an empty object, which the API also leaves out. */
export const nonEmpty = <Content extends object>(
  content: Content | undefined,
): Content | undefined =>
  content === undefined || Object.keys(content).length === 0 ? undefined : content;
