import { setTimeout as wait } from "node:timers/promises";
import { SQSClient } from "@aws-sdk/client-sqs";
import { boundedRequests } from "../stack/aws/bounded-requests.ts";
import { planNowFailedLine } from "../stack/report/function-lines.ts";
import { comparedClock } from "../stack/store/table/repeat.ts";
import type { Tables } from "../stack/store/table/tables.ts";
import type { Reporter } from "../stack/report/reporter.ts";
import type { ServiceContext } from "../answers/service/context.ts";
import { stampBeside } from "../stack/plan/hold-fleet.ts";
import { type MessageQueue, planNow } from "../stack/plan/send-messages.ts";

/**
 * SQS answers within tens of milliseconds. A batch without an answer is sent again, because the
 * claim refuses the second copy of a message.
 */
const SEND = {
  // TLS shows that SQS got the bytes: an MD5 of each message would be a sixth of the CPU of a call
  // that plans 2,000 clusters (`npm run bench -- schedule`).
  md5: false as const,
  maxAttempts: 3,
  requestHandler: boundedRequests({ connectMs: 1_000, wholeMs: 3_000 }),
};

/** The queue between `schedule` and `sync`. */
export const syncQueue = (queueUrl: string): MessageQueue => ({
  client: new SQSClient(SEND),
  queueUrl,
  wait,
  random: Math.random,
});

/**
 * Plans a cluster right after its edit. A failure is only logged: the edit is stored, and the
 * scheduler plans the cluster within a minute.
 */
export const plansNow =
  (
    queue: MessageQueue,
    tables: Tables,
    reporter: Pick<Reporter, "line">,
  ): NonNullable<ServiceContext["planNow"]> =>
  async (cluster) => {
    try {
      const stampAt = await stampBeside(tables);
      // Otherwise the planner of another region plans it.
      if (stampAt)
        await planNow({ queue, clock: await comparedClock(tables, "plan") }, cluster, stampAt);
    } catch (error) {
      reporter.line(planNowFailedLine(cluster.name, error));
    }
  };
