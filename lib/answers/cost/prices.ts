/**
 * List prices of us-east-1 in dollars, without free tiers, from the AWS price lists of October
 * 2026. Sources: aws.amazon.com/lambda/pricing (arm64), /sqs/pricing, /eventbridge/pricing,
 * /dynamodb/pricing (on demand, standard table class), /cloudwatch/pricing and
 * /secrets-manager/pricing. A change of a price is a change of this file and of docs/cost.md (`npm
 * run docs -- cost`).
 */
export const PRICES = {
  date: "October 2026",
  region: "us-east-1",
  lambdaRequest: 0.2e-6,
  lambdaGbSecond: 0.0000133334,
  sqsRequest: 0.4e-6,
  schedulerCall: 1e-6,
  writeUnit: 0.625e-6,
  readUnit: 0.125e-6,
  /**
   * A month, in a table with point-in-time recovery: 0.25 for storage and 0.20 for the recovery.
   */
  storedGb: 0.45,
  logGb: 0.5,
  /** A month. An alarm costs this for each metric that it looks at. */
  alarmMetric: 0.1,
  /** A month, for each name and set of dimensions that gets values in every hour. */
  customMetric: 0.3,
  secret: 0.4,
  secretCall: 5e-6,
} as const;

/** 730 hours, as AWS counts a month. */
export const MONTH_SECONDS = 2_628_000;
