import { describe, expect, it } from "vitest";
import { admitOrThrow } from "../../lib/rules/manifest/admit.ts";
import type { Sample } from "../../lib/rules/model/scale-records.ts";
import { HOUR_MS } from "../../lib/rules/model/time-text.ts";
import { cutOffSeries, hasBursts, type Recorded } from "../../lib/replay/recorded.ts";
import { drawer } from "../../lib/embedded/cluster/definition.ts";
import { hpa, START_MS } from "./world.ts";

const SCRAPE_SECONDS = 15;
const UNIT = 1_000_000;
const { spec } = admitOrThrow({ where: "test", document: hpa() });

/** What is asked of a pod in each second, in percent of its request; it uses no more than 120. */
type Demand = (second: number) => number;

/** An hour of three pods: a sample where the use differs from the one before, and each minute. */
const recordedOf = (demand: Demand, periodMs = 15_000): Recorded => {
  const samples: Sample[] = [];
  for (let second = SCRAPE_SECONDS; second <= 3_600; second += periodMs / 1_000) {
    let used = 0;
    for (let one = second - SCRAPE_SECONDS; one < second; one++)
      used += Math.min(120, demand(one)) / SCRAPE_SECONDS;
    const value = `${Math.floor(used)}%`;
    const before = samples.at(-1);
    const atMs = START_MS + second * 1_000;
    const isNew = before?.metrics[0]?.value !== value || atMs - before.atMs >= 60_000;
    if (isNew)
      samples.push({
        ...{ atMs, current: 3, ready: 3, counted: 3, min: 1, max: 20, reason: "" },
        metrics: [{ name: "cpu", value, target: "50%", ratio: used / 50 }],
      });
  }
  return {
    ...{ samples, scales: [], calendars: [], periodMs, untilMs: START_MS + HOUR_MS },
    specs: [{ fromMs: START_MS, spec }],
  };
};

/** The share of the hour that is marked. */
const markedIn = (recorded: Recorded): number => {
  const { times, values } = cutOffSeries(recorded);
  let markedMs = 0;
  for (const [at, fromMs] of times.entries())
    if (values[at] === 1) markedMs += (times[at + 1] ?? recorded.untilMs) - fromMs;
  return markedMs / HOUR_MS;
};

const minuteOf = (second: number): number => Math.floor(second / 60);
/** From 0 to 1, the same for the same words. */
const share = (...of: readonly (string | number)[]): number => drawer(1, ...of)(0, UNIT) / UNIT;
/** Long quiet and short bursts: most of what is asked for comes in one second of ten. */
const bursts =
  (high: number): Demand =>
  (second) =>
    share("burst", second) < 0.1 ? -high * Math.log(share("high", second) || 1e-6) : 1;

describe("demand that bursts within a scrape cut off", () => {
  it("is marked, though the mean of no scrape is at all that a pod asks for", () => {
    const recorded = recordedOf(bursts(200));
    const highest = Math.max(
      ...recorded.samples.map(({ metrics }) => Number.parseInt(metrics[0]?.value ?? "", 10)),
    );
    expect(highest).toBeLessThan(100);
    expect(markedIn(recorded)).toBeGreaterThan(0.3);
    expect(hasBursts(recorded)).toBe(true);
  });

  it("is not marked where the bursts stay far below what a pod asks for", () => {
    const recorded = recordedOf(bursts(10));
    expect(markedIn(recorded)).toBe(0);
    expect(hasBursts(recorded)).toBe(false);
  });

  it.each<[string, Demand]>([
    ["noise of each minute", (second) => 20 + 60 * share("noise", minuteOf(second))],
    [
      "noise of minutes that begin between scrapes",
      (s) => 20 + 60 * share("noise", minuteOf(s + 7)),
    ],
    ["a minute on and a minute off, between scrapes", (s) => (minuteOf(s + 7) % 2 === 0 ? 70 : 2)],
    ["a minute on and a minute off", (second) => (minuteOf(second) % 2 === 0 ? 70 : 2)],
    ["steps of five minutes", (second) => 10 + 70 * share("step", Math.floor(second / 300))],
    ["a slow wave", (second) => 45 + 40 * Math.sin(second / 300)],
    ["small noise of each second", (second) => 55 + 20 * (share("small", second) - 0.5)],
    ["an idle pod", (second) => 1 + share("idle", Math.floor(second / 15))],
  ])("is not marked for %s", (_, demand) => {
    expect(markedIn(recordedOf(demand))).toBe(0);
  });

  it("is not looked for where syncs are rarer than scrapes: minutes differ for other reasons", () => {
    const everyMinute: Demand = (second) => 20 + 60 * share("noise", minuteOf(second));
    expect(markedIn(recordedOf(everyMinute, 60_000))).toBe(0);
  });
});
