import middy from "@middy/core";
import partialBatchFailure from "@middy/sqs-partial-batch-failure";
import type { Context, SQSBatchResponse, SQSEvent } from "aws-lambda";
import type { ConnectionReport } from "../lib/stack/cluster/check/report.ts";
import { clientsThatFit, clusterClients } from "../lib/stack/cluster/connect.ts";
import { noticeLine } from "../lib/stack/report/log-lines.ts";
import { powertoolsReporter, type Reporter } from "../lib/stack/report/reporter.ts";
import { metricExtentOf } from "../lib/stack/report/sync-report.ts";
import { insertByStatement } from "../lib/stack/store/history/item.ts";
import { realTables } from "../lib/stack/store/table/real-tables.ts";
import { sourcesWhenAsked } from "../lib/stack/sync/observe/ask-sources.ts";
import { messageOf, DEFAULT_TIMING } from "../lib/stack/plan/message.ts";
import { PURE_PART } from "../lib/stack/sync/pure-part.ts";
import { sync } from "../lib/stack/sync/sync.ts";
import type { SyncPorts } from "../lib/stack/sync/sync-ports.ts";
import { warmCache } from "../lib/stack/sync/load/warm-cache.ts";
import type { CheckEvent } from "../lib/lambda/check-here.ts";
import {
  builtByFirst,
  ENVIRONMENT,
  environmentOf,
  externalIdIn,
} from "../lib/lambda/environment.ts";
import { openStored } from "../lib/stack/sync/connected.ts";

export interface SyncDependencies {
  readonly ports: SyncPorts;
  readonly reporter: Pick<Reporter, "failed" | "sync">;
}

export type SyncHandler = (event: SQSEvent, context: Context) => Promise<SQSBatchResponse>;
/**
 * Handles SQS events of any batch size, one message after the other. Only failed messages are
 * delivered again. The early timeout of middy is off, because it would hide the real timeout of the
 * function.
 */
export const syncHandler = ({ ports, reporter }: SyncDependencies): SyncHandler => {
  const syncMessage = async (body: string): Promise<void> =>
    reporter.sync(await sync(ports, messageOf(body)));
  // The middleware turns these outcomes into the batch response.
  return middy<SQSEvent, unknown>({ timeoutEarlyInMillis: 0 })
    .use(partialBatchFailure({ logger: reporter.failed }))
    .handler(async ({ Records }) => {
      const outcomes: PromiseSettledResult<void>[] = [];
      for (const { body } of Records)
        outcomes.push(...(await Promise.allSettled([syncMessage(body)])));
      return outcomes;
    }) as SyncHandler;
};

const fromEnvironment = (): SyncDependencies => {
  const names = environmentOf(ENVIRONMENT.sync);
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

const syncs = builtByFirst(() => syncHandler(fromEnvironment()));

/**
 * The entry of the function: it is called with messages of the queue, or with a check. Hardly any
 * environment looks at a cluster or a source, so the code for it is loaded then.
 */
export const handler = async (
  event: SQSEvent | CheckEvent,
  context: Context,
): Promise<SQSBatchResponse | ConnectionReport> =>
  "check" in event || "checkSource" in event
    ? (await import("../lib/lambda/check-here.ts")).checkHere(event)
    : syncs(event, context);
