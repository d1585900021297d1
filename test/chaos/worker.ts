import { ON_THIS_MACHINE } from "../../lib/stack/cluster/access/kubeconfig-file.ts";
import { clusterClients } from "../../lib/stack/cluster/connect.ts";
import { TABLE_NAMES } from "../../lib/embedded/layout.ts";
import { insertByStatement } from "../../lib/stack/store/history/item.ts";
import { realTables } from "../../lib/stack/store/table/real-tables.ts";
import { type SyncMessage, DEFAULT_TIMING } from "../../lib/stack/plan/message.ts";
import { PURE_PART } from "../../lib/stack/sync/pure-part.ts";
import { sync } from "../../lib/stack/sync/sync.ts";
import type { SyncPorts } from "../../lib/stack/sync/sync-ports.ts";
import { warmCache } from "../../lib/stack/sync/load/warm-cache.ts";
import { openStored } from "../../lib/stack/sync/connected.ts";

/**
 * A process of its own that syncs what it is told, with the parts of the function: the AWS client,
 * the cluster's transport, one memory for all its syncs.
 */
const tables = realTables(TABLE_NAMES);
const clients = clusterClients(
  { clock: Date.now, trusted: ON_THIS_MACHINE, notice: () => {} },
  openStored(tables),
);
const ports: SyncPorts = {
  tables,
  insert: insertByStatement(tables),
  connect: clients.clientFor,
  rules: PURE_PART,
  timing: DEFAULT_TIMING,
  cache: warmCache(),
};

process.on("message", ({ id, message }: { readonly id: number; readonly message: SyncMessage }) => {
  sync(ports, message).then(
    (report) =>
      process.send?.({
        id,
        how: report.kind === "completed" ? "completed" : `dropped: ${report.why}`,
      }),
    (error: unknown) =>
      process.send?.({
        id,
        how: "failed",
        why: error instanceof Error ? error.message : String(error),
      }),
  );
});
process.on("disconnect", () => process.exit(0));
