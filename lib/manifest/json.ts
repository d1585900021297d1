/** A JSON object whose members are yet to be looked at. */
export type Json = Readonly<Record<string, unknown>>;

/** JSON without the members that are absent. */
export const present = (members: Json): Json => Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));

/** An object with no members is left out, as the API leaves it out. */
export const nonEmpty = <Content extends object>(content: Content | undefined): Content | undefined =>
  content === undefined || Object.keys(content).length === 0 ? undefined : content;

/**
 * True for a value with more bytes than `most` as JSON. Characters are counted first, and no further than the limit: a value in which aliases repeat a long text would
 * otherwise become a text of many megabytes.
 */
export const isLarger = (value: unknown, most: number): boolean =>
  charactersIn(value, most) > most || Buffer.byteLength(JSON.stringify(value) ?? "") > most;

/** At least so many characters as JSON; the count ends a little above `most`. */
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
