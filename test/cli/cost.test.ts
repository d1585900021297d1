import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { billOf } from "../../lib/answers/cost/bill.ts";
import { fleetOf } from "../../docs/figures/cost-tables.ts";
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
    expect(JSON.parse(out).fleet).toMatchObject({
      clusters: 2,
      autoscalers: 5,
      periodSeconds: 15,
      changing: 0.01,
      clusterMetrics: "none",
    });
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
