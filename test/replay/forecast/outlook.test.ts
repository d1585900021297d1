import { describe, expect, it } from "vitest";
import { forecastBy, outlooksOf, playedOutlooks } from "../../../lib/replay/forecast/outlook.ts";
import { ReplayedForecasts } from "../../../lib/replay/forecast/replayed.ts";
import { figuresOf } from "../../../lib/replay/figures.ts";
import { stepSeries } from "../../../lib/replay/series.ts";
import { METRICS_FORECAST_MAX } from "../../../lib/rules/model/forecast.ts";
import type { Sample } from "../../../lib/rules/model/scale-records.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../../lib/rules/model/time-text.ts";
import { specOf } from "../../policy/spec-of.ts";
import { played, podAutoscaler, policyOf, START_MS, tracedOf } from "../world.ts";

const BIN_MS = 5 * MINUTE_MS;
/** Jobs of a day: 30 at midnight, 170 at noon. */
const jobsAt = (atMs: number): number =>
  Math.round(100 - 70 * Math.cos((2 * Math.PI * (atMs % DAY_MS)) / DAY_MS));

const external = (name: string) => ({
  ...{ name, external: { metric: name }, measure: "Average", target: 10 },
});
const ADVICE = { advice: { forecast: "floor", horizonMinutes: 30, quantile: "p90" } };

/** Days of samples in which the count followed the load, so that each pod had about ten jobs. */
const samplesOf = (days: number, measured: (atMs: number, pods: number) => string | undefined) =>
  Array.from({ length: (days * DAY_MS) / BIN_MS }, (_, bin): Sample => {
    const atMs = START_MS + bin * BIN_MS;
    const pods = Math.ceil(jobsAt(atMs) / 10);
    const value = measured(atMs, pods);
    return {
      ...{ atMs, current: pods, ready: pods, reason: "WithinTarget" },
      metrics: [{ name: "jobs", ...(value !== undefined && { value }) }],
    };
  });

const outlookOf = (metrics: readonly object[], samples: readonly Sample[], days = 5) =>
  outlooksOf({
    ...{ spec: specOf(podAutoscaler({ metrics })), namespace: "shop", samples },
    ...{ periodMs: BIN_MS, untilMs: START_MS + days * DAY_MS },
  });

describe("outlooksOf()", () => {
  it("forecasts the demand, and not the value that fell as pods were added", () => {
    const shared = (atMs: number, pods: number) => String(jobsAt(atMs) / pods);
    const [outlook] = outlookOf([external("jobs")], samplesOf(5, shared));
    expect(outlook).toMatchObject({ perPod: 10_000 });
    expect(outlook?.why).toBeUndefined();
    expect(outlook?.expected?.points[24]).toBeCloseTo(jobsAt(6 * HOUR_MS) * 1_000, -4);
  });

  it("leaves a silence unknown, and puts nothing in its place", () => {
    const quiet = samplesOf(5, (atMs, pods) => String(jobsAt(atMs) / pods)).filter(
      ({ atMs }) => atMs < START_MS + 2 * DAY_MS || atMs >= START_MS + 2.25 * DAY_MS,
    );
    const [outlook] = outlookOf([external("jobs")], quiet);
    const unknown = outlook?.past?.values.reduce(
      (sum, value) => sum + (Number.isNaN(value) ? 1 : 0),
      0,
    );
    expect(unknown).toBe(24);
  });

  it.each([
    ["a metric that was never measured", external("other"), "too short"],
    ["a delay", external("latency_seconds"), "not from demand"],
    ["memory", { resource: { name: "memory" }, target: 50 }, "not from demand"],
    [
      "what waits in a queue",
      { sqs: { source: "aws", queue: "orders" }, target: 100, measure: "Average" },
      "not from demand",
    ],
  ])("has no forecast of %s, and says why", (_what, metric, why) => {
    const [outlook] = outlookOf(
      [metric],
      samplesOf(5, (atMs) => String(jobsAt(atMs))),
    );
    expect([outlook?.expected, outlook?.why]).toEqual([undefined, why]);
  });

  it("forecasts the first eight metrics of a manifest, however many it has", () => {
    const metrics = Array.from({ length: METRICS_FORECAST_MAX + 3 }, (_, at) =>
      external(`jobs-${at}`),
    );
    const samples = samplesOf(5, (atMs) => String(jobsAt(atMs)));
    const why = outlookOf(metrics, samples).map((outlook) => outlook.why);
    expect(why.slice(METRICS_FORECAST_MAX)).toEqual(Array(3).fill("too many metrics"));
    expect(why.slice(0, METRICS_FORECAST_MAX)).toEqual(
      Array(METRICS_FORECAST_MAX).fill("too short"),
    );
  });
});

/** Six days of CPU: 100 units are one core, and a pod asks for one. */
const LOAD = stepSeries(
  Array.from({ length: 6 * 96 }, (_, at): readonly [number, number] => {
    const atMs = START_MS + at * 15 * MINUTE_MS;
    return [atMs, jobsAt(atMs) * 6];
  }),
  START_MS + 6 * DAY_MS,
);
const CPU = [{ resource: { name: "cpu" }, target: 50 }];
const advised = podAutoscaler({ metrics: CPU, ...ADVICE });

describe("a forecast in a replay", () => {
  const traced = tracedOf(LOAD);
  const [{ metrics }] = policyOf(advised, traced).specs;
  const pods = { requests: { cpu: 1_000n }, limits: { cpu: 2_000n } };

  it("is in the units of the target: half a core of CPU is 50 percent of one pod", () => {
    const [outlook] = playedOutlooks(metrics, { pods, untilMs: LOAD.endMs });
    // 180 units at midnight are 180 percent of a pod, of which a pod may have 50.
    expect(outlook).toMatchObject({ perPod: 50 });
    expect(outlook?.expected?.points[0]).toBeCloseTo(180, -1);
  });

  it("knows nothing of what comes after it was made", () => {
    const cut = stepSeries(
      [...LOAD.times].map((atMs, at): readonly [number, number] => [
        atMs,
        atMs < START_MS + 4 * DAY_MS ? (LOAD.values[at] ?? 0) : 9_999,
      ]),
      LOAD.endMs,
    );
    const at = (load: typeof LOAD) => {
      const [{ metrics: own }] = policyOf(advised, tracedOf(load)).specs;
      const forecasts = new ReplayedForecasts(own, { namespace: "shop", pods });
      return forecasts.at(START_MS + 4 * DAY_MS + 10 * MINUTE_MS);
    };
    expect(at(cut)).toEqual(at(LOAD));
    expect(at(LOAD)).toMatchObject({ fromMs: START_MS + 4 * DAY_MS, without: [] });
  });

  it("is made every six hours, ten minutes later", () => {
    const forecasts = new ReplayedForecasts(metrics, { namespace: "shop", pods });
    const made = (ms: number): number => forecasts.at(START_MS + ms).fromMs - START_MS;
    expect(made(4 * DAY_MS + 6 * HOUR_MS + 9 * MINUTE_MS)).toBe(4 * DAY_MS);
    expect(made(4 * DAY_MS + 6 * HOUR_MS + 10 * MINUTE_MS)).toBe(4 * DAY_MS + 6 * HOUR_MS);
  });

  it("lowers the time above target, and costs replica-hours", () => {
    // Five pods at most, and one day that is counted.
    const untilMs = START_MS + 4 * DAY_MS;
    const small = stepSeries(
      [...LOAD.times].map((atMs, at) => [atMs, (LOAD.values[at] ?? 0) / 4] as const),
      untilMs,
    );
    const span = { fromMs: START_MS + 3 * DAY_MS, untilMs };
    const figures = (manifest: object) => figuresOf(played(manifest, small), span);
    const [without, with_] = [figures(podAutoscaler({ metrics: CPU })), figures(advised)];
    expect(without.aboveTarget).toBeGreaterThan(0.02);
    expect(with_.aboveTarget).toBeLessThan(without.aboveTarget / 2);
    expect(with_.replicaHours).toBeGreaterThan(without.replicaHours);
    expect(with_.replicaHours).toBeLessThan(without.replicaHours * 1.2);
  });

  it("is nothing where the history is of no use", () => {
    const { demands, without } = forecastBy(
      playedOutlooks(metrics, { pods, untilMs: START_MS + DAY_MS }),
      { namespace: "shop", fromMs: START_MS + DAY_MS },
    );
    expect([demands, without]).toEqual([[], [{ metric: "cpu", why: "too short" }]]);
  });
});
