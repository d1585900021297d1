import { foreignText } from "../foreign-text.ts";
import { isObject } from "../is-object.ts";

/** A JSON object of the Kubernetes API. Only the fields that rules use are read, because a list of ten thousand pods is read every few seconds. */
export type Json = Readonly<Record<string, unknown>>;

const EMPTY: Json = {};
const NONE: readonly never[] = [];

export const asObject = (value: unknown): Json => (isObject(value) ? value : EMPTY);
export const asList = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : NONE);
export const asText = (value: unknown): string => (typeof value === "string" ? value : "");
/** A name that is safe in messages. Names of Kubernetes are printable ASCII of at most 253 characters, and stay unchanged. */
export const asName = (value: unknown): string => {
  const text = asText(value);
  return NAME.test(text) ? text : foreignText(text);
};
const NAME = /^[!-~]{0,253}$/;
export const asCount = (value: unknown): number | undefined => (typeof value === "number" && Number.isSafeInteger(value) ? value : undefined);

/** A map of texts, such as labels. A valid map is returned itself and not copied. */
export const asTexts = (value: unknown): Readonly<Record<string, string>> => {
  const object = asObject(value);
  for (const key in object) if (typeof object[key] !== "string") return Object.fromEntries(Object.entries(object).filter(isTextEntry));
  return object as Readonly<Record<string, string>>;
};

const isTextEntry = (entry: [string, unknown]): entry is [string, string] => typeof entry[1] === "string";
