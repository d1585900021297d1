import { isDeepStrictEqual } from "node:util";
import { isObject } from "../../model/is-object.ts";
import type { FieldChange } from "../../views/change.ts";

const sameShape = (one: unknown, other: unknown): boolean => (isObject(one) && isObject(other)) || (Array.isArray(one) && Array.isArray(other));

/** The fields in which two JSON documents differ, in their order, as deep as possible. */
export const fieldChanges = (before: unknown, after: unknown, path = ""): readonly FieldChange[] => {
  if (isDeepStrictEqual(before, after)) return [];
  if (!sameShape(before, after)) return [{ path, ...(before !== undefined && { before }), ...(after !== undefined && { after }) }];
  const [one, other] = [before as Readonly<Record<string, unknown>>, after as Readonly<Record<string, unknown>>];
  const below = (name: string): string => (Array.isArray(before) ? `${path}[${name}]` : path === "" ? name : `${path}.${name}`);
  return [...new Set([...Object.keys(one), ...Object.keys(other)])].flatMap((name) => fieldChanges(one[name], other[name], below(name)));
};
