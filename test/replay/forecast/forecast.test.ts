import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { coverageOf, marginsOf } from "../../../lib/replay/forecast/backtest.ts";
import { demandOf } from "../../../lib/replay/forecast/demand.ts";
import { type Expectation, expectedOf } from "../../../lib/replay/forecast/forecast.ts";
import { DAY_STEPS, newForecaster, WEEK_STEPS } from "../../../lib/replay/forecast/methods.ts";
import { stepSeries } from "../../../lib/replay/series.ts";
import {
  expectedAt,
  type ForecastMethod,
  FORECAST_STEP_MS,
  FORECAST_STEPS,
} from "../../../lib/rules/model/forecast.ts";
import { MINUTE_MS } from "../../../lib/rules/model/time-text.ts";
import { demandBy, noise, wave } from "./loads.ts";

const forecastOf = (demand: Parameters<typeof expectedOf>[0]): Expectation => {
  const expected = expectedOf(demand);
  if (expected === "too short") throw new Error("it has no forecast");
  return expected;
};

const isWeekend = (step: number): boolean => Math.floor(step / DAY_STEPS) % 7 >= 5;

describe("newForecaster()", () => {
  const seen = (method: ForecastMethod, values: readonly number[]) => {
    const forecaster = newForecaster(method);
    for (const value of values) forecaster.see(value);
    return forecaster;
  };
  const counted = Array.from({ length: WEEK_STEPS + 3 }, (_, at) => at);

  it("takes the last value for all times, and the last known one over a gap", () => {
    expect(seen("last value", [3, 5]).ahead(1)).toBe(5);
    expect(seen("last value", [3, 5, Number.NaN]).ahead(40)).toBe(5);
  });

  it("takes the same time of yesterday, and of last week", () => {
    const newest = counted.length - 1;
    expect(seen("yesterday", counted).ahead(1)).toBe(newest + 1 - DAY_STEPS);
    expect(seen("yesterday", counted).ahead(48)).toBe(newest + 48 - DAY_STEPS);
    expect(seen("last week", counted).ahead(1)).toBe(newest + 1 - WEEK_STEPS);
  });

  it("takes the day before yesterday where yesterday is not known", () => {
    const values = [
      ...Array<number>(DAY_STEPS).fill(7),
      ...Array<number>(DAY_STEPS).fill(Number.NaN),
    ];
    expect(seen("yesterday", values).ahead(10)).toBe(7);
  });

  it("says nothing of a season that it has not seen", () => {
    expect(seen("yesterday", [1, 2, 3]).ahead(10)).toBeNaN();
    expect(seen("last week", counted.slice(0, DAY_STEPS)).ahead(1)).toBeNaN();
    expect(seen("Holt-Winters", counted.slice(0, DAY_STEPS - 1)).ahead(1)).toBeNaN();
  });

  it("draws a day on by Holt-Winters, and follows a level that moves", () => {
    const days = demandBy(3, wave).values;
    const forecaster = seen("Holt-Winters", [...days]);
    for (const lead of [1, 20, 48])
      expect(forecaster.ahead(lead)).toBeCloseTo(wave(days.length - 1 + lead), 6);
    const higher = demandBy(9, (step) => wave(step) + (step >= 3 * DAY_STEPS ? 50 : 0)).values;
    const after = seen("Holt-Winters", [...higher]);
    expect(after.ahead(48)).toBeCloseTo(wave(higher.length - 1 + 48) + 50, 0);
  });

  it("is never negative by Holt-Winters, and never worse than unknown after a first day of gaps", () => {
    const falls = seen("Holt-Winters", [...demandBy(3, (step) => Math.max(0, 300 - step)).values]);
    expect(falls.ahead(48)).toBeGreaterThanOrEqual(0);
    const gap = demandBy(3, (step) => (step < DAY_STEPS ? Number.NaN : 40)).values;
    expect(seen("Holt-Winters", [...gap]).ahead(5)).toBeCloseTo(40, 3);
  });
});

describe("demandOf()", () => {
  const minutes = (values: readonly number[]) =>
    stepSeries(
      values.map((value, at) => [at * MINUTE_MS, value]),
      values.length * MINUTE_MS,
    );

  it("is the mean of a quarter of an hour, and unknown where less than half of it is known", () => {
    const known = Array<number>(15).fill(4);
    const half = [...Array<number>(8).fill(10), ...Array<number>(7).fill(Number.NaN)];
    const less = [...Array<number>(7).fill(10), ...Array<number>(8).fill(Number.NaN)];
    const load = minutes([...known, ...half, ...less, 1, 2]);
    expect([...demandOf(load, load.endMs).values]).toEqual([4, 10, Number.NaN]);
  });

  it("marks a step in which demand was cut off at any time", () => {
    const load = minutes(Array<number>(45).fill(4));
    const cutOff = minutes(Array.from({ length: 45 }, (_, at) => (at === 20 ? 1 : 0)));
    expect([...demandOf(load, load.endMs, cutOff).cutOff]).toEqual([0, 1, 0]);
  });

  it("sees nothing of what comes later", () => {
    const load = minutes([...Array<number>(30).fill(4), ...Array<number>(30).fill(9)]);
    expect([...demandOf(load, 30 * MINUTE_MS).values]).toEqual([4, 4]);
  });

  it("begins at a whole quarter of an hour, whenever the load begins", () => {
    const load = stepSeries([[7 * MINUTE_MS, 6]], 60 * MINUTE_MS);
    expect([...demandOf(load, load.endMs).values]).toEqual([6, 6, 6, 6]);
  });
});

describe("expectedOf()", () => {
  it("knows a day that comes again, and is of use", () => {
    const { method, points, accuracy, why } = forecastOf(demandBy(6, wave));
    expect(why).toBeUndefined();
    expect(["yesterday", "Holt-Winters"]).toContain(method);
    expect(points).toHaveLength(FORECAST_STEPS);
    for (const [at, point] of points.entries()) expect(point).toBeCloseTo(wave(at), 6);
    for (const { error, lastValue } of accuracy) {
      expect(error).toBeCloseTo(0, 6);
      expect(lastValue).toBeGreaterThan(0.05);
    }
  });

  it("takes last week where weekends differ, once it can be judged", () => {
    // The days that are judged are Saturday to Monday.
    const value = (step: number) => (isWeekend(step) ? 10 : wave(step));
    expect(forecastOf(demandBy(22, value)).method).toBe("last week");
    // Last week cannot be judged over three days that have no week before them.
    expect(forecastOf(demandBy(8, value)).method).not.toBe("last week");
  });

  it("follows a level that moved by Holt-Winters, where yesterday is of another level", () => {
    const grows = demandBy(8, (step) => wave(step) + 60 * (step / DAY_STEPS));
    expect(forecastOf(grows)).toMatchObject({ method: "Holt-Winters" });
  });

  it("is of no use for a load without a season: nothing beats the last value", () => {
    const random = noise(7);
    let at = 500;
    const walk = demandBy(8, () => {
      at = Math.max(50, at + 20 * (random() - 0.5));
      return at;
    });
    expect(forecastOf(walk).why).toBe("no use");
    expect(forecastOf(demandBy(8, () => 100)).why).toBe("no use");
    expect(forecastOf(demandBy(8, () => 0)).why).toBe("no use");
  });

  it("is too short below two days that are known", () => {
    expect(expectedOf(demandBy(1.9, wave))).toBe("too short");
    const gaps = demandBy(6, (step) => (step % 4 === 0 ? wave(step) : Number.NaN));
    expect(expectedOf(gaps)).toBe("too short");
    expect(expectedOf(demandBy(0, wave))).toBe("too short");
  });

  it("covers what it says it covers", () => {
    const random = noise(11);
    const noisy = demandBy(10, (step) => wave(step) + 30 * random());
    const { coverage, margins, points } = forecastOf(noisy);
    expect(coverage.p50).toBeGreaterThan(0.35);
    expect(coverage.p50).toBeLessThan(0.65);
    expect(coverage.p90).toBeGreaterThan(0.83);
    expect(coverage.p90).toBeLessThan(0.97);
    expect(coverage.p95).toBeGreaterThan(coverage.p75);
    for (const [at, point] of points.entries())
      expect(expectedAt({ points, margins }, "p90", at)).toBeGreaterThan(point);
  });

  it("is not judged by times in which demand was cut off", () => {
    // Each day between 10:00 and 14:00 an arbitrary number was measured, at the maximum.
    const random = noise(3);
    const isNoon = (step: number) => step % DAY_STEPS >= 40 && step % DAY_STEPS < 56;
    const values = (step: number) => (isNoon(step) ? 1_000 * random() : wave(step));
    const judged = forecastOf(demandBy(6, values));
    const left = forecastOf(demandBy(6, values, isNoon));
    expect(judged.accuracy[0]?.error).toBeGreaterThan(0.2);
    expect(left.accuracy[0]?.error).toBeLessThan(0.1);
  });

  it("is the same each time, and finite, whatever was measured", () => {
    const value = fc.oneof(
      { weight: 5, arbitrary: fc.double({ min: 0, max: 1e9, noNaN: true }) },
      fc.constant(Number.NaN),
      fc.constant(0),
    );
    fc.assert(
      fc.property(fc.array(value, { minLength: 150, maxLength: 500 }), (values) => {
        const demand = demandBy(values.length / DAY_STEPS, (step) => values[step] ?? Number.NaN);
        const expected = expectedOf(demand);
        expect(expectedOf(demand)).toEqual(expected);
        if (expected === "too short") return;
        for (const quantile of ["p50", "p95"] as const)
          for (const at of expected.points.keys())
            expect(expectedAt(expected, quantile, at)).toSatisfy(
              (one: number) => Number.isFinite(one) && one >= 0,
            );
      }),
      { numRuns: 60 },
    );
  });
});

describe("coverageOf()", () => {
  it("judges by the second half what the first half says", () => {
    const small = Array<number>(50).fill(1);
    const large = Array<number>(50).fill(2);
    expect(coverageOf([[...small, ...large], [], [], []]).p90).toBe(0);
    expect(coverageOf([[...large, ...small], [], [], []]).p50).toBe(1);
  });

  it("has margins that rise with the quantile", () => {
    const random = noise(5);
    const { p50, p75, p90, p95 } = marginsOf([Array.from({ length: 200 }, random), [], [], []]);
    expect([p50, p75, p90, p95].map(([first]) => first)).toEqual(
      [p50, p75, p90, p95].map(([first]) => first).toSorted(),
    );
    expect(p90[1]).toBe(0);
  });
});

it("has steps that divide a day", () => {
  expect(DAY_STEPS * FORECAST_STEP_MS).toBe(86_400_000);
});
