import { Logger } from "@aws-lambda-powertools/logger";
import { Metrics } from "@aws-lambda-powertools/metrics";
import { failedLine } from "./failed-line.ts";
import { type LogLine, logLines } from "./log-lines.ts";
import { syncMetrics } from "./sync-metrics.ts";
import type { SyncReport } from "./sync-report.ts";

/** Where a function reports what it did: log lines and metrics. */
export interface Reporter {
  readonly sync: (report: SyncReport) => void;
  /** Reports a message whose sync threw. SQS delivers it again. */
  readonly failed: (error: unknown, record: unknown) => void;
  readonly line: (line: LogLine) => void;
}

const SERVICE = "tidemark";
const NAMESPACE = "Tidemark";

/** Structured log lines and embedded metrics on standard output, by Powertools. Neither makes a call. */
export const powertoolsReporter = (
  logger: Logger = new Logger({ serviceName: SERVICE }),
  metrics: Metrics = new Metrics({ namespace: NAMESPACE, serviceName: SERVICE }),
): Reporter => {
  const line = ({ level, message, fields }: LogLine): void => logger[level](message, { ...fields });
  return {
    line,
    sync: (report) => {
      for (const each of logLines(report)) line(each);
      metrics.addDimension("cluster", report.cluster);
      for (const { name, unit, value } of syncMetrics(report)) metrics.addMetric(name, unit, value);
      metrics.publishStoredMetrics();
    },
    failed: (error, record) => line(failedLine(error, bodyOf(record))),
  };
};

const bodyOf = (record: unknown): string => {
  const body: unknown = typeof record === "object" && record !== null ? Reflect.get(record, "body") : undefined;
  return typeof body === "string" ? body : "";
};
