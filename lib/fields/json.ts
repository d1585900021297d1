/** A JSON object with unchecked members. */
export type Json = Readonly<Record<string, unknown>>;

/** Removes absent members. */
export const present = (members: Json): Json => Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));

/** Returns undefined for an empty object, which the API also leaves out. */
export const nonEmpty = <Content extends object>(content: Content | undefined): Content | undefined =>
  content === undefined || Object.keys(content).length === 0 ? undefined : content;
