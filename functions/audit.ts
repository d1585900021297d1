import { type AuditDependencies, auditingParts } from "../lib/lambda/auditing.ts";
import { builtByFirst, ENVIRONMENT, environmentOf } from "../lib/lambda/environment.ts";
import { auditLine } from "../lib/stack/report/function-lines.ts";

export type AuditHandler = () => Promise<void>;

/**
 * Puts the audits of the days that have ended into the bucket. Errors are thrown, so that Lambda
 * repeats the call; what no repeat puts, the call of the next day puts.
 */
export const auditHandler =
  ({ keep, reporter }: AuditDependencies): AuditHandler =>
  async () => {
    for (const day of await keep()) reporter.line(auditLine(day));
  };

export const handler = builtByFirst(() =>
  auditHandler(auditingParts(environmentOf(ENVIRONMENT.audit))),
);
