import { Logger } from "@aws-lambda-powertools/logger";
import { Metrics } from "@aws-lambda-powertools/metrics";
import { failedLine } from "./failed-line.ts";
import { type LogLine, logLines } from "./log-lines.ts";
import { type PlanReport, planLine } from "./plan-line.ts";
import { CLUSTER_METRICS, type Metric, type MetricExtent, syncMetrics } from "./sync-metrics.ts";
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
  extent = "none",
}: ReporterOptions = {}): Reporter => {
  const line = ({ level, message, fields }: LogLine): void => logger[level](message, { ...fields });
  const add = (values: readonly Metric[]): void => {
    for (const { name, unit, value } of values) metrics.addMetric(name, unit, value);
  };
  /** For the fleet. The line also names the cluster, which makes no metric, so that Logs Insights can ask by cluster. */
  const publish = (values: readonly Metric[], cluster?: string): void => {
    metrics.addDimensions({});
    if (cluster !== undefined && extent === "all") metrics.addDimensions({ cluster });
    if (cluster !== undefined && extent !== "all") metrics.addMetadata("cluster", cluster);
    add(values);
    metrics.publishStoredMetrics();
  };
  /** A line of its own, because all values of a line have the same dimensions. */
  const publishFew = (values: readonly Metric[], cluster: string): void => {
    metrics.addDimensions({ cluster });
    add(values.filter(({ name }) => CLUSTER_METRICS.has(name)));
    metrics.publishStoredMetrics();
  };
  return {
    line,
    sync: (report) => {
      for (const each of logLines(report)) line(each);
      const values = syncMetrics(report, extent);
      publish(values, report.cluster);
      if (extent === "few") publishFew(values, report.cluster);
    },
    failed: (error, record) => {
      line(failedLine(error, bodyOf(record)));
      // For the fleet alone: a message that failed is not trusted to name a metric.
      publish([{ name: "FailedSyncs", unit: "Count", value: 1 }]);
    },
    // Without a metric: SQS counts the messages, and Lambda the calls.
    planned: (report) => line(planLine(report)),
  };
};

const bodyOf = (record: unknown): string => {
  const body: unknown = typeof record === "object" && record !== null ? Reflect.get(record, "body") : undefined;
  return typeof body === "string" ? body : "";
};
