import middy from "@middy/core";
import partialBatchFailure from "@middy/sqs-partial-batch-failure";
import type { Context, SQSBatchResponse, SQSEvent } from "aws-lambda";
import { clusterClients } from "../lib/cluster/clients.ts";
import { noticeLine } from "../lib/report/notice-line.ts";
import { powertoolsTeller, type Teller } from "../lib/report/teller.ts";
import { insertByStatement } from "../lib/store/history/insert.ts";
import { realTables } from "../lib/store/table/real-tables.ts";
import { messageOf } from "../lib/sync/message.ts";
import type { SyncPorts } from "../lib/sync/ports.ts";
import { RULES } from "../lib/sync/rules.ts";
import { sync } from "../lib/sync/sync.ts";
import { DEFAULT_TIMING } from "../lib/sync/timing.ts";
import { warmCache } from "../lib/sync/warm-cache.ts";
import { ENVIRONMENT, environmentOf } from "./environment.ts";

export interface SyncDependencies {
  readonly ports: SyncPorts;
  readonly teller: Teller;
}

export type SyncHandler = (event: SQSEvent, context: Context) => Promise<SQSBatchResponse>;

/** Handles SQS events of any batch size, one message after the other; what fails is delivered again, alone. The early timeout is off: it would hide who ends a stalled life. */
export const syncHandler = ({ ports, teller }: SyncDependencies): SyncHandler => {
  const one = async (body: string): Promise<void> => teller.told(await sync(ports, messageOf(body)));
  const handler = middy<SQSEvent, unknown>({ timeoutEarlyInMillis: 0 })
    .use(partialBatchFailure({ logger: teller.failed }))
    .handler(async ({ Records }) => {
      const outcomes: PromiseSettledResult<void>[] = [];
      for (const { body } of Records) outcomes.push(...(await Promise.allSettled([one(body)])));
      return outcomes;
    });
  // The middleware makes the batch's response of the outcomes.
  return handler as SyncHandler;
};

const fromEnvironment = (): SyncDependencies => {
  const names = environmentOf(ENVIRONMENT.sync);
  const tables = realTables({ stateTable: names.TIDEMARK_STATE_TABLE, historyTable: names.TIDEMARK_HISTORY_TABLE });
  const teller = powertoolsTeller();
  const clients = clusterClients({ clock: Date.now, notice: (message) => teller.line(noticeLine(message)) });
  const ports = { tables, insert: insertByStatement(tables), connect: clients.clientFor, rules: RULES, timing: DEFAULT_TIMING, cache: warmCache() };
  return { ports, teller };
};

let built: SyncHandler | undefined;

/** The entry of the function. Built by its first event, so that importing this module needs no environment. */
export const handler: SyncHandler = (event, context) => {
  built ??= syncHandler(fromEnvironment());
  return built(event, context);
};
