import type { Connection } from "../model/records.ts";
import { verifiedEks } from "./access/eks.ts";

/** Compares the connection of an EKS cluster with its description by AWS, with the rights of the function that connects clusters. It does not check secrets, because that function may not read them. Throws `cluster.access.eks`. */
export const connectionCheck =
  (clock: () => number) =>
  async (cluster: string, connection: Connection): Promise<void> => {
    if (connection.kind === "eks") await verifiedEks(connection, { cluster, clock });
  };
