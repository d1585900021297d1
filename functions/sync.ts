import middy from "@middy/core";
import partialBatchFailure from "@middy/sqs-partial-batch-failure";
import type { Context, SQSBatchResponse, SQSEvent } from "aws-lambda";
import type { ConnectionReport } from "../lib/stack/cluster/check/report.ts";
import { messageOf } from "../lib/stack/plan/message.ts";
import { sync } from "../lib/stack/sync/sync.ts";
import type { CheckEvent } from "../lib/lambda/check-here.ts";
import { builtByFirst, ENVIRONMENT, environmentOf } from "../lib/lambda/environment.ts";
import { type SyncDependencies, syncingParts } from "../lib/lambda/syncing.ts";

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

const syncs = builtByFirst(() => syncHandler(syncingParts(environmentOf(ENVIRONMENT.sync))));

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
