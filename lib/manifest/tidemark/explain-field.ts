import { nearestName } from "../nearest.ts";
import type { About } from "./field.ts";
import { SPEC } from "./fields.ts";

export type FieldExplanation =
  | { readonly kind: "known"; readonly path: string; readonly about: About }
  /** `path` leads as far as it is known; `nearest` is what was probably meant. */
  | { readonly kind: "unknown"; readonly path: string; readonly name: string; readonly nearest?: string };

/** A field by its path, with or without "spec." in front and places in lists: "spec.metrics[0].target", "metrics.target". */
export const explainField = (path: string): FieldExplanation => {
  const names = path
    .replaceAll(/\[\d*\]/g, "")
    .split(".")
    .filter((name) => name !== "");
  const below = names[0] === "spec" ? names.slice(1) : names;
  let about: About = SPEC.about;
  let known = "spec";
  for (const name of below) {
    const fields = fieldsOf(about);
    const next = Object.hasOwn(fields, name) ? fields[name] : undefined;
    if (!next) {
      const nearest = nearestName(name, Object.keys(fields));
      return { kind: "unknown", path: known, name, ...(nearest !== undefined && { nearest }) };
    }
    known = `${known}.${name}${next.type === "list" ? "[]" : ""}`;
    about = next;
  }
  return { kind: "known", path: known, about };
};

/** Members of an object, or of the objects of a list. */
export const fieldsOf = ({ fields, items }: About): Readonly<Record<string, About>> => fields ?? items?.fields ?? {};

const TYPES: Readonly<Record<About["type"], string>> = {
  integer: "whole number",
  quantity: "quantity",
  text: "text",
  time: "RFC 3339 time",
  flag: "true or false",
  choice: "one of",
  object: "object",
  list: "list",
  texts: "texts by name",
  anything: "anything",
};

export const typeText = ({ type, choices = [] }: About): string => (type === "choice" ? `${TYPES.choice} ${choices.join(", ")}` : TYPES[type]);

export const defaultText = (about: About): string => {
  if (about.required) return "required";
  if (about.default === undefined) return "none";
  return typeof about.default === "string" ? about.default : JSON.stringify(about.default);
};

/** "0 to 3600", "1 or more", or nothing. */
export const boundsText = ({ least, most }: About): string => {
  if (least !== undefined && most !== undefined) return `${least} to ${most}`;
  if (least !== undefined) return `${least} or more`;
  return most === undefined ? "" : `${most} or less`;
};
