import { describe, expect, it } from "vitest";
import { NEW_WINDOWS, type Windows } from "../../../lib/rules/model/windows.ts";
import { NOON } from "../../noon.ts";
import { counts, LOAD, native, scaledBefore, sync } from "./world.ts";

const HPA = native({
  rules: "hpa",
  hpa: {
    metrics: [
      {
        type: "External",
        external: {
          metric: { name: "load" },
          target: { type: "AverageValue", averageValue: "10" },
        },
      },
    ],
    behavior: { scaleDown: { stabilizationWindowSeconds: 60 } },
  },
});
const WATERMARK = native({
  rules: "watermark",
  watermark: {
    metrics: [
      {
        type: "External",
        external: { metricName: "load", metricSelector: {}, highWatermark: 10, lowWatermark: 5 },
      },
    ],
  },
});

/** The count that a spec gives at noon plus seconds, on the windows of another one. */
const later = (
  spec: ReturnType<typeof native>,
  windows: Windows,
  load: number,
  seconds: number,
  replicas = 9,
) => sync(spec, { replicas, values: { load }, windows, nowMs: NOON + seconds * 1000 });

describe("an autoscaler edited from other rules to native", () => {
  it("keeps the recommendations that its stabilization looks at", () => {
    const { windows } = later(HPA, NEW_WINDOWS, 90, 0);
    const spec = native({ scaleDown: { stabilizationWindowSeconds: 60 } });
    expect([later(spec, windows, 20, 59).count, later(spec, windows, 20, 60).count]).toEqual([
      9, 2,
    ]);
  });

  it("keeps the scale events that its policies and flap budget count", () => {
    const policies = [{ type: "Pods", value: 4, periodSeconds: 60 }];
    expect(
      later(native({ scaleUp: { policies } }), scaledBefore(HPA, 10, 6, 9), 400, 0).count,
    ).toBe(10);
    const flapping = scaledBefore(
      HPA,
      4,
      2,
      9,
      scaledBefore(HPA, 8, 9, 2, scaledBefore(HPA, 12, 2, 9)),
    );
    expect(
      later(native({ flapBudget: { reversals: 2, periodSeconds: 600 } }), flapping, 20, 0).decision
        .because.reason,
    ).toBe("FlapBudget");
  });

  it("keeps the last scale that its forbidden windows look at", () => {
    const spec = native({ scaleDown: { forbiddenAfterEventSeconds: 60 } });
    for (const before of [HPA, WATERMARK]) {
      const windows = scaledBefore(before, 0, 4, 9);
      expect([later(spec, windows, 20, 59).count, later(spec, windows, 20, 60).count]).toEqual([
        9, 2,
      ]);
    }
  });

  it("has no scale events of a watermark for its policies", () =>
    expect(
      later(
        native({ scaleUp: { policies: [{ type: "Pods", value: 4, periodSeconds: 60 }] } }),
        scaledBefore(WATERMARK, 10, 6, 9),
        400,
        0,
      ).count,
    ).toBe(13));
});

describe("an autoscaler edited away from native and back", () => {
  const spec = native({ scaleUp: { sustainSeconds: 60 } });

  it("does not take a breach of long ago for one that lasted", () => {
    const breached = later(spec, NEW_WINDOWS, 900, 0);
    const between = later(WATERMARK, breached.windows, 70, 30);
    expect(between.windows.status.conditions.map(({ type }) => type)).not.toContain("BreachAbove");
    expect(later(spec, between.windows, 900, 90).count).toBe(9);
  });
});

describe("an autoscaler edited away from rules that record recommendations and back", () => {
  const ORIGINAL = native({ rules: "hpa", hpa: { cpuUtilization: { targetPercentage: 50 } } });

  it.each([
    ["watermark", WATERMARK],
    ["the first design", ORIGINAL],
  ])("stabilizes from the current count after %s, and never falls at once", (_, between) => {
    const before = later(HPA, NEW_WINDOWS, 90, 0);
    const forgotten = later(between, before.windows, 70, 30);
    expect(forgotten.windows.memory.recommendations).toBeNull();
    const back = later(HPA, forgotten.windows, 20, 600);
    const held = later(HPA, back.windows, 20, 659);
    expect([back.count, held.count, later(HPA, held.windows, 20, 660).count]).toEqual([9, 9, 2]);
  });
});

describe("an autoscaler that was not looked at for a while", () => {
  it("begins a breach anew after more than three lost syncs, not before", () => {
    const spec = native({ scaleUp: { sustainSeconds: 60 }, metrics: [LOAD] });
    const load = { load: 90 };
    expect(
      counts(spec, 5, [
        [0, load],
        [15, load],
        [30, load],
        [75, load],
      ]),
    ).toEqual([5, 5, 5, 9]);
    expect(
      counts(spec, 5, [
        [0, load],
        [15, load],
        [30, load],
        [76, load],
        [135, load],
        [136, load],
      ]),
    ).toEqual([5, 5, 5, 5, 5, 9]);
  });
});

describe("an autoscaler whose idle count is taken out of its spec", () => {
  const rests = native({
    minReplicas: 2,
    idle: { afterSeconds: 0 },
    metrics: [{ ...LOAD, activation: 0 }],
  });
  const plain = native({ minReplicas: 2, metrics: [LOAD] });

  it("ends the rest that it made, and keeps a 0 that others make later", () => {
    const atRest = later(rests, NEW_WINDOWS, 0, 0);
    expect(atRest.count).toBe(0);
    const awake = later(plain, atRest.windows, 0, 15, 0);
    expect(awake).toMatchObject({
      count: 2,
      decision: { because: { reason: "BelowMinReplicas" } },
    });
    const seen = later(plain, awake.windows, 0, 30, 2);
    const stopped = later(plain, seen.windows, 90, 45, 0);
    expect(stopped).toMatchObject({
      count: 0,
      decision: { because: { reason: "ScalingDisabled" } },
    });
  });
});
