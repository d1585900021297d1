import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  type Forecast,
  FORECAST_QUANTILES,
  FORECAST_REACH_MS,
  FORECAST_STEP_MS,
  FORECAST_STEPS,
  LEAD_ENDS,
  type Margins,
} from "../../lib/rules/model/forecast.ts";
import type { OverrideSet, SetByPeople } from "../../lib/rules/model/override.ts";
import { HOUR_MS } from "../../lib/rules/model/time-text.ts";
import { decide, type DecideInput } from "../../lib/rules/policy/decide.ts";
import { levelsOf } from "../../lib/rules/policy/dialects.ts";
import { forecastState } from "../../lib/rules/policy/forecast-floor.ts";
import { measureKey } from "../../lib/rules/policy/shared/measures.ts";
import { NOON } from "../noon.ts";
import { runs } from "../runs.ts";
import { anyDecideInput } from "./arbitraries.ts";
import { override } from "./bounds/schedules.ts";
import { counts, LOAD, native, sync } from "./native/world.ts";

const RUNS = runs(1_500);
const advice = (more: object = {}) => ({ advice: { forecast: "floor", ...more } });

const flat = (margin: number): Margins =>
  Object.fromEntries(
    FORECAST_QUANTILES.map((quantile, at) => [quantile, LEAD_ENDS.map(() => margin * at)]),
  ) as unknown as Margins;

const SPEC = native(advice());
const [LEVEL] = levelsOf(SPEC);
const MEASURES = LEVEL ? measureKey(LEVEL, "shop") : "";

/** A forecast of so many pods of "load" in each step: a pod takes 10 of it, in thousandths. */
const forecastOf = (
  pods: readonly number[],
  more: { readonly fromMs?: number; readonly measures?: string; readonly margin?: number } = {},
): Forecast => ({
  fromMs: more.fromMs ?? NOON,
  demands: [
    {
      metric: "load",
      measures: more.measures ?? MEASURES,
      points: Array.from({ length: FORECAST_STEPS }, (_, at) => 10_000 * (pods[at] ?? 1)),
      margins: flat(more.margin ?? 0),
    },
  ],
  without: [],
});

const stateOf = (forecast: Forecast | undefined, nowMs = NOON, spec = SPEC) =>
  forecastState({ spec, namespace: "shop", forecast, nowMs });

describe("forecastState()", () => {
  it("asks for the pods of the highest demand of the horizon", () => {
    // Steps of 12:00, 12:15, 12:30 and 12:45; the horizon ends at 12:30.
    expect(stateOf(forecastOf([2, 7, 4, 30]))).toEqual({
      kind: "floor",
      replicas: 7,
      quantile: "p90",
      metric: "load",
      atMs: NOON + FORECAST_STEP_MS,
      fromMs: NOON,
    });
    expect(stateOf(forecastOf([2, 7, 4, 30]), NOON + FORECAST_STEP_MS)).toMatchObject({
      replicas: 30,
    });
  });

  it("asks for whole pods, and for no further one where they are exactly enough", () => {
    expect(stateOf(forecastOf([3, 3, 3]))).toMatchObject({ replicas: 3 });
    expect(stateOf(forecastOf([3, 3.01, 3]))).toMatchObject({ replicas: 4 });
  });

  it("takes the quantile of the manifest", () => {
    const forecast = forecastOf([3, 3, 3], { margin: 10_000 });
    const at = (quantile: string) => stateOf(forecast, NOON, native(advice({ quantile })));
    expect(FORECAST_QUANTILES.map(at)).toMatchObject([
      { replicas: 3 },
      { replicas: 4 },
      { replicas: 5 },
      { replicas: 6 },
    ]);
  });

  it("is absent where no forecast is stored, or the newest one is too old", () => {
    const last = NOON + FORECAST_REACH_MS;
    expect(stateOf(undefined)).toEqual({ kind: "absent", why: "not made" });
    expect(stateOf(forecastOf([9]), last - 1)).toMatchObject({ kind: "floor" });
    expect(stateOf(forecastOf([9]), last)).toEqual({ kind: "absent", why: "too old" });
  });

  it("is absent where the forecast is of a metric that reads something else", () => {
    expect(stateOf(forecastOf([9], { measures: "other" }))).toEqual({
      kind: "absent",
      why: "other metric",
    });
    const renamed = native({ metrics: [{ ...LOAD, name: "jobs" }], ...advice() });
    expect(stateOf(forecastOf([9]), NOON, renamed)).toMatchObject({ kind: "absent" });
  });

  it("says why a metric has no forecast", () => {
    const without = [{ metric: "load", why: "no use" }] as const;
    expect(stateOf({ fromMs: NOON, demands: [], without })).toEqual({
      kind: "absent",
      why: "no use",
    });
  });

  it("is nothing where the manifest takes no advice", () => {
    expect(stateOf(forecastOf([9]), NOON, native())).toBeUndefined();
  });

  it("follows a target that was edited since", () => {
    const doubled = native({ metrics: [{ ...LOAD, target: 20 }], ...advice() });
    expect(stateOf(forecastOf([8, 8, 8]), NOON, doubled)).toMatchObject({ replicas: 4 });
  });
});

const OPEN = { minReplicas: 1, maxReplicas: 100, ...advice() };
const synced = (
  spec: Readonly<Record<string, unknown>>,
  replicas: number,
  load: number | undefined,
  forecast: Forecast | undefined,
  set?: OverrideSet,
) => {
  const setByPeople: SetByPeople = {
    overrides: set ? [override("autoscaler", set, { reason: "incident" })] : [],
    calendars: [],
  };
  return sync(native(spec), {
    replicas,
    values: load === undefined ? {} : { load },
    ...(forecast && { forecast }),
    setByPeople,
  });
};

describe("decide() with a forecast", () => {
  it("raises the count to the forecast, and says of which demand", () => {
    const { decision, count } = synced(OPEN, 3, 30, forecastOf([3, 8, 3]));
    expect(count).toBe(8);
    expect(decision.because).toEqual({
      reason: "ForecastMinimum",
      message:
        "no metric asks for another count: minReplicas is 8 by the forecast: p90 of load at 2026-03-01T12:15:00Z",
    });
  });

  it("holds the count at the forecast while the metrics ask for fewer", () => {
    const { decision, count } = synced(OPEN, 8, 30, forecastOf([3, 8, 3]));
    expect(count).toBe(8);
    expect(decision).toMatchObject({ kind: "hold", because: { reason: "ForecastMinimum" } });
  });

  it("lets the metrics go above it", () => {
    expect(synced(OPEN, 3, 120, forecastOf([3, 8, 3])).count).toBe(12);
  });

  it("stays within the maximum, whoever set it", () => {
    expect(synced({ ...OPEN, maxReplicas: 6 }, 3, 30, forecastOf([3, 80, 3])).count).toBe(6);
    expect(synced(OPEN, 3, 30, forecastOf([3, 80, 3]), { max: 5 }).count).toBe(5);
    expect(synced(OPEN, 3, 30, forecastOf([3, 80, 3]), { min: 4, max: 4 }).count).toBe(4);
  });

  it("does nothing while a person holds the autoscaler, or has stopped the workload", () => {
    expect(synced(OPEN, 3, 30, forecastOf([3, 8, 3]), { hold: true }).count).toBe(3);
    expect(synced(OPEN, 0, 0, forecastOf([3, 8, 3])).count).toBe(0);
  });

  it("goes to the forecast while the metric is missing, which can only add pods", () => {
    expect(synced(OPEN, 3, undefined, forecastOf([3, 8, 3])).count).toBe(8);
    expect(synced(OPEN, 9, undefined, forecastOf([3, 8, 3])).count).toBe(9);
  });

  it("delays no later rise: the windows are those of a sync without it", () => {
    const waits = {
      ...OPEN,
      scaleUp: {
        forbiddenAfterEventSeconds: 600,
        policies: [{ type: "Pods", value: 2, periodSeconds: 600 }],
      },
    };
    const first = synced(waits, 3, 30, forecastOf([3, 8, 3]));
    const [after] = counts(native(waits), 3, [[15, { load: 50 }]]);
    const second = sync(native(waits), {
      replicas: first.count,
      values: { load: 100 },
      nowMs: NOON + 15_000,
      windows: first.windows,
      forecast: forecastOf([3, 8, 3]),
    });
    expect(after).toBe(5);
    expect(second.count).toBe(10);
  });

  it("has for any one state at least the count without it, and the same windows", () => {
    const anyForecast = fc
      .record({
        pods: fc.array(fc.double({ min: 0, max: 80, noNaN: true }), { minLength: 6, maxLength: 6 }),
        margin: fc.integer({ min: 0, max: 9_000 }),
        ageHours: fc.integer({ min: 0, max: 14 }),
      })
      .map(({ pods, margin, ageHours }) =>
        forecastOf(
          Array.from({ length: FORECAST_STEPS }, (_, at) => pods[at % 6] ?? 0),
          {
            margin,
            fromMs: NOON - ageHours * HOUR_MS,
          },
        ),
      );
    let raised = 0;
    fc.assert(
      fc.property(anyDecideInput, anyForecast, (drawn, forecast) => {
        const spec = {
          ...drawn.spec,
          advice: { forecast: "floor", horizonMs: HOUR_MS, quantile: "p90" } as const,
        };
        const demands = levelsOf(spec).flatMap((level) =>
          forecast.demands.map((demand) => ({
            ...demand,
            metric: level.name,
            measures: measureKey(level, drawn.namespace),
            points: demand.points.map((point) => point / 100),
          })),
        );
        const input: DecideInput = { ...drawn, spec, forecast: { ...forecast, demands } };
        const [one, other] = [decide(input), decide(drawn)];
        const countOf = (decision: typeof one): number =>
          decision.kind === "scale" ? decision.to : (decision.from ?? 0);
        expect(countOf(one)).toBeGreaterThanOrEqual(countOf(other));
        expect(one.windows.memory).toEqual(other.windows.memory);
        if (countOf(one) > countOf(other)) raised += 1;
      }),
      RUNS,
    );
    // It did raise something: else the property says nothing.
    expect(raised).toBeGreaterThan(100);
  });

  it("is the same decision as without advice where the manifest takes none", () => {
    fc.assert(
      fc.property(anyDecideInput, (input) => {
        expect(decide({ ...input, forecast: forecastOf([50, 50, 50]) })).toEqual(decide(input));
      }),
      runs(300),
    );
  });
});

describe("the advice of a manifest", () => {
  it("has half an hour and p90 where nothing else is said, with any rules", () => {
    const wanted = { forecast: "floor", horizonMs: HOUR_MS / 2, quantile: "p90" };
    expect(native(advice()).advice).toEqual(wanted);
    const hpa = { rules: "hpa", hpa: { metrics: [CPU] }, ...advice() };
    expect(native(hpa)).toMatchObject({ dialect: "hpa", advice: wanted });
  });

  it("is refused with rules that do not go by the metric that needs most", () => {
    expect(() => native({ combine: "Min", ...advice() })).toThrow(/spec\.advice/);
  });

  it("is refused in another form, with the path of the field", () => {
    expect(() => native(advice({ horizonMinutes: 241 }))).toThrow(/spec\.advice\.horizonMinutes/);
    expect(() => native(advice({ quantile: "p99" }))).toThrow(/spec\.advice\.quantile/);
    expect(() => native({ advice: { forecast: "metric" } })).toThrow(/spec\.advice\.forecast/);
    expect(() => native({ advice: {} })).toThrow(/spec\.advice\.forecast/);
  });
});

const CPU = {
  type: "Resource",
  resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 50 } },
};
