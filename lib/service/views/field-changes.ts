import { isDeepStrictEqual } from "node:util";
import { isObject } from "../../model/is-object.ts";

/** One field that differs between two documents; a side without the field has no value. */
export interface FieldChange {
  /** A path such as `spec.metrics[0].target`. */
  readonly path: string;
  readonly before?: unknown;
  readonly after?: unknown;
}

const sameShape = (one: unknown, other: unknown): boolean => (isObject(one) && isObject(other)) || (Array.isArray(one) && Array.isArray(other));

/** The fields in which two JSON documents differ, in their order, as deep as possible. */
export const fieldChanges = (before: unknown, after: unknown, path = ""): readonly FieldChange[] => {
  if (isDeepStrictEqual(before, after)) return [];
  if (!sameShape(before, after)) return [{ path, ...(before !== undefined && { before }), ...(after !== undefined && { after }) }];
  const [one, other] = [before as Readonly<Record<string, unknown>>, after as Readonly<Record<string, unknown>>];
  const below = (name: string): string => (Array.isArray(before) ? `${path}[${name}]` : path === "" ? name : `${path}.${name}`);
  return [...new Set([...Object.keys(one), ...Object.keys(other)])].flatMap((name) => fieldChanges(one[name], other[name], below(name)));
};
