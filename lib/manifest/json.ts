/** A JSON object with unchecked members. */
export type Json = Readonly<Record<string, unknown>>;

/** Removes absent members. */
export const present = (members: Json): Json => Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));

/** Returns undefined for an empty object, which the API also leaves out. */
export const nonEmpty = <Content extends object>(content: Content | undefined): Content | undefined =>
  content === undefined || Object.keys(content).length === 0 ? undefined : content;

/**
 * True for a value with more than `most` bytes as JSON. It counts characters first and stops at the limit, because a value in which aliases repeat a long text could
 * otherwise become a text of many megabytes.
 */
export const isLarger = (value: unknown, most: number): boolean =>
  charactersIn(value, most) > most || Buffer.byteLength(JSON.stringify(value) ?? "") > most;

/** A lower bound of the characters as JSON; the count stops a little above `most`. */
const charactersIn = (value: unknown, most: number): number => {
  if (typeof value === "string") return value.length;
  if (typeof value !== "object" || value === null) return 1;
  let characters = 1;
  for (const [name, member] of Object.entries(value)) {
    characters += (Array.isArray(value) ? 0 : name.length) + charactersIn(member, most - characters);
    if (characters > most) return characters;
  }
  return characters;
};
