import type { Duplex } from "node:stream";
import type { ClusterName } from "../../lib/rules/model/ids.ts";
import { clusterName } from "../../lib/rules/model/ids.ts";
import type { ClusterClient } from "../../lib/stack/cluster/cluster-client.ts";
import { clientFor } from "../../lib/stack/cluster/connect.ts";
import type { VirtualTime } from "./time.ts";

/** A client of a cluster behind connections in virtual time (link.ts). */
export const clientOver = (
  connection: () => Duplex,
  time: VirtualTime,
  {
    name = clusterName("eu-1"),
    clock = () => 1_800_000_000_000 + Math.floor(time.nowMs()),
  }: { readonly name?: ClusterName; readonly clock?: () => number } = {},
): ClusterClient =>
  clientFor(
    { name, kubeSystemUid: undefined },
    {
      server: new URL("http://virtual"),
      ...{ rejectUnauthorized: true, ownAddresses: true, forget: () => undefined },
      credentials: async () => ({ headers: {} }),
    },
    { clock, elapsed: time.nowMs, surroundings: { after: time.after, connection } },
  );
