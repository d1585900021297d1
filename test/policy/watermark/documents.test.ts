import { describe, expect, it } from "vitest";
import { admit } from "../../../lib/rules/manifest/admit.ts";
import { convertedForm } from "../../../lib/rules/manifest/native/convert.ts";
import { NOON } from "../../noon.ts";
import { specOf } from "../spec-of.ts";
import { at, scaledAt, sync, wpa } from "./world.ts";

const LONG_AGO = scaledAt(NOON - 3_600_000);

describe("the Watermark Pod Autoscaler's own facts (proposals.md §4)", () => {
  it.each([
    ["just under the widened low mark", 134_999n, 5],
    ["on the widened low mark", 135_000n, 6],
    ["between the marks", 300_000n, 6],
    ["on the widened high mark", 440_000n, 6],
    ["just above the widened high mark", 440_001n, 7],
  ])("a value %s", (_, milli, count) =>
    expect(sync(wpa(), { replicas: 6, milli, windows: LONG_AGO }).count).toBe(count),
  );

  it("absolute gives 5 for 6 replicas, the value 127 and marks of 150 and 400", () =>
    expect(sync(wpa(), { replicas: 6, milli: 127_000n, windows: LONG_AGO }).count).toBe(5));

  it("average divides the value by the count first", () =>
    expect(
      sync(wpa({ algorithm: "average" }, { highWatermark: "40", lowWatermark: "20" }), {
        replicas: 4,
        milli: 200_000n,
        windows: LONG_AGO,
      }).count,
    ).toBe(5));

  it.each([
    ["up 30 %: 10 wanting 14 → 13", { scaleUpLimitFactor: 30 }, 560_000n, 13],
    ["up 29 %: 10 wanting 13 → 12", { scaleUpLimitFactor: 29 }, 520_000n, 12],
    ["up 50 %: 6 wanting 12 → 9", { scaleUpLimitFactor: 50 }, 800_000n, 9, 6],
    ["down 29 %: 10 wanting 7 → 8", { scaleDownLimitFactor: 29 }, 105_000n, 8],
    ["down 1 %: a step is at least 1", { scaleDownLimitFactor: 1 }, 15_000n, 9],
    ["up 0 %: never up", { scaleUpLimitFactor: 0 }, 4_000_000n, 10],
    ["down 0 %: never down", { scaleDownLimitFactor: 0 }, 15_000n, 10],
  ])("a factor of %s", (_, spec, milli, count, replicas = 10) =>
    expect(sync(wpa(spec), { replicas, milli, windows: LONG_AGO }).count).toBe(count),
  );

  it.each([
    ["down", "18:58:43.999", 15_000n, 10],
    ["down", "18:58:44", 15_000n, 8],
    ["up", "18:58:13.999", 800_000n, 10],
    ["up", "18:58:14", 800_000n, 15],
  ])(
    "one last event at 18:57:44 closes both windows, of 60 s down and 30 s up: %s at %s",
    (_, time, milli, count) => {
      const spec = wpa({ upscaleForbiddenWindowSeconds: 30, downscaleForbiddenWindowSeconds: 60 });
      expect(
        sync(spec, { replicas: 10, milli, nowMs: at(time), windows: scaledAt(at("18:57:44")) })
          .count,
      ).toBe(count);
    },
  );

  it("takes a manual change for the new count, and pulls it inside the bounds past windows and velocity", () => {
    const spec = wpa({ minReplicas: 4, maxReplicas: 9 });
    expect(
      [2, 6, 30].map(
        (replicas) =>
          sync(spec, { replicas, milli: 300_000n, windows: scaledAt(NOON - 1_000) }).count,
      ),
    ).toEqual([4, 6, 9]);
  });

  it("a repeated sample is normal, not stale", () => {
    const first = sync(wpa(), { replicas: 6, milli: 300_000n, windows: LONG_AGO });
    expect(
      sync(wpa(), { replicas: 6, milli: 300_000n, windows: first.windows, nowMs: NOON + 15_000 })
        .decision,
    ).toMatchObject({
      kind: "hold",
      failed: false,
    });
  });

  it("keeps the names of its series", () => {
    const { decision } = sync(wpa(), { replicas: 6, milli: 127_000n, windows: LONG_AGO });
    const names = new Set(decision.gauges?.map(({ name }) => name));
    for (const name of [
      "value",
      "high_watermark",
      "low_watermark",
      "replicas_scaling_proposal",
      "restricted_scaling",
      "transition_countdown",
    ])
      expect(names).toContain(name);
  });
});

describe("where the watermark dialect is more careful than the original", () => {
  it.each([
    ["above the maximum", 12, 9],
    ["inside", 6, 6],
    ["below the minimum", 2, 4],
  ])("a count %s is held by the bounds while the metric cannot be read", (_, replicas, count) =>
    expect(
      sync(wpa({ minReplicas: 4, maxReplicas: 9 }), { replicas, windows: LONG_AGO }).count,
    ).toBe(count),
  );

  it("a zero that is not tolerated never shrinks to the ready pods", () =>
    expect(
      sync(wpa(), { replicas: 10, ready: 9, milli: 0n, windows: LONG_AGO }).decision,
    ).toMatchObject({
      kind: "hold",
      because: { reason: "NoUsableValue" },
    }));

  it("a zero that is not tolerated is not said to be between the marks", () =>
    expect(sync(wpa(), { replicas: 6, milli: 0n, windows: LONG_AGO }).decision.because).toEqual({
      reason: "NoChange",
      message: "a value of 0 says nothing while tolerateZero is false",
    }));

  it("a spec without any source never walks down", () =>
    expect(sync(wpa({ metrics: [] }), { replicas: 10, windows: LONG_AGO }).count).toBe(10));
});

const document = {
  apiVersion: "autoscaling/v2",
  kind: "HorizontalPodAutoscaler",
  metadata: { name: "consumer", namespace: "shop" },
  spec: {
    scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "consumer" },
    minReplicas: 4,
    maxReplicas: 9,
    tolerance: 0.01,
    algorithm: "average",
    metrics: [
      {
        type: "External",
        external: {
          metricName: "lag",
          metricSelector: { matchLabels: { app: "x" } },
          highWatermark: "400m",
          lowWatermark: "150m",
        },
      },
    ],
    downscaleForbiddenWindowSeconds: 60,
    upscaleForbiddenWindowSeconds: 30,
    scaleUpLimitFactor: 30,
    scaleDownLimitFactor: 29,
  },
};
const multi = (spec: Readonly<Record<string, unknown>> = {}) => ({
  ...document,
  spec: { ...document.spec, ...spec },
});
const metric = (external: Readonly<Record<string, unknown>>) => [
  { type: "External", external: { metricName: "lag", ...external } },
];

describe("the multi-threshold HPA (proposals.md §5)", () => {
  it.each([
    ["below the band", 4n * 148n, 4, 4],
    ["below the band, from 6", 6n * 148n, 6, 5],
    ["on the widened low mark", 891n, 6, 6],
    ["inside", 6n * 300n, 6, 6],
    ["on the widened high mark", 6n * 404n, 6, 6],
    ["above the band", 6n * 405n, 6, 7],
    ["far above it", 9n * 4_000n, 9, 9],
  ])(
    "its own configuration holds inside the band and scales outside it: %s",
    (_, milli, replicas, count) =>
      expect(sync(specOf(document), { replicas, milli, windows: LONG_AGO }).count).toBe(count),
  );

  it("counts from the current count, whatever pods are ready", () =>
    expect(
      sync(specOf(document), { replicas: 6, ready: 1, milli: 6n * 405n, windows: LONG_AGO }).count,
    ).toBe(7));

  it("does not write a count that stays, not even the first time", () =>
    expect(sync(specOf(document), { replicas: 6, milli: 1_800n }).decision).toMatchObject({
      kind: "hold",
      because: { reason: "NoChange", message: "value within the watermarks" },
    }));

  it("lets 10 replicas that want 14 at 30 % become 13", () =>
    expect(
      sync(specOf(multi({ maxReplicas: 50, algorithm: "absolute" })), {
        replicas: 10,
        milli: 560n,
        windows: LONG_AGO,
      }).count,
    ).toBe(13));

  it.each([
    ["down", 59_999, 600n, 6],
    ["down", 60_000, 600n, 5],
    ["up", 29_999, 6_000n, 6],
    ["up", 30_000, 6_000n, 7],
  ])("has forbidden windows of 60 s down and 30 s up: %s after %d ms", (_, afterMs, milli, count) =>
    expect(
      sync(specOf(document), { replicas: 6, milli, windows: scaledAt(NOON - afterMs) }).count,
    ).toBe(count),
  );

  it("takes one watermark for both: the plain band of an HPA", () => {
    const spec = specOf(multi({ metrics: metric({ highWatermark: "400m" }), tolerance: "0.1" }));
    expect(
      [359n, 360n, 440n, 441n].map(
        (each) => sync(spec, { replicas: 6, milli: 6n * each, windows: LONG_AGO }).count,
      ),
    ).toEqual([5, 6, 6, 7]);
  });

  it.each([
    "extensions/v1beta1",
    "autoscaling/v2beta2",
    "autoscaling/v2beta1",
    "autoscaling/v2alpha1",
    "autoscaling/v1",
  ])("is read in %s", (apiVersion) =>
    expect(specOf({ ...document, apiVersion })).toEqual(specOf(document)),
  );

  it.each([
    [
      "a target beside its marks",
      { metrics: metric({ highWatermark: "4", targetValue: "3" }) },
      [
        "spec.metrics[0].external.targetValue: may not be set together with spec.metrics[0].external.highWatermark",
      ],
    ],
    [
      "a fraction of a percent",
      { scaleUpLimitFactor: "30500m" },
      ["spec.scaleUpLimitFactor: must be a whole percentage from 0 to 100"],
    ],
  ])("refuses %s", (_, spec, expected) => {
    const admission = admit(multi(spec));
    expect(
      admission.ok ? [] : admission.problems.map(({ field, detail }) => `${field}: ${detail}`),
    ).toEqual(expected);
  });

  it("takes the whole count away in one step at 100 %", () =>
    expect(
      sync(specOf(multi({ scaleDownLimitFactor: 100, minReplicas: 1 })), {
        replicas: 9,
        milli: 9n,
        windows: LONG_AGO,
      }).count,
    ).toBe(1));

  it.each([
    [
      "shrinks on a value of 0, which is a value",
      multi({ minReplicas: 1 }),
      0n,
      NOON - 3_600_000,
      5,
    ],
    [
      "forbids nothing by an upscale window of 0 s",
      multi({ upscaleForbiddenWindowSeconds: 0 }),
      6_000n,
      NOON,
      7,
    ],
    [
      "forbids nothing by a downscale window of 0 s",
      multi({ downscaleForbiddenWindowSeconds: 0 }),
      600n,
      NOON,
      5,
    ],
    [
      "takes the default of 60 s for an upscale window that is absent",
      multi({ upscaleForbiddenWindowSeconds: undefined }),
      6_000n,
      NOON - 59_999,
      6,
    ],
    ["widens nothing by a tolerance of 0", multi({ tolerance: 0 }), 6n * 401n, NOON - 3_600_000, 7],
  ])("%s", (_, manifest, milli, lastScaleMs, count) =>
    expect(
      sync(specOf(manifest), { replicas: 6, milli, windows: scaledAt(lastScaleMs) }).count,
    ).toBe(count),
  );

  it("keeps an explicit 0 when it is stored, and when it is converted", () => {
    const admission = admit(
      multi({ upscaleForbiddenWindowSeconds: 0, tolerance: 0, scaleDownLimitFactor: 0 }),
    );
    if (!admission.ok) throw new Error(JSON.stringify(admission.problems));
    expect(specOf(admission.stored)).toEqual(admission.spec);
    const conversion = convertedForm(admission);
    expect(conversion.kind === "converted" && specOf(conversion.document)).toEqual(admission.spec);
  });

  it.each([
    "tolerateZero",
    "convergeTowardsWatermark",
    "replicaScalingAbsoluteModulo",
    "upscaleDelayAboveWatermarkSeconds",
  ])(
    "does not know %s of the other dialect: it has no effect, and is named as unknown",
    (field) => {
      const value =
        field === "tolerateZero"
          ? true
          : field === "convergeTowardsWatermark"
            ? "highwatermark"
            : 5;
      const admission = admit(multi({ [field]: value }));
      expect(admission.warnings).toMatchObject([
        { message: `unknown field "spec.${field}" is ignored` },
      ]);
      expect(admission.ok && admission.spec).toEqual(specOf(document));
    },
  );

  it("obeys dryRun, and does not call it unknown", () => {
    const admission = admit(multi({ dryRun: true }));
    expect(admission.ok && [admission.warnings, admission.spec.dryRun]).toEqual([[], true]);
  });

  it("leaves an HPA without watermarks to its own rules", () =>
    expect(
      specOf({
        ...document,
        spec: { scaleTargetRef: document.spec.scaleTargetRef, maxReplicas: 9 },
      }).dialect,
    ).toBe("hpa"));
});
