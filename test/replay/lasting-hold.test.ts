import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { stepSeries } from "../../lib/replay/series.ts";
import { SECOND_MS } from "../../lib/rules/model/time-text.ts";
import { runs } from "../runs.ts";
import { hpa, played, podAutoscaler, START_MS } from "./world.ts";

const seconds = (most: number) => fc.integer({ min: 0, max: most });
const given = <Value>(value: fc.Arbitrary<Value>) => fc.option(value, { nil: undefined });

const utilization = fc.integer({ min: 20, max: 90 }).map((averageUtilization) => ({
  type: "Resource",
  resource: { name: "cpu", target: { type: "Utilization", averageUtilization } },
}));
const external = fc.integer({ min: 10, max: 80 }).map((averageValue) => ({
  type: "External",
  external: {
    metric: { name: "load" },
    target: { type: "AverageValue", averageValue: `${averageValue}` },
  },
}));
const pods = fc.integer({ min: 10, max: 80 }).map((averageValue) => ({
  type: "Pods",
  pods: {
    metric: { name: "load" },
    target: { type: "AverageValue", averageValue: `${averageValue}` },
  },
}));
const policies = fc.array(
  fc.record({
    type: fc.constantFrom("Pods", "Percent"),
    value: fc.integer({ min: 1, max: 100 }),
    periodSeconds: fc.constantFrom(15, 60, 300),
  }),
  { minLength: 1, maxLength: 2 },
);
const bounds = { minReplicas: fc.integer({ min: 1, max: 4 }), maxReplicas: fc.constantFrom(6, 15) };

const hpaManifest = fc
  .record({
    ...bounds,
    metrics: fc.array(fc.oneof(utilization, external, pods), { minLength: 1, maxLength: 2 }),
    behavior: given(
      fc.record({
        scaleUp: fc.record({ stabilizationWindowSeconds: seconds(180), policies }),
        scaleDown: fc.record({ stabilizationWindowSeconds: seconds(600), policies }),
      }),
    ),
  })
  .map(({ behavior, ...spec }) => hpa({ ...spec, ...(behavior && { behavior }) }));

const direction = fc.record({
  stabilizationWindowSeconds: seconds(600),
  sustainSeconds: fc.constantFrom(0, 30, 90, 300),
  stepMinimum: fc.constantFrom(1, 2),
  replicaModulo: fc.constantFrom(1, 2),
  forbiddenAfterEventSeconds: fc.constantFrom(0, 120, 600),
  policies,
});
const podAutoscalerManifest = fc
  .record({
    ...bounds,
    band: fc.oneof(
      fc.record({
        target: fc.integer({ min: 20, max: 90 }),
        tolerance: fc.record({
          up: fc.constantFrom("0", "0.1"),
          down: fc.constantFrom("0", "0.3"),
        }),
      }),
      fc.integer({ min: 20, max: 60 }).map((low) => ({ watermarks: { low, high: low + 20 } })),
    ),
    scaleUp: direction,
    scaleDown: direction,
    flapBudget: given(fc.constant({ reversals: 1, periodSeconds: 600 })),
    schedule: given(
      fc.constant([
        { name: "early", timeZone: "Etc/UTC", from: "00:20", to: "00:40", minReplicas: 5 },
      ]),
    ),
  })
  .map(({ band, flapBudget, schedule, ...spec }) =>
    podAutoscaler({
      ...spec,
      metrics: [{ resource: { name: "cpu" }, ...band }],
      ...(flapBudget && { flapBudget }),
      ...(schedule && { schedule }),
    }),
  );

/** Loads that stay for some seconds each, and of which some are not known. */
const loads = fc
  .array(
    fc.record({
      forSeconds: fc.integer({ min: 1, max: 400 }),
      value: fc.oneof(
        { weight: 9, arbitrary: fc.integer({ min: 0, max: 900 }) },
        { weight: 1, arbitrary: fc.constant(Number.NaN) },
      ),
    }),
    { minLength: 5, maxLength: 15 },
  )
  .map((parts) => {
    let atMs = START_MS;
    const steps = parts.map(({ forSeconds, value }) => {
      const step = [atMs, value] as const;
      atMs += forSeconds * SECOND_MS;
      return step;
    });
    return stepSeries(steps, atMs);
  });

describe("a hold that lasts", () => {
  it("is always what deciding in every sync comes to, minute by minute", () => {
    fc.assert(
      fc.property(
        fc.oneof(hpaManifest, podAutoscalerManifest),
        loads,
        fc.record({
          startMs: fc.constantFrom(0, 7_000, 30_000, 400_000),
          startsMs: fc.constantFrom(undefined, [5_000, 40_000], [1_000, 20_000, 21_000, 90_000]),
          periodMs: fc.constantFrom(5_000, 15_000, 20_000, 60_000),
          initialReplicas: fc.integer({ min: 1, max: 8 }),
          at: fc.option(fc.constant("once" as const), { nil: undefined }),
        }),
        (manifest, load, { at, startsMs, ...more }) => {
          const how = { ...more, ...(at && { at }), ...(startsMs && { startsMs }) };
          const lasting = played(manifest, load, how);
          expect(lasting).toEqual(played(manifest, load, { ...how, everySync: true }));
        },
      ),
      runs(50),
    );
  });
});
