import type { DynamoDBBatchResponse, DynamoDBStreamEvent } from "aws-lambda";
import { eventsLine } from "../lib/stack/report/function-lines.ts";
import { builtByFirst, ENVIRONMENT, environmentOf } from "../lib/lambda/environment.ts";
import { type EventsDependencies, eventingParts } from "../lib/lambda/eventing.ts";

export type EventsHandler = (event: DynamoDBStreamEvent) => Promise<DynamoDBBatchResponse>;

/** Handles a batch of the stream of the history table: puts its events on the bus. */
export const eventsHandler =
  ({ send, reporter }: EventsDependencies): EventsHandler =>
  async (event) => {
    const { report, answer } = await send(event);
    reporter.line(eventsLine(report));
    return answer;
  };

export const handler = builtByFirst(() =>
  eventsHandler(eventingParts(environmentOf(ENVIRONMENT.events))),
);
