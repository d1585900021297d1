import { randomUUID } from "node:crypto";
import type { Context } from "aws-lambda";

/** A handler as the Lambda runtime calls it. */
export type Handler<Event, Result> = (event: Event, context: Context) => Promise<Result>;

const MEMORY_MB = 512;

/** The context that the Lambda runtime gives a handler. The remaining time is wall time, because a deadline bounds work and not virtual time. */
export const invocationContext = (functionName: string, timeoutMs: number, region: string, account: string): Context => {
  const endsAt = performance.now() + timeoutMs;
  const unused = () => {
    throw new TypeError("The callbacks of the Lambda context are not offered: return a promise");
  };
  return {
    callbackWaitsForEmptyEventLoop: false,
    functionName,
    functionVersion: "$LATEST",
    invokedFunctionArn: `arn:aws:lambda:${region}:${account}:function:${functionName}`,
    memoryLimitInMB: String(MEMORY_MB),
    awsRequestId: randomUUID(),
    logGroupName: `/aws/lambda/${functionName}`,
    logStreamName: "local",
    getRemainingTimeInMillis: () => Math.max(0, endsAt - performance.now()),
    done: unused,
    fail: unused,
    succeed: unused,
  };
};
