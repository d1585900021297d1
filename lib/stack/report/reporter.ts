import { Logger } from "@aws-lambda-powertools/logger";
import { Metrics } from "@aws-lambda-powertools/metrics";
import { printable } from "../../rules/model/foreign-text.ts";
import { asObject, asText, jsonIn } from "../../rules/model/json.ts";
import { isSilent, type PlanReport, planLine } from "./function-lines.ts";
import { type LogLine, logLines } from "./log-lines.ts";
import { NOT_COUNTED, type ProblemReport, problemLines, problemMetrics } from "./problems.ts";
import {
  CLUSTER_METRICS,
  type Metric,
  type MetricExtent,
  syncMetrics,
  type SyncReport,
} from "./sync-report.ts";
import { LATEST_DATE_MS } from "../../rules/model/time-text.ts";

/** Where a function reports what it did: log lines and metrics. */
export interface Reporter {
  readonly sync: (report: SyncReport) => void;
  /** Reports a message whose sync threw. SQS delivers it again. */
  readonly failed: (error: unknown, record: unknown) => void;
  readonly planned: (report: PlanReport) => void;
  readonly problems: (report: ProblemReport) => void;
  readonly problemsNotCounted: (error: unknown) => void;
  readonly line: (line: LogLine) => void;
}

/**
 * A logger whose lines have no unprintable character: JSON leaves C1 controls, bidirectional
 * overrides and line separators as they are. Line ends of a stack stay.
 */
export const newLogger = (options: ConstructorParameters<typeof Logger>[0] = {}): Logger =>
  new Logger({
    ...options,
    jsonReplacerFn: (_key, value: unknown) =>
      typeof value === "string" ? value.replace(/[^\n]+/g, printable) : value,
  });

export interface ReporterOptions {
  readonly logger?: Logger;
  readonly metrics?: Metrics;
  readonly extent?: MetricExtent;
}

/**
 * Structured log lines and embedded metrics on standard output, by Powertools. Neither makes a
 * call. `POWERTOOLS_SERVICE_NAME` gives the service of both, and with it the dimension that tells
 * two stacks apart.
 */
export const powertoolsReporter = ({
  logger = newLogger(),
  metrics = new Metrics({ namespace: "Tidemark" }),
  extent = "none",
}: ReporterOptions = {}): Reporter => {
  const line = ({ level, message, fields }: LogLine): void => logger[level](message, { ...fields });
  const add = (values: readonly Metric<string>[]): void => {
    for (const { name, unit, value } of values) metrics.addMetric(name, unit, value);
  };
  /**
   * For the fleet. The line also names the cluster, which makes no metric, so that Logs Insights
   * can ask by cluster.
   */
  const publish = (values: readonly Metric<string>[], cluster?: string): void => {
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
      line(failedLine(error, asText(asObject(record)["body"])));
      // Only for the fleet: a message that failed is not trusted to name a metric.
      publish([{ name: "FailedSyncs", unit: "Count", value: 1 }]);
    },
    // Without a metric: SQS counts the messages, and Lambda the calls.
    // Only a stack that plans nothing has one: its partitions wait, and no head of them says so.
    planned: (report) => {
      line(planLine(report));
      if (isSilent(report)) publish(SILENT);
    },
    problems: (report) => {
      for (const each of problemLines(report)) line(each);
      const values = problemMetrics(report);
      if (values.length > 0) publish(values);
    },
    problemsNotCounted: (error) => {
      line({
        level: "error",
        message:
          "Cannot count the problems of the fleet, or report them to an owner; the next minute counts again",
        fields: { error: error instanceof Error ? error : new Error(String(error)) },
      });
      publish(NOT_COUNTED);
    },
  };
};

/** Raises the alarm SyncsStopped. */
const SILENT = [{ name: "NewLatePartitions", unit: "Count", value: 1 }] as const;

/** Characters of an unreadable message that the log shows. A message has about a hundred. */
const BODY_CHARACTERS_MAX = 256;

/**
 * The log line of a sync that threw. SQS delivers its message again. The line names the partition.
 * The error is under a key of its own, because the logger drops a field called `message`.
 */
const failedLine = (error: unknown, body: string): LogLine => {
  const { cluster, partition, due } = partsOf(body);
  const named = cluster !== undefined && partition !== undefined;
  return {
    level: "error",
    message: `A sync ${named ? `of "${cluster}/${partition}" ` : ""}failed, and its message will be delivered again`,
    fields: {
      ...(named
        ? { cluster, partition }
        : { body: JSON.stringify(body.slice(0, BODY_CHARACTERS_MAX)) }),
      ...(due !== undefined && { due }),
      outcome: "failed",
      error: error instanceof Error ? error : new Error(String(error)),
    },
  };
};

/** Names that the log repeats. Anything else could come from another sender to the queue. */
const NAME = /^[!-~]{1,200}$/;

const partsOf = (body: string) => {
  // A body that is no sync message has no parts: the line shows its beginning.
  const value = asObject(jsonIn(body));
  const [cluster, partition] = [value["cluster"], value["partition"]].map((text) =>
    typeof text === "string" && NAME.test(text) ? text : undefined,
  );
  const dueMs = value["dueMs"];
  return {
    cluster,
    partition,
    due:
      typeof dueMs === "number" && Math.abs(dueMs) <= LATEST_DATE_MS
        ? new Date(dueMs).toISOString()
        : undefined,
  };
};
