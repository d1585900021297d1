import { GetQueueAttributesCommand, SQSClient } from "@aws-sdk/client-sqs";
import { boundedRequests } from "../stack/aws/bounded-requests.ts";
import { deadLettersUnknownLine } from "../stack/report/function-lines.ts";
import type { Reporter } from "../stack/report/reporter.ts";
import type { QueryContext } from "../answers/service/context.ts";

/** A person waits for the answer, and the rest of the status does not need it. */
const ASK = {
  maxAttempts: 2,
  requestHandler: boundedRequests({ connectMs: 1_000, wholeMs: 2_000 }),
};

/**
 * Counts the messages in the two dead-letter queues. On doubt, "not known": a status without the
 * count is better than none.
 */
export const deadLetters = (
  { syncs, plans }: { readonly syncs: string; readonly plans: string },
  reporter: Pick<Reporter, "line">,
): NonNullable<QueryContext["deadLetters"]> => {
  const countOf = async (queueUrl: string): Promise<number> => {
    const client = new SQSClient(ASK);
    try {
      const names = [
        "ApproximateNumberOfMessages",
        "ApproximateNumberOfMessagesNotVisible",
      ] as const;
      const { Attributes = {} } = await client.send(
        new GetQueueAttributesCommand({ QueueUrl: queueUrl, AttributeNames: [...names] }),
      );
      return names.reduce((sum, name) => sum + Number(Attributes[name] ?? Number.NaN), 0);
    } finally {
      client.destroy();
    }
  };
  return async () => {
    try {
      const [ofSyncs = Number.NaN, ofPlans = Number.NaN] = await Promise.all([
        countOf(syncs),
        countOf(plans),
      ]);
      return Number.isNaN(ofSyncs + ofPlans) ? undefined : { syncs: ofSyncs, plans: ofPlans };
    } catch (error) {
      reporter.line(deadLettersUnknownLine(error));
      return undefined;
    }
  };
};
