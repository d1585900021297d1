import type { FieldDescription } from "../../fields/field-types.ts";
import { nearestName } from "../../model/nearest-name.ts";
import { CLUSTER_SPEC } from "../cluster/cluster-fields.ts";
import { SPEC } from "./spec-fields.ts";

export type FieldExplanation =
  | { readonly kind: "known"; readonly path: string; readonly about: FieldDescription }
  /** `path` is the known part; `nearest` is the field that was probably meant. */
  | {
      readonly kind: "unknown";
      readonly path: string;
      readonly name: string;
      readonly nearest?: string;
    };

/**
 * Finds a field by its path, with or without "spec." and list indexes: "spec.metrics[0].target",
 * "metrics.target". The kind may stand before it, as for `kubectl explain`: "pa.spec.scaleUp"; the
 * kind Cluster must: "cluster.spec.connection".
 */
export const explainField = (path: string): FieldExplanation => {
  const names = path
    .replaceAll(/\[\d*\]/g, "")
    .split(".")
    .filter((name) => name !== "");
  const root = rootOf(names[0] ?? "");
  const inside = root.isNamed ? names.slice(1) : names;
  const below = inside[0] === "spec" ? inside.slice(1) : inside;
  let { about, path: known } = root;
  for (const name of below) {
    const fields = membersOf(about);
    const next = Object.hasOwn(fields, name) ? fields[name] : undefined;
    if (!next) {
      const nearest = nearestName(name, Object.keys(fields));
      return { kind: "unknown", path: known, name, ...(nearest !== undefined && { nearest }) };
    }
    known = memberPath(known, name, next);
    about = next;
  }
  return { kind: "known", path: known, about };
};

/** The spec that a path begins in, and whether its first word names the kind. */
const rootOf = (
  word: string,
): { readonly about: FieldDescription; readonly path: string; readonly isNamed: boolean } =>
  CLUSTER.test(word)
    ? { about: CLUSTER_SPEC.about, path: CLUSTER_PATH, isNamed: true }
    : { about: SPEC.about, path: "spec", isNamed: KIND.test(word) };

const KIND = /^(?:pa|podautoscalers?)$/i;
const CLUSTER = /^clusters?$/i;
/** No rule of a PodAutoscaler has a path that begins so. */
export const CLUSTER_PATH = "cluster.spec";

/** Path of a member. The path of a list also names its items. */
export const memberPath = (parent: string, name: string, { type }: FieldDescription): string =>
  `${parent}.${name}${type === "list" ? "[]" : ""}`;

/** The members of an object, or of the objects of a list. */
export const membersOf = ({
  fields,
  items,
}: FieldDescription): Readonly<Record<string, FieldDescription>> => fields ?? items?.fields ?? {};

/**
 * The field at a path below an object, or below the objects of a list. Throws a RangeError: a rule
 * that names no field is a mistake of its author.
 */
export const fieldAt = (about: FieldDescription, path: string): FieldDescription =>
  path.split(".").reduce((parent, name) => {
    const field = membersOf(parent)[name];
    if (!field)
      throw new RangeError(`a rule names the field "${name}" of "${path}", which does not exist`);
    return field;
  }, about);

const TYPES: Readonly<Record<FieldDescription["type"], string>> = {
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

export const typeText = ({ type, choices = [] }: FieldDescription): string =>
  type === "choice" ? `${TYPES.choice} ${choices.join(", ")}` : TYPES[type];

export const defaultText = (about: FieldDescription): string => {
  if (about.required) return "required";
  if (about.default === undefined) return "none";
  return typeof about.default === "string" ? about.default : JSON.stringify(about.default);
};

/** For example "0 to 3600" or "1 or more"; empty without bounds. */
export const boundsText = ({ least, most }: FieldDescription): string => {
  if (least !== undefined && most !== undefined) return `${least} to ${most}`;
  if (least !== undefined) return `${least} or more`;
  return most === undefined ? "" : `${most} or less`;
};
