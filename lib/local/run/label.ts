const MAX_LENGTH = 63;

/** A valid name of a cluster, made of any text: small letters, digits and dashes. */
export const labelOf = (text: string): string =>
  text
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .slice(0, MAX_LENGTH)
    .replace(/^-+|-+$/g, "") || "cluster";
