import { readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ASSUMED, billOf, dollarsOfCluster, PARTS } from "../../lib/answers/cost/bill.ts";
import { costTable, fleetOf, TARGETS, targetTable } from "../../docs/figures/cost-tables.ts";
import {
  measuredBillTable,
  measuredStartsTable,
  storedMeasurement,
} from "../../docs/figures/measured-tables.ts";
import { PRICES } from "../../lib/answers/cost/prices.ts";
import { unitsFor } from "../../lib/answers/cost/sync-units.ts";

const PAGE = readFileSync(join(import.meta.dirname, "../../docs/cost.md"), "utf8");
const SPEED = readFileSync(join(import.meta.dirname, "../../docs/speed.md"), "utf8");

describe("dollarsOfCluster()", () => {
  it("is what a bill grows by with a cluster more: of a hundred like it, all but the bill of a stack without clusters", () => {
    const settings = { ...ASSUMED, clusterMetrics: "none" } as const;
    const stack = billOf({ ...settings, clusters: 0, autoscalers: 0, secrets: 0 }).firstMonth;
    const fleet = billOf({
      ...settings,
      clusters: 100,
      autoscalers: 10_000,
      secrets: 0,
    }).firstMonth;
    const one = dollarsOfCluster({
      ...{ periodSeconds: 15 },
      ...{ partitions: 1, autoscalers: 100, hasSecret: false },
    });
    expect(stack).toBeGreaterThan(1);
    expect(Math.abs(100 * one + stack - fleet)).toBeLessThan(fleet / 40);
  });

  it("grows with partitions, autoscalers and a shorter period", () => {
    const cluster = {
      ...{ periodSeconds: 15 },
      ...{ partitions: 1, autoscalers: 100, hasSecret: false },
    } as const;
    const own = dollarsOfCluster(cluster);
    for (const more of [
      { partitions: 2 },
      { autoscalers: 200 },
      { periodSeconds: 10 },
      { hasSecret: true },
    ])
      expect(dollarsOfCluster({ ...cluster, ...more }), JSON.stringify(more)).toBeGreaterThan(own);
  });
});

describe("billOf()", () => {
  it.each(TARGETS)(
    "costs at most $dollars for $autoscalers autoscalers in $clusters clusters, with 13 months of history",
    ({ clusters, autoscalers, dollars }) => {
      expect(billOf(fleetOf(clusters, autoscalers)).afterYear).toBeLessThanOrEqual(dollars);
    },
  );

  it("has what readers cost beside its parts, only where there are some: 20 that watch 10,000 autoscalers all day take at most $35", () => {
    const fleet = fleetOf(100, 10_000);
    const [without, watched, scraped] = [
      billOf(fleet),
      billOf({ ...fleet, readers: 20 }),
      billOf({ ...fleet, scrapeSeconds: 15 }),
    ];
    expect(without).not.toHaveProperty("readers");
    expect(watched.readers).toBeGreaterThan(20);
    expect(watched.readers).toBeLessThanOrEqual(35);
    expect(watched.firstMonth).toBeCloseTo(without.firstMonth + (watched.readers ?? 0));
    expect(scraped.afterYear).toBeCloseTo(without.afterYear + (scraped.readers ?? 0));
    expect(billOf({ ...fleet, scrapeSeconds: 60 }).readers).toBeLessThan(
      (scraped.readers ?? 0) / 3,
    );
    const both = billOf({ ...fleet, readers: 20, scrapeSeconds: 15 });
    expect(both.readers).toBeCloseTo((watched.readers ?? 0) + (scraped.readers ?? 0));
    expect(both.readers).toBeLessThanOrEqual(40);
    const [watching, scraping, together] = [watched, scraped, both].map(
      ({ readers = 0 }) => `$${Math.round(readers)}`,
    );
    expect(PAGE).toContain(`with \`get -w\` cost ${watching} a month`);
    expect(PAGE).toContain(
      `each 15 s costs ${scraping}, so that both together cost ${together}, and at most $40`,
    );
    expect(SPEED).toContain(`for $40 a month | ${together} |`);
  });

  it("adds up its parts, the history apart from the first month", () => {
    const { parts, firstMonth, afterYear } = billOf(fleetOf(10, 1_000));
    expect(PARTS.reduce((sum, part) => sum + parts[part], 0)).toBeCloseTo(afterYear);
    expect(afterYear - firstMonth).toBeCloseTo(parts.history);
  });

  it("charges at most $11 for the summaries of 10,000 autoscalers in 100 clusters, where 1 % change in a sync", () => {
    const ofSummary =
      unitsFor({ autoscalers: 100, changing: 0.01, periodSeconds: 15, environments: 1 })
        .summaryWriteUnits *
      4 *
      43_800 *
      100 *
      PRICES.writeUnit;
    expect(ofSummary).toBeGreaterThan(5);
    expect(ofSummary).toBeLessThanOrEqual(11);
  });

  it("charges an empty stack its schedule, its queue, its alarms and its metrics", () => {
    const { parts } = billOf(fleetOf(0, 0));
    expect(parts.Scheduler).toBeCloseTo(43_800 * PRICES.schedulerCall);
    // A mark for each minute that is planned, and what the problems are counted from.
    expect(parts.DynamoDB).toBeCloseTo(43_800 * (PRICES.writeUnit + 3 * PRICES.readUnit));
    expect([parts.secrets, parts.history]).toEqual([0, 0]);
  });

  it("charges a secret for each cluster that has one, and a metric for each cluster that sends one", () => {
    const without = billOf(fleetOf(10, 100)).parts;
    const { secrets, metrics } = billOf(
      fleetOf(10, 100, { secrets: 10, clusterMetrics: "few" }),
    ).parts;
    expect(secrets).toBeGreaterThan(without.secrets + 10 * PRICES.secret);
    expect(metrics - without.metrics).toBeCloseTo(10 * PRICES.customMetric);
  });

  it("never costs less for more clusters, more autoscalers, a shorter period or more change", () => {
    const fleet = fc.record({
      clusters: fc.integer({ min: 1, max: 500 }),
      autoscalers: fc.integer({ min: 0, max: 50_000 }),
      periodSeconds: fc.integer({ min: 5, max: 900 }),
      changing: fc.double({ min: 0, max: 0.5, noNaN: true }),
    });
    fc.assert(
      fc.property(fleet, ({ clusters, autoscalers, periodSeconds, changing }) => {
        const total = (more: object = {}): number =>
          billOf(fleetOf(clusters, autoscalers, { periodSeconds, changing, ...more })).afterYear;
        // The page units step where a page is divided, so a total may fall by less than a cent in a
        // thousand.
        const most = total() * 1.0001 + 0.01;
        expect(total({ changing: 0 })).toBeLessThanOrEqual(most);
        expect(total({ periodSeconds: periodSeconds + 60 })).toBeLessThanOrEqual(most);
        expect(total({ scalesADay: 0 })).toBeLessThanOrEqual(most);
      }),
    );
  });
});

describe("docs/cost.md", () => {
  it("has the tables that npm run docs -- cost writes", () => {
    expect(PAGE).toContain(`<!-- targets -->\n${targetTable()}\n<!-- end of targets -->`);
    expect(PAGE).toContain(`<!-- costs -->\n${costTable()}\n<!-- end of costs -->`);
  });

  it("and docs/speed.md have the tables that npm run measure writes, and say where AWS measured nothing", () => {
    const measurement = storedMeasurement();
    const [bill, starts] = [measuredBillTable(measurement), measuredStartsTable(measurement)];
    expect(PAGE).toContain(`<!-- measured -->\n${bill}\n<!-- end of measured -->`);
    expect(SPEED).toContain(`<!-- measured starts -->\n${starts}\n<!-- end of measured starts -->`);
    if (measurement) return;
    for (const table of [bill, starts]) expect(table).toContain("never measured");
  });
});
