import { SQSClient } from "@aws-sdk/client-sqs";
import { boundedRequests } from "../stack/aws/bounded-requests.ts";
import type { LookReport } from "../stack/report/function-lines.ts";
import { powertoolsReporter, type Reporter } from "../stack/report/reporter.ts";
import { insertByStatement } from "../stack/store/history/item.ts";
import { realTables } from "../stack/store/table/real-tables.ts";
import type { ENVIRONMENT } from "./environment.ts";
import { putsEvents } from "./put-events.ts";
import { type SendEvents, sendsEvents } from "./send-events.ts";

export interface EventsDependencies {
  readonly send: SendEvents;
  readonly look: () => Promise<LookReport>;
  readonly reporter: Pick<Reporter, "line">;
}

/** A letter that is sent twice does no harm. */
const SEND = {
  maxAttempts: 3,
  requestHandler: boundedRequests({ connectMs: 1_000, wholeMs: 3_000 }),
};

/** What `events` is built of. */
export const eventingParts = (
  names: Readonly<Record<(typeof ENVIRONMENT.events)[number], string>>,
): EventsDependencies => {
  const tables = realTables({
    stateTable: names.TIDEMARK_STATE_TABLE,
    historyTable: names.TIDEMARK_HISTORY_TABLE,
  });
  const client = new SQSClient(SEND);
  const { credentials, region } = client.config;
  return {
    send: sendsEvents({
      tables,
      put: putsEvents({ credentials, region, clock: Date.now }, names.TIDEMARK_EVENT_BUS),
      deadLetters: { client, queueUrl: names.TIDEMARK_EVENTS_DEAD_LETTERS_URL },
    }),
    // Most calls are of the stream, and load no code for looks.
    look: async () =>
      (await import("../answers/cloud-events/look.ts")).lookAround({
        tables,
        insert: insertByStatement(tables),
      }),
    reporter: powertoolsReporter(),
  };
};
