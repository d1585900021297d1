import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../lib/rules/model/time-text.ts";
import { podAutoscaler } from "../replay/world.ts";
import { PERIOD_MS, type SeriesWorld, seriesWorld } from "../service/series-world.ts";
import { inside } from "./inside.ts";

let folder: string;
const path = (name: string): string => join(folder, name);

/** 40 units at midnight, 160 at noon. */
const waveAt = (atMs: number): number =>
  Math.round(100 - 60 * Math.cos((2 * Math.PI * (atMs % DAY_MS)) / DAY_MS));

/** Five days of quarters of an hour, from a Monday on. */
const START_MS = Date.UTC(2026, 0, 5);
const SAMPLES = Array.from({ length: 5 * 96 }, (_, at) => START_MS + at * 15 * MINUTE_MS);

const METRICS = [{ resource: { name: "cpu" }, target: 50 }];
const advised = podAutoscaler({
  metrics: [{ external: { metric: "lag" }, measure: "Average", target: 10 }],
  scaleDown: { stabilizationWindowSeconds: 0 },
  advice: { forecast: "floor", horizonMinutes: 60, quantile: "p50" },
});

let world: SeriesWorld;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "tidemark-forecast-"));
  const csv = SAMPLES.map((atMs) => `${atMs / 1_000},${waveAt(atMs)}`).join("\n");
  writeFileSync(path("load.csv"), `timestamp,value\n${csv}\n`);
  writeFileSync(
    path("short.csv"),
    `timestamp,value\n${csv.split("\n").slice(0, 150).join("\n")}\n`,
  );
  writeFileSync(path("web.yaml"), JSON.stringify(podAutoscaler({ metrics: METRICS })));
  world = await seriesWorld({ web: 4 }, JSON.stringify(advised));
  // A sync in five minutes, for three days until noon.
  for (let syncs = 0; syncs < 3 * 288; syncs++) {
    world.wait(5 * MINUTE_MS - PERIOD_MS);
    world.milli = BigInt(waveAt(world.nowMs) * 1_000);
    await world.play(1);
  }
}, 120_000);
afterAll(async () => {
  await world.close();
  rmSync(folder, { recursive: true });
});

const never = async (): Promise<never> => {
  throw new Error("opened");
};
const open = async () => ({
  service: world.service,
  ...{
    place: "folder of a test",
    nowMs: world.nowMs,
    clock: () => world.nowMs,
    close: async () => {},
  },
});
const asked = (words: string) =>
  inside(["forecast", "--utc", ...words.split(" ").filter((word) => word !== "")], {
    open: open as unknown as NonNullable<Parameters<typeof inside>[1]>["open"] & object,
  });
const traced = (words = "", trace = "load.csv") =>
  inside(
    [
      ...["forecast", "--utc", "--trace", path(trace), "-f", path("web.yaml")],
      ...["--capacity", "20", ...words.split(" ").filter((word) => word !== "")],
    ],
    { open: never },
  );

describe("tidemark forecast --trace", () => {
  it("prints how good forecasts were, the next hours and a drawing, and opens nothing", async () => {
    const { code, out, err } = await traced();
    expect([code, err]).toEqual([0, ""]);
    expect(out).toContain("load.csv: a forecast from the demand until 2026-01-10T00:00:00Z\n");
    expect(out).toMatch(/^cpu: by (yesterday|Holt-Winters), of use$/m);
    expect(out).toMatch(/^up to 3h +0 % +\d+[.\d]* %$/m);
    expect(out).toMatch(/^The demand stayed below p50 for \d+/m);
    // A pod takes 10 of it at 50 %: 40 units are four pods, and 82 at six are nine.
    expect(out).toMatch(/^2026-01-10T00:00:00Z +4\.\d+ +4\.\d+ +5$/m);
    expect(out).toMatch(/^ +pods +highest \d+/m);
  });

  it("has every step in its document and its lines, in pods at the target", async () => {
    const { metrics } = JSON.parse((await traced("-o json --ahead 12h")).out);
    expect(metrics).toHaveLength(1);
    const [{ steps, ofUse, accuracy }] = metrics;
    expect([steps.length, ofUse]).toEqual([48, true]);
    const last = START_MS + 5 * DAY_MS + 47 * 15 * MINUTE_MS;
    expect(steps.at(-1)).toMatchObject({ at: "2026-01-10T11:45:00.000Z" });
    expect(steps.at(-1).p50).toBeCloseTo(waveAt(last) / 10, 0);
    expect(accuracy[3].lastValue).toBeGreaterThan(accuracy[0].lastValue);
    const { out } = await traced("-o csv");
    expect(out.split("\n")[0]).toBe("at,metric,p50,p75,p90,p95,pods");
    expect(out.trim().split("\n")).toHaveLength(1 + 24);
  });

  it("says of a short load why it has no forecast", async () => {
    const { code, out } = await traced("", "short.csv");
    expect(code).toBe(0);
    expect(out).toContain("cpu: no forecast, because of its demand less than two days are known\n");
  });

  it.each([
    ["--ahead 13h", "Cannot forecast 13h ahead: a forecast reaches 12h"],
    ["--quantile p99", 'Cannot read --quantile "p99": give one of p50, p75, p90, p95'],
    ["web", 'Cannot forecast "web" and --trace'],
  ])("refuses %s", async (words, message) => {
    const { code, err } = await traced(words);
    expect(code).not.toBe(0);
    expect(err).toContain(message);
  });

  it("refuses a load without the manifest that says what a pod takes", async () => {
    const { err } = await inside(["forecast", "--trace", path("load.csv")], { open: never });
    expect(err).toContain("Cannot forecast a load alone");
  });
});

describe("tidemark forecast NAME", () => {
  it("forecasts from the history of the autoscaler", async () => {
    const { out, code } = await asked("web -o json");
    expect(code).toBe(0);
    const { of, from, quantile, metrics } = JSON.parse(out);
    expect([of, from, quantile]).toEqual(["eu-1/shop/web", "2026-03-04T12:00:00.000Z", "p50"]);
    const [{ metric, ofUse, steps }] = metrics;
    expect([metric, ofUse]).toEqual(["lag", true]);
    expect(steps[0].p50).toBeCloseTo(waveAt(world.nowMs) / 10, 0);
    expect(steps[23].p50).toBeCloseTo(waveAt(world.nowMs + 6 * HOUR_MS) / 10, 0);
  });

  it("prints a sheet", async () => {
    const { out } = await asked("web --ahead 2h");
    expect(out).toContain("eu-1/shop/web: a forecast from the demand until 2026-03-04T12:00:00Z");
    expect(out).toMatch(/^FROM +P50 +P50 +PODS FOR P50$/m);
  });

  it("refuses what is for a load", async () => {
    const { err } = await asked("web --capacity 20");
    expect(err).toContain("Cannot use --capacity without --trace");
  });
});

describe("an autoscaler with advice", () => {
  it("is replayed with the minimum of then, and another manifest without", async () => {
    const { advice: _taken, ...spec } = advised.spec as typeof advised.spec & { advice: object };
    writeFileSync(path("without.yaml"), JSON.stringify({ ...advised, spec }));
    const words = ["replay", "web", "--since", "1d", "-f", path("without.yaml"), "--anyway"];
    const { out } = await inside([...words, "-o", "json"], {
      open: open as unknown as NonNullable<Parameters<typeof inside>[1]>["open"] & object,
    });
    const { policies, fidelity } = JSON.parse(out);
    expect(Math.abs(fidelity.hoursOff)).toBeLessThan(0.05);
    expect(policies[1].replicaHours).toBeLessThan(policies[0].replicaHours);
    expect(policies[1].aboveTarget).toBeGreaterThan(policies[0].aboveTarget);
  });

  it("was held at the forecast before the load came, and explain says by which demand", async () => {
    const events = await Array.fromAsync(world.service.events({ name: "web" }));
    const raised = events.filter(({ reason }) => reason === "ForecastMinimum");
    expect(raised.length).toBeGreaterThan(5);
    for (const { message } of raised)
      expect(message).toMatch(/minReplicas is \d+ by the forecast: p50 of lag at 2026-03-0[34]T/);
    const { out } = await inside(["explain", "web"], {
      open: open as unknown as NonNullable<Parameters<typeof inside>[1]>["open"] & object,
    });
    expect(out).toMatch(/by the forecast: p50 of lag at/);
  });
});
