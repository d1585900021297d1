export const READERS = 3;

export const CLUSTERS = ["north", "south"] as const;
export const NAMESPACES = ["bank", "shop"] as const;
export const NAMES = ["one", "two"] as const;
/** The cluster with two partitions, each of which syncs by itself. */
export const DIVIDED = "north";

export interface Place {
  readonly cluster: string;
  readonly namespace: string;
  readonly name: string;
}

export const pathOf = ({ cluster, namespace, name }: Place): string =>
  `${cluster}/${namespace}/${name}`;

export const PLACES: readonly Place[] = CLUSTERS.flatMap((cluster) =>
  NAMESPACES.flatMap((namespace) => NAMES.map((name) => ({ cluster, namespace, name }))),
);
