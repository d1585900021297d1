import { Logger } from "@aws-lambda-powertools/logger";
import { Metrics } from "@aws-lambda-powertools/metrics";
import { afterEach, describe, expect, it, vi } from "vitest";
import { powertoolsReporter } from "../../lib/report/reporter.ts";
import { syncMetrics } from "../../lib/report/sync-metrics.ts";
import { event } from "../store/records.ts";
import { completed, dropped } from "./reports.ts";

const values = (report: Parameters<typeof syncMetrics>[0]): Readonly<Record<string, number>> =>
  Object.fromEntries(syncMetrics(report).map(({ name, value }) => [name, value]));

afterEach(() => vi.restoreAllMocks());

describe("syncMetrics()", () => {
  it("counts a completed sync, zeros included, so that an alarm never waits for data", () => {
    expect(values(completed({ events: [event(), event({ outcome: "unknown" })], openIntents: 2 }))).toEqual({
      SyncLag: 300,
      SyncDuration: 1_000,
      CompletedSyncs: 1,
      Autoscalers: 3,
      EvaluationsFailed: 0,
      Unreadable: 0,
      ScalesApplied: 1,
      ScalesRefused: 0,
      ScalesUnknown: 1,
      OpenIntents: 2,
      ClusterCalls: 4,
      ClusterBytes: 1_000,
      PagesWritten: 0,
    });
  });

  it.each([
    ["stale", { StaleMessages: 1, LeaseConflicts: 0, WrongClocks: 0 }],
    ["held", { StaleMessages: 0, LeaseConflicts: 1, WrongClocks: 0 }],
    ["lost", { StaleMessages: 0, LeaseConflicts: 1, WrongClocks: 0 }],
    ["done", { StaleMessages: 0, LeaseConflicts: 0, WrongClocks: 0 }],
    ["clock", { StaleMessages: 0, LeaseConflicts: 0, WrongClocks: 1 }],
    ["early", { StaleMessages: 0, LeaseConflicts: 0, WrongClocks: 1 }],
  ] as const)("counts a dropped message: %s", (why, expected) => {
    expect(values(dropped(why))).toEqual({ SyncLag: 300, DroppedMessages: 1, ...expected });
  });
});

describe("powertoolsReporter()", () => {
  it("prints one blob of metrics per sync, by cluster alone", () => {
    const printed: string[] = [];
    vi.spyOn(process.stdout, "write").mockImplementation((text) => printed.push(String(text)) > 0);
    const metrics = new Metrics({ namespace: "Tidemark", serviceName: "tidemark" });
    const logger = { info: vi.fn(), warn: vi.fn(), error: vi.fn() };
    const reporter = powertoolsReporter(logger as never, metrics);
    reporter.sync(completed());
    reporter.sync({ ...completed(), cluster: "us-1" as never });
    expect(printed).toHaveLength(2);
    const [first, second] = printed.map((text) => JSON.parse(text));
    expect(first).toMatchObject({ cluster: "eu-1", SyncLag: 300, CompletedSyncs: 1 });
    expect(second).toMatchObject({ cluster: "us-1" });
    expect(first._aws.CloudWatchMetrics[0]).toMatchObject({ Namespace: "Tidemark", Dimensions: [["service", "cluster"]] });
    expect(logger.info).toHaveBeenCalledTimes(2);
  });

  /** The line as the real logger prints it: it drops fields of its own names, such as `message`. */
  const printedFor = (body: string): Record<string, unknown> => {
    const printed: string[] = [];
    const logger = new Logger({ serviceName: "tidemark" });
    Object.assign(logger, { console: { error: (text: string) => printed.push(text) } });
    powertoolsReporter(logger).failed(new Error("the history does not answer"), { body });
    expect(printed).toHaveLength(1);
    return JSON.parse(printed[0] ?? "");
  };

  it("names cluster, partition and due time in the line of a sync that failed", () => {
    const body = JSON.stringify({ cluster: "eu-1", partition: "shops", dueMs: Date.UTC(2026, 10, 21, 12), periodMs: 15_000 });
    expect(printedFor(body)).toMatchObject({
      level: "ERROR",
      message: 'A sync of "eu-1/shops" failed, and its message will be delivered again',
      cluster: "eu-1",
      partition: "shops",
      due: "2026-11-21T12:00:00.000Z",
      error: { message: "the history does not answer" },
    });
  });

  it.each(["no message", "{}", '{"cluster":7}', `{"cluster":"a b","partition":"c"}`, `\u001b[2J${"x".repeat(10_000)}`])(
    "shows the beginning of a body that is no message of ours, escaped: %j",
    (body) => {
      const line = printedFor(body);
      expect(line).toMatchObject({ message: "A sync failed, and its message will be delivered again", body: JSON.stringify(body.slice(0, 256)) });
    },
  );
});
