import { Metrics } from "@aws-lambda-powertools/metrics";
import { afterEach, describe, expect, it, vi } from "vitest";
import { newLogger, powertoolsReporter, type Reporter } from "../../lib/stack/report/reporter.ts";
import { metricExtentOf, syncMetrics } from "../../lib/stack/report/sync-report.ts";
import { NOON } from "../noon.ts";
import { event } from "../store/records.ts";
import { completed, dropped } from "./reports.ts";

const values = (...given: Parameters<typeof syncMetrics>): Readonly<Record<string, number>> =>
  Object.fromEntries(syncMetrics(...given).map(({ name, value }) => [name, value]));

afterEach(() => vi.restoreAllMocks());

describe("syncMetrics()", () => {
  it("sends two values of a steady sync, because CloudWatch charges for each metric", () => {
    expect(values(completed(), "few")).toEqual({ SyncLag: 300, CompletedSyncs: 1 });
    expect(values(completed(), "none")).toEqual({ SyncLag: 300, CompletedSyncs: 1 });
  });

  it("sends each count that is not zero", () => {
    const report = completed({
      events: [event(), event({ outcome: "unknown" })],
      failed: 2,
      unreachable: true,
    });
    expect(values(report, "few")).toEqual({
      SyncLag: 300,
      CompletedSyncs: 1,
      EvaluationsFailed: 2,
      UnreachableSyncs: 1,
      ScalesApplied: 1,
      ScalesUnknown: 1,
    });
  });

  it("counts the namespaces that used their share, however many of their autoscalers hold", () => {
    const over = (namespace: string, name: string) => ({
      namespace,
      name,
      reason: "TenantOverShare",
      message: "m",
    });
    expect(
      values(
        completed({ overShare: [over("shop", "a"), over("shop", "b"), over("bank", "a")] }),
        "none",
      ),
    ).toMatchObject({
      TenantsOverShare: 2,
    });
  });

  it("sends every figure, zeros included, where all are asked for", () => {
    expect(
      values(
        completed({ events: [event(), event({ outcome: "unknown" })], openIntents: 2 }),
        "all",
      ),
    ).toEqual({
      SyncLag: 300,
      SyncDuration: 1_000,
      CompletedSyncs: 1,
      Autoscalers: 3,
      EvaluationsFailed: 0,
      SpecsOverBudget: 0,
      TenantsOverShare: 0,
      Unreadable: 0,
      RuleFailures: 0,
      UnreachableSyncs: 0,
      ScalesApplied: 1,
      ScalesRefused: 0,
      ScalesUnknown: 1,
      OpenIntents: 2,
      ClusterCalls: 4,
      ClusterBytes: 1_000,
      PagesWritten: 0,
      ProjectionsBehind: 0,
    });
  });

  it.each([
    ["stale", { StaleMessages: 1 }],
    ["held", { LeaseConflicts: 1 }],
    ["lost", { LeaseConflicts: 1 }],
    ["done", {}],
    ["restored", { RestoredTables: 1 }],
    ["clock", { WrongClocks: 1 }],
    ["early", { WrongClocks: 1 }],
  ] as const)("counts a dropped message: %s", (why, expected) => {
    expect(values(dropped(why), "few")).toEqual({ SyncLag: 300, ...expected });
  });
});

describe("metricExtentOf()", () => {
  it("reads the three extents and refuses any other text with what was wanted", () => {
    expect(["all", "few", "none"].map(metricExtentOf)).toEqual(["all", "few", "none"]);
    expect(() => metricExtentOf("some")).toThrow(
      new RangeError(
        'Cannot send metrics: TIDEMARK_CLUSTER_METRICS is "some", and "all", "few" or "none" was wanted',
      ),
    );
  });
});

/** What the teller prints as metrics while `act` runs. */
const printedBy = (
  extent: "all" | "few" | "none",
  act: (reporter: Reporter) => void,
): readonly Record<string, unknown>[] => {
  const printed: string[] = [];
  vi.spyOn(process.stdout, "write").mockImplementation((text) => printed.push(String(text)) > 0);
  const logger = { debug: vi.fn(), info: vi.fn(), warn: vi.fn(), error: vi.fn() };
  act(
    powertoolsReporter({
      logger: logger as never,
      metrics: new Metrics({ namespace: "Tidemark", serviceName: "tidemark-prod" }),
      extent,
    }),
  );
  return printed.map((text) => JSON.parse(text));
};
interface Blob {
  readonly _aws: { readonly CloudWatchMetrics: readonly { readonly Dimensions: unknown }[] };
}
const dimensionsOf = (blob: unknown): unknown =>
  (blob as Blob)._aws.CloudWatchMetrics.map(({ Dimensions }) => Dimensions);

describe("powertoolsReporter()", () => {
  it("prints one line of metrics per sync for the fleet alone, which names the cluster for Logs Insights", () => {
    const blobs = printedBy("none", (reporter) => {
      reporter.sync(completed());
      reporter.sync({ ...completed(), cluster: "us-1" as never });
    });
    expect(blobs).toMatchObject([
      { service: "tidemark-prod", cluster: "eu-1", SyncLag: 300, CompletedSyncs: 1 },
      { service: "tidemark-prod", cluster: "us-1" },
    ]);
    for (const blob of blobs) expect(dimensionsOf(blob)).toEqual([[["service"]]]);
  });

  it("prints two metrics for the cluster where few are asked for", () => {
    const blobs = printedBy("few", (reporter) =>
      reporter.sync(completed({ failed: 2, events: [event()] })),
    );
    expect(blobs.map(dimensionsOf)).toEqual([[[["service"]]], [[["service", "cluster"]]]]);
    const { _aws, ...numbers } = blobs[1] ?? {};
    expect(numbers).toEqual({
      service: "tidemark-prod",
      cluster: "eu-1",
      SyncLag: 300,
      EvaluationsFailed: 2,
    });
  });

  it("prints every metric for the fleet and for the cluster where all are asked for", () => {
    const blobs = printedBy("all", (reporter) => reporter.sync(completed()));
    expect(blobs.map(dimensionsOf)).toEqual([[[["service"], ["service", "cluster"]]]]);
  });

  it("counts failed syncs for the fleet, and sends nothing of a plan, because SQS counts its messages", () => {
    const blobs = printedBy("all", (reporter) => {
      reporter.planned({
        fromMs: 0,
        untilMs: 60_000,
        missed: [],
        clusters: 0,
        sent: 0,
        skipped: 0,
        unreadable: [],
      });
      reporter.failed(new Error("no answer"), {
        body: JSON.stringify({ cluster: "eu-1", partition: "all" }),
      });
    });
    expect(blobs).toMatchObject([{ FailedSyncs: 1 }]);
    expect(blobs.map(dimensionsOf)).toEqual([[[["service"]]]]);
  });

  /** The line as the real logger prints it: it drops fields of its own names, such as `message`. */
  const printedFor = (body: string): Record<string, unknown> => {
    const printed: string[] = [];
    const logger = newLogger({ serviceName: "tidemark" });
    Object.assign(logger, { console: { error: (text: string) => printed.push(text) } });
    powertoolsReporter({ logger }).failed(new Error("the history does not answer"), { body });
    expect(printed).toHaveLength(1);
    return JSON.parse(printed[0] ?? "");
  };

  it("names cluster, partition and due time in the line of a sync that failed", () => {
    const body = JSON.stringify({
      cluster: "eu-1",
      partition: "shops",
      dueMs: NOON,
      periodMs: 15_000,
    });
    expect(printedFor(body)).toMatchObject({
      level: "ERROR",
      message: 'A sync of "eu-1/shops" failed, and its message will be delivered again',
      cluster: "eu-1",
      partition: "shops",
      due: "2026-03-01T12:00:00.000Z",
      error: { message: "the history does not answer" },
    });
  });

  it.each([
    "no message",
    "{}",
    '{"cluster":7}',
    `{"cluster":"a b","partition":"c"}`,
    `\u001b[2J${"x".repeat(10_000)}`,
  ])("shows the beginning of a body that is no message of ours, escaped: %j", (body) => {
    const line = printedFor(body);
    expect(line).toMatchObject({
      message: "A sync failed, and its message will be delivered again",
      body: JSON.stringify(body.slice(0, 256)),
    });
  });
});
