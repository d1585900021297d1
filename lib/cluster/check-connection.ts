import type { Connection } from "../model/records.ts";
import { verifiedEks } from "./access/eks.ts";

/** Compares what an editor says about an EKS cluster with what AWS says, with the rights of the function that connects clusters. Secrets are not looked at: it has no right to read them. Throws `cluster.access.eks`. */
export const connectionCheck =
  (clock: () => number) =>
  async (cluster: string, connection: Connection): Promise<void> => {
    if (connection.kind === "eks") await verifiedEks(connection, { cluster, clock });
  };
