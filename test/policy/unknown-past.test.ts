import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { admitOrThrow } from "../../lib/rules/manifest/admit.ts";
import type { AutoscalerSpec } from "../../lib/rules/model/spec.ts";
import { NEW_WINDOWS, type Windows } from "../../lib/rules/model/windows.ts";
import { MAX_ASSUMED_CHANGE, withUnknownPast } from "../../lib/rules/policy/unknown-past.ts";
import { NOON } from "../noon.ts";
import { loadManifest } from "./loop.ts";
import { native, sync } from "./native/world.ts";
import { sync as syncWatermark } from "./watermark/world.ts";

const admitted = (document: unknown): AutoscalerSpec =>
  admitOrThrow({ document, where: "the manifest" }).spec;
const forgotten = (
  spec: AutoscalerSpec,
  windows: Windows = NEW_WINDOWS,
  restsAtZero = false,
): Windows => withUnknownPast(windows, { spec, nowMs: NOON, eventId: "reset", restsAtZero });

/**
 * The count after each sync at these seconds from noon, when the load asks for this many replicas
 * all the time.
 */
const countsAfter = (
  spec: AutoscalerSpec,
  replicas: number,
  wanted: number,
  seconds: readonly number[],
  from = forgotten(spec),
): readonly number[] => {
  let state = { count: replicas, windows: from };
  return seconds.map((second) => {
    const seen = { replicas: state.count, windows: state.windows, nowMs: NOON + second * 1000 };
    state =
      spec.dialect === "watermark"
        ? syncWatermark(spec, { ...seen, milli: BigInt(wanted) * 1000n })
        : sync(spec, { ...seen, values: { load: wanted } });
    return state.count;
  });
};

const rule = (more: object = {}) => ({
  stabilizationWindowSeconds: 0,
  policies: [{ type: "Pods", value: 1000, periodSeconds: 60 }],
  ...more,
});
const behavior = (more: object = {}) => ({
  behavior: { scaleUp: rule(more), scaleDown: rule(more) },
});
const watermark = (spec: object = {}): unknown => ({
  apiVersion: "datadoghq.com/v1alpha1",
  kind: "WatermarkPodAutoscaler",
  metadata: { name: "web", namespace: "shop" },
  spec: {
    scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "web" },
    minReplicas: 1,
    maxReplicas: 100,
    algorithm: "average",
    scaleUpLimitFactor: 100,
    scaleDownLimitFactor: 90,
    upscaleForbiddenWindowSeconds: 60,
    downscaleForbiddenWindowSeconds: 120,
    metrics: [
      {
        type: "External",
        external: { metricName: "load", highWatermark: "1", lowWatermark: "1", metricSelector: {} },
      },
    ],
    ...spec,
  },
});

describe("withUnknownPast() holds a workload as long as its own windows are, and no longer:", () => {
  const one = (spec: object) =>
    native({
      metrics: [
        {
          external: { metric: "load" },
          measure: "Average",
          target: 1,
          tolerance: { up: "0", down: "0" },
        },
      ],
      ...spec,
    });

  it.each([
    ["an HPA's rate upwards", admitted(loadManifest(behavior())), 9, [0, 59.999, 60], [5, 5, 9]],
    ["an HPA's rate downwards", admitted(loadManifest(behavior())), 2, [0, 59.999, 60], [5, 5, 2]],
    [
      "an HPA's stabilization upwards",
      admitted(loadManifest(behavior({ stabilizationWindowSeconds: 300 }))),
      9,
      [0, 150, 299, 300],
      [5, 5, 5, 9],
    ],
    [
      "an HPA's stabilization downwards",
      admitted(loadManifest(behavior({ stabilizationWindowSeconds: 300 }))),
      2,
      [0, 150, 299, 300],
      [5, 5, 5, 2],
    ],
    [
      "an HPA's stabilization without behavior",
      admitted(loadManifest({})),
      2,
      [0, 150, 300, 301],
      [5, 5, 5, 2],
    ],
    ["a forbidden window upwards", admitted(watermark()), 9, [0, 59, 61], [5, 5, 9]],
    ["a forbidden window downwards", admitted(watermark()), 2, [0, 119, 121], [5, 5, 2]],
    ["native rates upwards", one({ scaleUp: rule() }), 9, [0, 59.999, 60], [5, 5, 9]],
    ["native rates downwards", one({ scaleDown: rule() }), 2, [0, 59.999, 60], [5, 5, 2]],
    [
      "native stabilization upwards",
      one({ scaleUp: { stabilizationWindowSeconds: 300 } }),
      9,
      [0, 150, 299, 300],
      [5, 5, 5, 9],
    ],
    [
      "native stabilization downwards",
      one({ scaleDown: { stabilizationWindowSeconds: 300 } }),
      2,
      [0, 150, 299, 300],
      [5, 5, 5, 2],
    ],
    [
      "a native forbidden window",
      one({ scaleUp: { forbiddenAfterEventSeconds: 90 } }),
      9,
      [0, 89, 90],
      [5, 5, 9],
    ],
    [
      "a native flap budget",
      one({ flapBudget: { reversals: 4, periodSeconds: 600 } }),
      2,
      [0, 300, 599, 600],
      [5, 5, 5, 2],
    ],
  ] as const)("%s", (_name, spec, wanted, seconds, counts) => {
    expect(countsAfter(spec, 5, wanted, seconds)).toEqual(counts);
  });

  it("and begins a breach that has to last anew, though it lasted before", () => {
    const spec = one({ scaleUp: { sustainSeconds: 120 } });
    const seen = sync(spec, { replicas: 5, values: { load: 9 }, nowMs: NOON - 100_000 }).windows;
    expect(countsAfter(spec, 5, 9, [30, 60, 90, 120, 149], forgotten(spec, seen))).toEqual([
      5, 5, 5, 5, 5,
    ]);
    expect(countsAfter(spec, 5, 9, [30, 60, 90, 120, 150], forgotten(spec, seen))).toEqual([
      5, 5, 5, 5, 9,
    ]);
  });
});

describe("withUnknownPast()", () => {
  it("never lets a count move before the longest window is over, in either direction", () => {
    const rates = fc.record({
      stabilizationWindowSeconds: fc.integer({ min: 0, max: 600 }),
      policies: fc.array(
        fc.record({
          type: fc.constantFrom("Pods", "Percent"),
          value: fc.integer({ min: 1, max: 90 }),
          periodSeconds: fc.integer({ min: 60, max: 600 }),
        }),
        { minLength: 1, maxLength: 3 },
      ),
    });
    fc.assert(
      fc.property(
        fc.record({ scaleUp: rates, scaleDown: rates }),
        fc.integer({ min: 1, max: 500 }),
        fc.integer({ min: 1, max: 500 }),
        (rules, from, wanted) => {
          const spec = admitted(loadManifest({ behavior: rules }));
          const shortest = (policies: readonly { readonly periodSeconds: number }[]) =>
            Math.min(...policies.map(({ periodSeconds }) => periodSeconds));
          const { policies } = wanted > from ? rules.scaleUp : rules.scaleDown;
          expect(countsAfter(spec, from, wanted, [0, shortest(policies) - 1])).toEqual([
            from,
            from,
          ]);
        },
      ),
    );
  });

  it("goes back inside min and max all the same", () => {
    expect(
      countsAfter(admitted(loadManifest({ ...behavior(), minReplicas: 4 })), 2, 2, [0]),
    ).toEqual([4]);
  });

  it("keeps scales that are known, and takes the place of an earlier unknown past, so that all of them count in 32 bits", () => {
    const spec = admitted(loadManifest(behavior()));
    const scale = { change: 3, atMs: NOON - 1_000, eventId: "web:7" };
    let known: Windows = { ...NEW_WINDOWS, memory: { ...NEW_WINDOWS.memory, scaleUps: [scale] } };
    for (let times = 1; times <= 4; times++) known = forgotten(spec, known);
    expect(known.memory.scaleUps.map(({ change }) => change)).toEqual([3, MAX_ASSUMED_CHANGE]);
    expect(countsAfter(spec, 1000, 2, [0, 59], known)).toEqual([1000, 1000]);
    expect(countsAfter(spec, 2, 1000, [0, 59], known)).toEqual([2, 2]);
  });

  it("leaves a workload at zero asleep only if this autoscaler had put it there", () => {
    const spec = admitted(loadManifest({ minReplicas: 0, ...behavior() }));
    expect(countsAfter(spec, 0, 5, [0, 60])).toEqual([0, 0]);
    expect(countsAfter(spec, 0, 5, [0, 60], forgotten(spec, NEW_WINDOWS, true))).toEqual([0, 5]);
  });

  it("spends a flap budget with turns of no pods, one after the other", () => {
    const spec = native({
      metrics: [{ external: { metric: "load" }, target: 1 }],
      flapBudget: { reversals: 4, periodSeconds: 600 },
    });
    const { scaleUps, scaleDowns } = forgotten(spec).memory;
    const turn = (agoMs: number) => ({ change: 0, atMs: NOON - agoMs, eventId: "reset" });
    const used = { change: MAX_ASSUMED_CHANGE, atMs: NOON, earliestMs: 0, eventId: "reset" };
    expect([scaleUps, scaleDowns]).toStrictEqual([
      [turn(2), used],
      [turn(3), turn(1), used],
    ]);
  });

  it("says nothing of stabilization where the rules are not known, and closes the rest", () => {
    const { memory, status } = withUnknownPast(NEW_WINDOWS, {
      nowMs: NOON,
      eventId: "reset",
      restsAtZero: false,
    });
    const used = { change: MAX_ASSUMED_CHANGE, atMs: NOON, earliestMs: 0, eventId: "reset" };
    expect([memory, status.lastScaleMs]).toEqual([
      { recommendations: null, scaleUps: [used], scaleDowns: [used] },
      NOON,
    ]);
  });
});
