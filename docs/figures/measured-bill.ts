import { MONTH_SECONDS, PRICES } from "../../lib/answers/cost/prices.ts";

/** What was counted of a stack in a span of time. */
export interface CountedUse {
  readonly seconds: number;
  readonly writeUnits: number;
  readonly readUnits: number;
  readonly queueRequests: number;
  readonly logBytes: number;
  /** Absent where the functions did not run on Lambda. */
  readonly lambda?: { readonly calls: number; readonly gbSeconds: number };
}

const GB = 1e9;

/** Dollars of a month like the span, by the names of the parts of a bill. */
export const dollarsOfUse = (use: CountedUse): Readonly<Record<string, number>> => {
  const month = MONTH_SECONDS / use.seconds;
  return {
    ...(use.lambda && {
      Lambda:
        month *
        (use.lambda.calls * PRICES.lambdaRequest + use.lambda.gbSeconds * PRICES.lambdaGbSecond),
    }),
    DynamoDB: month * (use.writeUnits * PRICES.writeUnit + use.readUnits * PRICES.readUnit),
    SQS: month * use.queueRequests * PRICES.sqsRequest,
    logs: ((month * use.logBytes) / GB) * PRICES.logGb,
  };
};
