import { Logger } from "@aws-lambda-powertools/logger";
import { Metrics } from "@aws-lambda-powertools/metrics";
import { afterEach, describe, expect, it, vi } from "vitest";
import { unitsFor } from "../../lib/answers/cost/sync-units.ts";
import {
  CLUSTER_METRIC_COUNTS,
  EVENT_BYTES,
  FLEET_METRICS,
  METRIC_LINE_BYTES,
  SCALE_LINES_BYTES,
} from "../../lib/answers/cost/units.ts";
import { autoscalerUid } from "../../lib/rules/model/ids.ts";
import { powertoolsReporter } from "../../lib/stack/report/reporter.ts";
import {
  CLUSTER_METRICS as FEW,
  syncMetrics,
  type SyncReport,
} from "../../lib/stack/report/sync-report.ts";
import { eventBody } from "../../lib/stack/store/history/events.ts";
import { dayEventKey, eventKey } from "../../lib/stack/store/table/keys.ts";
import { completed } from "../report/reports.ts";
import { event } from "../store/records.ts";

afterEach(() => vi.restoreAllMocks());

/** An event as a sync of an HPA with one metric stores it. */
const EVENT = event({
  id: "0b0cf6ee-57de-4a07-8d6e-4f1d1a9c2b73:81234",
  uid: autoscalerUid("0b0cf6ee-57de-4a07-8d6e-4f1d1a9c2b73"),
  message: "cpu resource utilization (percentage of request) above target",
  metrics: [
    {
      kind: "measured",
      name: "cpu",
      type: "Resource",
      value: "83%",
      target: "60%",
      ratio: 1.383,
      proposal: 7,
    } as never,
  ],
  steps: [
    { step: "metrics", before: 5, after: 7 },
    { step: "scaleUpRate", before: 7, after: 7 },
    { step: "bounds", before: 7, after: 7 },
  ] as never,
});

/** What DynamoDB adds to an item that is stored, and a number of ten digits. */
const STORED_ITEM_BYTES = 100;
const TTL_BYTES = 6;

/** Bytes of everything that one sync prints. */
const printedBytes = (report: SyncReport): number => {
  const printed: string[] = [];
  const keep = (text: unknown): boolean => printed.push(String(text)) > 0;
  vi.spyOn(process.stdout, "write").mockImplementation(keep);
  const logger = new Logger({ serviceName: "tidemark-prod" });
  Object.assign(logger, { console: { info: keep, warn: keep, debug: keep, error: keep } });
  powertoolsReporter({
    logger,
    metrics: new Metrics({ namespace: "Tidemark", serviceName: "tidemark-prod" }),
  }).sync(report);
  vi.restoreAllMocks();
  return printed.join("").length;
};
const isNear = (measured: number, unit: number, share: number): void => {
  expect(measured).toBeGreaterThan(unit * (1 - share));
  expect(measured).toBeLessThan(unit * (1 + share));
};

describe("the units of a bill", () => {
  it("count the bytes of a steady sync and of one with a scale as they are printed", () => {
    isNear(printedBytes(completed()), METRIC_LINE_BYTES, 0.1);
    isNear(
      printedBytes(completed({ events: [EVENT] })) - printedBytes(completed()),
      SCALE_LINES_BYTES,
      0.1,
    );
  });

  it("count the bytes of both items of a scale event, with their keys and what DynamoDB adds to an item", () => {
    for (const key of [eventKey(EVENT, EVENT), dayEventKey(EVENT.cluster, EVENT)]) {
      const attributes =
        "pkskttlbody".length +
        key.pk.length +
        key.sk.length +
        TTL_BYTES +
        eventBody(key, EVENT).length;
      isNear(attributes + STORED_ITEM_BYTES, EVENT_BYTES, 0.2);
    }
  });

  it("count the metrics that a sync sends for the fleet and for a cluster", () => {
    // In a month every fleet has a scale in each hour.
    expect(syncMetrics(completed({ events: [EVENT] }), "none")).toHaveLength(FLEET_METRICS);
    expect(syncMetrics(completed(), "few").filter(({ name }) => FEW.has(name))).toHaveLength(
      CLUSTER_METRIC_COUNTS.few,
    );
    expect(syncMetrics(completed(), "all")).toHaveLength(CLUSTER_METRIC_COUNTS.all);
  });

  /**
   * `npm run bench -- cost`, rounded; it changes a whole number of autoscalers in every sync, so
   * small shares of small partitions are left out. Its reads are those of a minute with the
   * manifests.
   */
  it.each([
    [10, 0, 2, 0.25],
    [10, 1, 3, 1],
    [100, 0, 2, 0.25],
    [100, 0.1, 7.5, 1],
    [100, 1, 11, 1],
    [1_000, 0, 2, 2.25],
    [1_000, 0.01, 11, 7],
    [1_000, 0.1, 62.25, 10.25],
    [1_000, 1, 87, 12],
  ])(
    "give what the bench measured: %d autoscalers of which %d change",
    (autoscalers, changing, state, journal) => {
      const units = unitsFor({ autoscalers, changing, periodSeconds: 15, environments: 1 });
      isNear(units.stateWriteUnits, state, 0.1);
      // The bench counts one minute, in which no page is inserted whole.
      isNear(units.journalWriteUnits, journal, 0.2);
    },
  );

  it("count the manifests, which are read again every five minutes by each environment", () => {
    const reads = (environments: number): number =>
      unitsFor({ autoscalers: 1_000, changing: 0, periodSeconds: 15, environments }).readUnits;
    isNear(reads(1), 2 + 135 / 20, 0.02);
    isNear(reads(2), 2 + 135 / 10, 0.02);
  });
});
