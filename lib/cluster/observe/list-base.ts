import type { Observing } from "./workloads.ts";

/** The newest version of a group that both sides know. */
export const newestOf = (known: readonly string[], served: readonly string[]): string | undefined =>
  known.find((version) => served.includes(version));

/**
 * The path of the newest served version of a group whose objects are listed. Discovery is asked once for a warm client. While discovery fails or shows no such group the oldest version is
 * asked, so that a missing API fails with the answer of its server.
 */
export const listBase = async ({ session, budget, memory }: Observing, group: string, versions: readonly string[]): Promise<string> => {
  const known = memory.metricVersions.get(group);
  if (known !== undefined) return `/apis/${group}/${known}`;
  const served = await session.discovery.groupVersions(group, budget);
  const newest = served.kind === "found" ? newestOf(versions, served.value) : undefined;
  if (newest !== undefined) memory.metricVersions.set(group, newest);
  return `/apis/${group}/${newest ?? versions.at(-1)}`;
};

/** Forgets the version after a 404: its server was replaced by one of another version. Discovery is asked again. */
export const forgetVersion = ({ session, memory }: Observing, group: string): void => {
  if (memory.metricVersions.delete(group)) session.discovery.forget(group);
};
