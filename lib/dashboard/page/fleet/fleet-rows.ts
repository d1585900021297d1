import type { AutoscalerRow, ClusterRows } from "../../../answers/views/row.ts";

/** A row with the names that it is of. */
export interface FleetRow extends AutoscalerRow {
  readonly cluster: string;
  readonly key: string;
}

/** Marks that one request may name. */
const MARKS_MAX = 1_000;

/** What the caller has already, in the form of the parameter `known`. */
export const marksOf = (clusters: readonly ClusterRows[]): string =>
  clusters
    .flatMap(({ partitions }) => partitions.flatMap(({ mark }) => mark ?? []))
    .slice(0, MARKS_MAX)
    .join("");

/**
 * The clusters of the newest answer. Rows of a partition that was left out because the caller has
 * them are the rows of the answer before.
 */
export const joinedClusters = (
  before: readonly ClusterRows[],
  found: readonly ClusterRows[],
): readonly ClusterRows[] => {
  const had = new Map(before.map((cluster) => [cluster.cluster, cluster]));
  return found.map((cluster) => {
    const unchanged = new Set(
      cluster.partitions.flatMap(({ name, unchanged: isSame }) => (isSame ? [name] : [])),
    );
    if (unchanged.size === 0) return cluster;
    const kept = (had.get(cluster.cluster)?.rows ?? []).filter(
      ({ partition }) => partition !== undefined && unchanged.has(partition),
    );
    return { ...cluster, rows: [...kept, ...cluster.rows] };
  });
};

/** A row as a table has it, made once. */
const madeRows = new WeakMap<AutoscalerRow, FleetRow>();

/** The rows as a table has them. A row that shows the same stays the same object. */
export const flatRows = (clusters: readonly ClusterRows[]): readonly FleetRow[] =>
  clusters.flatMap(({ cluster, rows }) =>
    rows.map((row) => {
      const known = madeRows.get(row);
      if (known) return known;
      const made = { ...row, cluster, key: `${cluster}/${row.namespace}/${row.name}` };
      madeRows.set(row, made);
      return made;
    }),
  );

/** The bounds in force. */
export const boundsOf = ({
  minReplicas,
  maxReplicas,
  minInForce,
  maxInForce,
}: FleetRow): { readonly min: number | undefined; readonly max: number | undefined } => ({
  min: minInForce ?? minReplicas,
  max: maxInForce ?? maxReplicas,
});
