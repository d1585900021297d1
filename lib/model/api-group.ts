/** The group of an apiVersion: "apps/v1" → "apps", "v1" → "" (the core group); undefined for more than one slash. */
export const groupOf = (apiVersion = ""): string | undefined => {
  const [group = "", version, ...more] = apiVersion.split("/");
  if (more.length > 0) return undefined;
  return version === undefined ? "" : group;
};
