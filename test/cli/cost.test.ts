import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { billOf } from "../../lib/answers/cost/bill.ts";
import { fleetOf } from "../../docs/figures/cost-tables.ts";
import { openService } from "../../lib/answers/service/open.ts";
import { DAY_MS } from "../../lib/rules/model/time-text.ts";
import { insertByStatement } from "../../lib/stack/store/history/item.ts";
import { startMemory } from "../contracts/engines.ts";
import { newWorld, PERIOD_MS, workloadOf, type World } from "../sync/world.ts";
import { type Folder, shopInMemory } from "./folder.ts";
import { inside } from "./inside.ts";

let folder: Folder;
beforeAll(async () => {
  folder = await shopInMemory();
});
afterAll(() => folder.remove());

const never = async (): Promise<never> => {
  throw new Error("opened");
};

const MINUTES = 30;

/** Two busy workloads; what the log of all syncs says, of which the first writes all pages. */
const played = async (
  world: World,
): Promise<Readonly<Record<"syncs" | "changed" | "bytes", number>>> => {
  const reports = [];
  for (let at = 0; at < MINUTES * 4; at++) {
    if (at % 10 === 0) workloadOf(world, "web").demand = at % 20 === 0 ? 2 : 6;
    if (at % 7 === 0) workloadOf(world, "api").demand = at % 14 === 0 ? 3 : 9;
    world.nowMs += PERIOD_MS;
    reports.push(await world.sync());
  }
  const completed = reports.filter((report) => report.kind === "completed");
  const sum = (of: "pagesWritten" | "bytes"): number =>
    completed.reduce((all, report) => all + report[of], 0);
  return { syncs: completed.length, changed: sum("pagesWritten"), bytes: sum("bytes") };
};

/** A session on the tables of a played world. */
const sessionOf = (world: World) => {
  const { tables, nowMs } = world;
  const clock = () => nowMs;
  const service = openService({
    ...{ tables, insert: insertByStatement(tables), clock },
    ...{ by: "ada", newUid: randomUUID },
  });
  const session = { service, place: "stack one", nowMs, clock };
  return { nowMs, open: async () => ({ ...session, close: async () => {} }) };
};

describe("tidemark cost", () => {
  it("answers for the numbers that are given, and opens nothing", async () => {
    const args = [
      "cost",
      "--clusters",
      "10",
      "--autoscalers",
      "1000",
      "--period",
      "1m",
      "--changing",
      "10%",
      "--scales",
      "5",
      "--secrets",
      "2",
      "--cluster-metrics",
      "few",
    ];
    const { code, out, err } = await inside([...args, "-o", "json"], { open: never });
    expect([code, err]).toEqual([0, ""]);
    const fleet = fleetOf(10, 1_000, {
      periodSeconds: 60,
      changing: 0.1,
      scalesADay: 5,
      secrets: 2,
      clusterMetrics: "few",
    });
    expect(JSON.parse(out)).toEqual({
      fleet,
      ...billOf(fleet),
      prices: { date: "October 2026", region: "us-east-1" },
    });
    expect((await inside(args, { open: never })).out).toContain(
      "10 clusters, 1000 autoscalers, a sync every 60 s, 10 % change in a sync, 5 scales of each in a day\n",
    );
  });

  it("adds what watching and scraping cost, as a line of its own", async () => {
    const args = [
      "cost",
      "--clusters",
      "100",
      "--autoscalers",
      "10000",
      "--readers",
      "20",
      "--scrape",
      "15s",
    ];
    const { code, out } = await inside([...args, "-o", "json"], { open: never });
    const { readers = 0 } = billOf({ ...fleetOf(100, 10_000), readers: 20, scrapeSeconds: 15 });
    expect([code, JSON.parse(out)]).toMatchObject([
      0,
      { readers, fleet: { readers: 20, scrapeSeconds: 15 } },
    ]);
    expect((await inside(args, { open: never })).out).toMatch(
      new RegExp(`^  readers +${readers.toFixed(2)}$`, "m"),
    );
    expect((await inside(["cost", "--readers", "many"], { open: never })).err).toContain(
      'Cannot read --readers "many"',
    );
  });

  it("takes the numbers of the data folder or stack where none are given", async () => {
    const { code, out } = await inside(["cost", "-o", "json", "--data", folder.data]);
    expect(code).toBe(0);
    const bill = JSON.parse(out);
    const counted = { clusters: 2, autoscalers: 5, periodSeconds: 15, clusterMetrics: "none" };
    expect(bill.fleet).toMatchObject(counted);
    expect(bill.assumed.fleet).toMatchObject({ ...counted, changing: 0.01 });
    expect(bill.fleet.changing).toBe(bill.syncs.changed / bill.syncs.autoscalers);
    const more = await inside([
      "cost",
      "-o",
      "json",
      "--data",
      folder.data,
      "--autoscalers",
      "500",
    ]);
    expect(JSON.parse(more.out).fleet).toMatchObject({ clusters: 2, autoscalers: 500 });
  });

  it("makes a bill of what the journal of the last day says beside the one of what is assumed", async () => {
    const engine = await startMemory();
    try {
      // A page for each autoscaler, so that the log counts those that change.
      const world = await newWorld(
        engine.client,
        engine.tables,
        { web: 2, api: 3, quiet: 4 },
        { timing: { pageEntries: 1 } },
      );
      const logged = await played(world);
      const { open, nowMs } = sessionOf(world);
      const { code, err, out } = await inside(["cost", "-o", "json"], { open });
      expect([code, err]).toEqual([0, ""]);
      const bill = JSON.parse(out);
      expect(bill.syncs.autoscalers).toBe(3);
      expect(bill.syncs.syncs).toBeGreaterThan(logged.syncs - 9);
      expect(bill.syncs.changed / (logged.changed / logged.syncs)).toBeCloseTo(1, 1.3);
      expect(bill.syncs.bytes / (logged.bytes / logged.syncs)).toBeCloseTo(1, 1.3);
      expect(bill.syncs.pods).toBeGreaterThan(9);
      const scales = (await world.events()).length;
      expect(scales).toBeGreaterThan(4);
      const measuredMs = bill.syncs.hours * 3_600_000;
      expect(nowMs - measuredMs).toBeLessThan(nowMs - (MINUTES - 3) * 60_000);
      const fleet = fleetOf(1, 3, {
        changing: bill.syncs.changed / 3,
        scalesADay: (scales * DAY_MS) / measuredMs / 3,
      });
      expect(bill).toMatchObject({
        ...billOf(bill.fleet),
        assumed: { fleet: fleetOf(1, 3), ...billOf(fleetOf(1, 3)) },
      });
      expect(bill.fleet.changing).toBeCloseTo(fleet.changing, 9);
      expect(bill.fleet.scalesADay).toBeCloseTo(fleet.scalesADay, 6);
      const { out: sheet } = await inside(["cost"], { open });
      expect(sheet).toMatch(/^ +measured +assumed$/m);
      expect(sheet).toMatch(
        /Measured in \d+ syncs of the last 0\.\d+ h: in one sync of all clusters/,
      );
      expect(sheet).toContain("Assumed: 1 % change in a sync, 10 scales of each in a day.");
      const given = await inside(["cost", "--changing", "5%", "-o", "json"], { open });
      expect(JSON.parse(given.out)).toMatchObject({
        fleet: { changing: 0.05 },
        assumed: { fleet: { changing: 0.05 } },
      });
    } finally {
      await engine.close();
    }
  });

  it.each([
    [["--clusters", "-1"], 'Cannot read --clusters "-1": give a number from 0 to 1000000'],
    [["--clusters", "ten"], 'Cannot read --clusters "ten": give a number from 0 to 1000000'],
    [
      ["--changing", "2"],
      'Cannot read --changing "2": give a share from 0 to 1, such as "0.01" or "1%"',
    ],
    [
      ["--period", "0"],
      'Cannot read --period "0": give a duration of at least 1s, such as "15s" or "1m30s"',
    ],
  ])("refuses %j, and opens nothing", async (args, words) => {
    expect(await inside(["cost", ...args], { open: never })).toEqual({
      code: 1,
      out: "",
      err: `error: ${words}\n`,
    });
  });
});
