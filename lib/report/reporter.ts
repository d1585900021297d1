import { Logger } from "@aws-lambda-powertools/logger";
import { Metrics } from "@aws-lambda-powertools/metrics";
import { failedLine } from "./failed-line.ts";
import { type LogLine, logLines } from "./log-lines.ts";
import { type PlanReport, planLine } from "./plan-line.ts";
import { type Metric, type MetricExtent, syncMetrics } from "./sync-metrics.ts";
import type { SyncReport } from "./sync-report.ts";

/** Where a function reports what it did: log lines and metrics. */
export interface Reporter {
  readonly sync: (report: SyncReport) => void;
  /** Reports a message whose sync threw. SQS delivers it again. */
  readonly failed: (error: unknown, record: unknown) => void;
  readonly planned: (report: PlanReport) => void;
  readonly line: (line: LogLine) => void;
}

export interface ReporterOptions {
  readonly logger?: Logger;
  readonly metrics?: Metrics;
  readonly extent?: MetricExtent;
}

/**
 * Structured log lines and embedded metrics on standard output, by Powertools. Neither makes a call. `POWERTOOLS_SERVICE_NAME` gives the service of both, and with it the dimension that
 * tells two stacks apart.
 */
export const powertoolsReporter = ({
  logger = new Logger(),
  metrics = new Metrics({ namespace: "Tidemark" }),
  extent = "few",
}: ReporterOptions = {}): Reporter => {
  const line = ({ level, message, fields }: LogLine): void => logger[level](message, { ...fields });
  /** Each value counts for the fleet, and for the cluster where one is named. */
  const publish = (values: readonly Metric[], cluster?: string): void => {
    metrics.addDimensions({});
    if (cluster !== undefined && extent !== "none") metrics.addDimensions({ cluster });
    for (const { name, unit, value } of values) metrics.addMetric(name, unit, value);
    metrics.publishStoredMetrics();
  };
  return {
    line,
    sync: (report) => {
      for (const each of logLines(report)) line(each);
      publish(syncMetrics(report, extent), report.cluster);
    },
    failed: (error, record) => {
      line(failedLine(error, bodyOf(record)));
      // For the fleet alone: a message that failed is not trusted to name a metric.
      publish([{ name: "FailedSyncs", unit: "Count", value: 1 }]);
    },
    planned: (report) => {
      line(planLine(report));
      publish([{ name: "PlannedSyncs", unit: "Count", value: report.sent }]);
    },
  };
};

const bodyOf = (record: unknown): string => {
  const body: unknown = typeof record === "object" && record !== null ? Reflect.get(record, "body") : undefined;
  return typeof body === "string" ? body : "";
};
