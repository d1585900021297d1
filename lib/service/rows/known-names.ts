import { type AutoscalerRef, autoscalerName, type Namespace, namespace } from "../../model/ids.ts";
import type { ClusterRecord } from "../../model/records.ts";
import { readHeads } from "../../store/head/head.ts";
import { listAutoscalers } from "../../store/records/autoscalers.ts";
import { partitionOf } from "../../store/records/clusters.ts";
import { CLUSTERS_AT_ONCE, mapWithLimit } from "../../store/table/wait-for-all.ts";
import { type QueryContext, sees } from "../context.ts";
import { knownIndexes } from "./known-partitions.ts";

/**
 * The names of all autoscalers of some clusters, or of one namespace in each, that the caller may look at. They are from the indexes of the partitions, two hundred items to two requests; a cluster
 * whose indexes do not say all is listed, 16 clusters at once.
 */
export const knownNames = async (
  context: QueryContext,
  clusters: readonly ClusterRecord[],
  inside: Namespace | undefined,
): Promise<readonly AutoscalerRef[]> => {
  const all = clusters.flatMap((cluster) =>
    cluster.partitions.flatMap(({ name }) =>
      inside === undefined || partitionOf(cluster, inside) === name ? [{ cluster, ref: { cluster: cluster.name, partition: name } }] : [],
    ),
  );
  const heads = await readHeads(
    context.tables,
    all.map(({ ref }) => ref),
  );
  const wanted = all.flatMap((one, at) => {
    const head = heads[at];
    return head ? [{ ...one, head }] : [];
  });
  const indexes = await knownIndexes(context.tables, wanted);
  const byPartition = new Map(wanted.map(({ ref }, at) => [`${ref.cluster}/${ref.partition}`, indexes[at]]));
  const names = await mapWithLimit(clusters, CLUSTERS_AT_ONCE, async (cluster) => {
    const known = partsOf(cluster, inside).map((name) => name && byPartition.get(`${cluster.name}/${name}`));
    const read = known.flatMap((index) => (index ? [index.rows] : []));
    return read.length === known.length ? read.flat() : namesIn(context, cluster, inside);
  });
  return clusters.flatMap((cluster, at) =>
    (names[at] ?? []).flatMap((one) => {
      const ref = { cluster: cluster.name, namespace: namespace(one.namespace), name: autoscalerName(one.name) };
      return (inside === undefined || ref.namespace === inside) && sees(context, ref.cluster, ref.namespace) ? [ref] : [];
    }),
  );
};

/** The partitions that hold what is meant; `undefined` for namespaces that no partition has, which no index knows. */
const partsOf = (cluster: ClusterRecord, inside: Namespace | undefined): readonly (string | undefined)[] => {
  if (inside !== undefined) return [partitionOf(cluster, inside)];
  const hasRest = cluster.partitions.some(({ namespaces }) => namespaces === undefined);
  return [...cluster.partitions.map(({ name }) => name), ...(hasRest ? [] : [undefined])];
};

const namesIn = async (
  { tables }: QueryContext,
  { name }: ClusterRecord,
  inside: Namespace | undefined,
): Promise<readonly { readonly namespace: string; readonly name: string }[]> => {
  const found: { readonly namespace: string; readonly name: string }[] = [];
  for await (const item of listAutoscalers(tables, name, inside)) found.push(item.kind === "read" ? item.record : item);
  return found;
};
