/** The group of an apiVersion: "apps/v1" → "apps", "v1" → "" (the core group); undefined for more than one slash. */
export const groupOf = (apiVersion = ""): string | undefined => {
  const slash = apiVersion.indexOf("/");
  return slash === apiVersion.lastIndexOf("/") ? apiVersion.slice(0, Math.max(0, slash)) : undefined;
};
