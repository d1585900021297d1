import middy from "@middy/core";
import type { Context } from "aws-lambda";
import { wakeEventOf } from "../lib/stack/plan/wake-events.ts";
import { refusedEventLine, wakeLine } from "../lib/stack/report/function-lines.ts";
import { builtByFirst, ENVIRONMENT, environmentOf } from "../lib/lambda/environment.ts";
import { type WakeDependencies, wakingParts } from "../lib/lambda/waking.ts";

export type WakeHandler = (event: unknown, context: Context) => Promise<void>;

/**
 * Handles events of EventBridge and messages of a topic, which name what is to be synced now. An
 * event that cannot be read is refused in the log: a repeat of it would be no better. Errors of the
 * tables and the queue are thrown, so that Lambda repeats the event.
 */
export const wakeHandler = ({ serve, reporter }: WakeDependencies): WakeHandler => {
  const read = (event: unknown): ReturnType<typeof wakeEventOf> | undefined => {
    try {
      return wakeEventOf(event);
    } catch (error) {
      reporter.line(refusedEventLine(error));
      return undefined;
    }
  };
  return middy<unknown, void>({ timeoutEarlyInMillis: 0 }).handler(async (event) => {
    const wanted = read(event);
    if (wanted) reporter.line(wakeLine(await serve(wanted)));
  }) as WakeHandler;
};

export const handler = builtByFirst(() =>
  wakeHandler(wakingParts(environmentOf(ENVIRONMENT.wake))),
);
