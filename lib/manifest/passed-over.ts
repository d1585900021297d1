/** How many objects of one kind were passed over. */
export interface KindCount {
  readonly kind: string;
  readonly count: number;
}

/** For example "passed over 12 objects of other kinds: 5 Deployment, 7 Service". A kind that another command takes names that command. */
export const passedOverText = (counts: readonly KindCount[]): string => {
  const all = counts.reduce((sum, { count }) => sum + count, 0);
  const listed = counts.map(({ kind, count }) => `${count} ${kind}`).join(", ");
  const hint = counts.some(({ kind }) => kind === "ScaledObject") ? "; tidemark import carries the ScaledObjects of a cluster over" : "";
  return `passed over ${all} object${all === 1 ? "" : "s"} of ${all === 1 ? "another kind" : "other kinds"}: ${listed}${hint}`;
};
