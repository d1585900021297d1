import { isObject } from "../../../model/is-object.ts";

/** Applies a JSON merge patch (RFC 7386): null removes a member, and a list is replaced whole. */
export const mergePatched = (target: unknown, patch: unknown): unknown => {
  if (!isObject(patch)) return patch;
  const merged = new Map(Object.entries(isObject(target) ? target : {}));
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) merged.delete(name);
    else merged.set(name, mergePatched(merged.get(name), value));
  }
  return Object.fromEntries(merged);
};
