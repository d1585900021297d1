/** A JSON object whose members are yet to be looked at. */
export type Json = Readonly<Record<string, unknown>>;

/** JSON without the members that are absent. */
export const present = (members: Json): Json => Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));

/** An object with no members is left out, as the API leaves it out. */
export const nonEmpty = <Content extends object>(content: Content | undefined): Content | undefined =>
  content === undefined || Object.keys(content).length === 0 ? undefined : content;
