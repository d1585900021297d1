import { Logger } from "@aws-lambda-powertools/logger";
import { Metrics } from "@aws-lambda-powertools/metrics";
import { failedLine } from "./failed-line.ts";
import { type LogLine, logLines } from "./log-lines.ts";
import { syncMetrics } from "./sync-metrics.ts";
import type { SyncReport } from "./sync-report.ts";

/** Where a function says what it did. */
export interface Teller {
  readonly told: (report: SyncReport) => void;
  /** A message whose sync threw: it will be delivered again. */
  readonly failed: (error: unknown, record: unknown) => void;
  readonly line: (line: LogLine) => void;
}

const SERVICE = "tidemark";
const NAMESPACE = "Tidemark";

/** Structured lines and embedded metrics on standard output, by powertools: no call is made for either. */
export const powertoolsTeller = (
  logger: Logger = new Logger({ serviceName: SERVICE }),
  metrics: Metrics = new Metrics({ namespace: NAMESPACE, serviceName: SERVICE }),
): Teller => {
  const line = ({ level, message, fields }: LogLine): void => logger[level](message, { ...fields });
  return {
    line,
    told: (report) => {
      for (const one of logLines(report)) line(one);
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
