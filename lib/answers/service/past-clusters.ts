import { isTidemarkError } from "../../rules/model/errors.ts";
import { type ClusterName, clusterName } from "../../rules/model/ids.ts";
import { asList, asObject, asText, jsonIn } from "../../rules/model/json.ts";
import type { ClusterRecord } from "../../rules/model/records.ts";
import { removedClusters, scopeChangesOf } from "../../stack/store/history/scope-changes.ts";
import { type QueryContext, sees } from "./context.ts";
import { clustersNamed } from "./find-autoscaler.ts";

/** A cluster whose past is listed, which may be removed. */
export type PastCluster = Pick<ClusterRecord, "name"> & {
  readonly partitions: readonly { readonly name: string }[];
};

interface Wanted {
  readonly cluster?: string | undefined;
  /** Removed clusters are listed too, and partitions that were merged or renamed. */
  readonly removed?: true | undefined;
  readonly sinceMs: number;
}

/**
 * The clusters whose past is listed: every one, or the one that is named, also where it is removed.
 * The past of a removed cluster is for callers with a right on all of it.
 */
export const pastClusters = async (
  context: QueryContext,
  { cluster, removed, sinceMs }: Wanted,
): Promise<readonly PastCluster[]> => {
  const present: readonly PastCluster[] = await presentOr(context, cluster);
  if (!removed) return present;
  const known = new Set<string>(present.map(({ name }) => name));
  const gone = (await removedClusters(context.tables, sinceMs)).filter(
    (name) => !known.has(name) && (cluster ?? name) === name && sees(context, name),
  );
  return [...present, ...gone.map((name) => ({ name, partitions: [] }))];
};

/** A removed cluster is still found by its name. */
const presentOr = async (
  context: QueryContext,
  name: string | undefined,
): Promise<readonly PastCluster[]> => {
  try {
    return await clustersNamed(context, name);
  } catch (error) {
    if (name === undefined || !isTidemarkError(error, "service.unknown")) throw error;
    if (!sees(context, name)) throw error;
    for await (const _any of scopeChangesOf(context.tables, { scope: "cluster", name }))
      return [{ name: clusterName(name), partitions: [] }];
    throw error;
  }
};

/** The partitions that a cluster ever had, as the edits say that are kept of it. */
export const everPartitions = async (
  { tables }: QueryContext,
  name: ClusterName,
): Promise<readonly string[]> => {
  const names = new Set<string>();
  for await (const { before, after } of scopeChangesOf(tables, { scope: "cluster", name }))
    for (const text of [before, after])
      for (const partition of asList(asObject(jsonIn(text ?? ""))["partitions"]))
        names.add(asText(asObject(partition)["name"]));
  return [...names].filter((partition) => partition !== "");
};
