import type { DynamoDBBatchResponse, DynamoDBStreamEvent } from "aws-lambda";
import { eventsLine, lookLine } from "../lib/stack/report/function-lines.ts";
import { builtByFirst, ENVIRONMENT, environmentOf } from "../lib/lambda/environment.ts";
import { type EventsDependencies, eventingParts } from "../lib/lambda/eventing.ts";

/** What the rule `LookAround` of the template sends once a minute. */
export interface LookEvent {
  readonly look: "around";
}

export type EventsHandler = (
  event: DynamoDBStreamEvent | LookEvent,
) => Promise<DynamoDBBatchResponse>;

/**
 * Handles a batch of the stream of the history table: puts its events on the bus. Once a minute it
 * looks at the fleet, and stores what has lasted and what is over; the stream has that a moment
 * later.
 */
export const eventsHandler =
  ({ send, look, reporter }: EventsDependencies): EventsHandler =>
  async (event) => {
    if ("look" in event) {
      reporter.line(lookLine(await look()));
      return { batchItemFailures: [] };
    }
    const { report, answer } = await send(event);
    reporter.line(eventsLine(report));
    return answer;
  };

export const handler = builtByFirst(() =>
  eventsHandler(eventingParts(environmentOf(ENVIRONMENT.events))),
);
