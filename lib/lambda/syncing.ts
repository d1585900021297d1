import type { SyncPorts } from "../stack/sync/sync-ports.ts";
import { type Reporter, powertoolsReporter } from "../stack/report/reporter.ts";
import { type ENVIRONMENT, externalIdIn } from "./environment.ts";
import { realTables } from "../stack/store/table/real-tables.ts";
import { metricExtentOf } from "../stack/report/sync-report.ts";
import { noticeLine } from "../stack/report/log-lines.ts";
import { clusterClients, clientsThatFit } from "../stack/cluster/connect.ts";
import { openStored } from "../stack/sync/connected.ts";
import { warmCache } from "../stack/sync/load/warm-cache.ts";
import { sourcesWhenAsked } from "../stack/sync/observe/ask-sources.ts";
import { insertByStatement } from "../stack/store/history/item.ts";
import { PURE_PART } from "../stack/sync/pure-part.ts";
import { DEFAULT_TIMING } from "../stack/plan/message.ts";

export interface SyncDependencies {
  readonly ports: SyncPorts;
  readonly reporter: Pick<Reporter, "failed" | "sync">;
}

/** What `sync` is built of. */
export const syncingParts = (
  names: Readonly<Record<(typeof ENVIRONMENT.sync)[number], string>>,
): SyncDependencies => {
  const tables = realTables({
    stateTable: names.TIDEMARK_STATE_TABLE,
    historyTable: names.TIDEMARK_HISTORY_TABLE,
  });
  const reporter = powertoolsReporter({ extent: metricExtentOf(names.TIDEMARK_CLUSTER_METRICS) });
  const options = {
    clock: Date.now,
    notice: (message: string) => reporter.line(noticeLine(message)),
    ...externalIdIn(names),
  };
  const connect = clusterClients(
    options,
    openStored(tables),
    clientsThatFit(Number(process.env["AWS_LAMBDA_FUNCTION_MEMORY_SIZE"])),
  ).clientFor;
  const kept = {
    cache: warmCache(),
    sources: sourcesWhenAsked({ clock: Date.now, ownAddresses: false }),
  };
  return {
    ports: {
      tables,
      insert: insertByStatement(tables),
      connect,
      rules: PURE_PART,
      timing: DEFAULT_TIMING,
      ...kept,
    },
    reporter,
  };
};
