import type { ClusterClient } from "../cluster/cluster-client.ts";
import type { ClusterRecord } from "../../rules/model/records.ts";
import type { Tables } from "../store/table/tables.ts";
import { type ConnectOptions, connect } from "../cluster/connect.ts";
import { reachedBy, getConnection } from "../store/records/clusters.ts";
import { TidemarkError, isTidemarkError } from "../../rules/model/errors.ts";
import type { SyncPorts } from "./sync-ports.ts";
import { foreignText } from "../../rules/model/foreign-text.ts";

export type Connected =
  | { readonly kind: "connected"; readonly client: ClusterClient }
  | { readonly kind: "failed"; readonly message: string };

export type Known = Pick<ClusterRecord, "name" | "uid">;

/**
 * Opens clients of clusters with the connections that are stored for them. A connection is taken
 * only from its own item, which only the function that connects clusters may write.
 */
export const openStored =
  (tables: Tables) =>
  async (cluster: Known, options: ConnectOptions): Promise<ClusterClient> => {
    const reached = reachedBy(cluster, await getConnection(tables, cluster.name));
    if (!reached) throw unconnected(cluster.name);
    const { connection, kubeSystemUid } = reached;
    return connect(
      {
        name: cluster.name,
        uid: cluster.uid,
        connection,
        kubeSystemUid,
      },
      options,
    );
  };

export const unconnected = (name: string): TidemarkError =>
  new TidemarkError(
    "cluster.access.none",
    `Cannot connect cluster "${name}": no connection is stored for it; store one with tidemark cluster add ${name} --replace`,
    { name },
  );

/**
 * On doubt, hold: a cluster without access cannot be observed, so that its autoscalers hold and say
 * why.
 */
export const connected = async (ports: SyncPorts, cluster: ClusterRecord): Promise<Connected> => {
  try {
    return { kind: "connected", client: await ports.connect(cluster) };
  } catch (error) {
    // A TidemarkError has a sentence of ours. The text of any other error is foreign: libraries
    // quote the input that they were given.
    const message = error instanceof Error ? error.message : String(error);
    return { kind: "failed", message: isTidemarkError(error) ? message : foreignText(message) };
  }
};
