import type { ClusterView } from "../views/cluster.ts";

/** The version of an API server, as it last said it. */
export const serverText = ({ server }: Pick<ClusterView, "server">): string =>
  server?.version ?? "unknown";

/** What asks it, where the version is unknown or old. */
export const serverCommand = ({ name }: Pick<ClusterView, "name">): string =>
  `tidemark cluster check ${name}`;
