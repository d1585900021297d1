import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readManifests } from "../../../lib/rules/manifest/documents.ts";
import { NOON } from "../../noon.ts";
import { specOf } from "../spec-of.ts";
import { scaledAt } from "../watermark/world.ts";
import { counts, decisionOf, hpa } from "./world.ts";
import { runs } from "../../runs.ts";

const LONG_AGO = scaledAt(NOON - 86_400_000);
const NO_WINDOWS = { upscaleForbiddenWindowSeconds: 0, downscaleForbiddenWindowSeconds: 0 };
const NO_LIMITS = {
  ...NO_WINDOWS,
  tolerance: 0.1,
  scaleUpLimitFactor: 100,
  scaleDownLimitFactor: 100,
};
const MARKS = { highWatermark: "10", lowWatermark: "5" };
const external = (levels: object = MARKS) => [
  { type: "External", external: { metricName: "load", ...levels } },
];
const PER_POD = [
  {
    type: "External",
    external: { metric: { name: "load" }, target: { type: "AverageValue", averageValue: "10" } },
  },
];
const countAfter = (
  manifest: unknown,
  replicas: number,
  step: object,
  windows = LONG_AGO,
): number | undefined => counts(specOf(manifest), { replicas, windows }, [{ at: 0, ...step }])[0];

describe("marks on every type of metric (proposals.md §5)", () => {
  const pods = [{ type: "Pods", pods: { metric: { name: "jobs" }, ...MARKS } }];
  const object = [
    {
      type: "Object",
      object: {
        describedObject: { kind: "Service", name: "front" },
        metric: { name: "hits" },
        ...MARKS,
      },
    },
  ];
  const cpu = [
    { type: "Resource", resource: { name: "cpu", highWatermark: "90m", lowWatermark: "30m" } },
  ];
  const container = [
    {
      type: "ContainerResource",
      containerResource: {
        name: "cpu",
        container: "app",
        highWatermark: "90m",
        lowWatermark: "30m",
      },
    },
  ];
  const average = { ...NO_LIMITS, algorithm: "average" };

  it.each([
    ["Pods above", { metrics: pods, ...average }, { perPod: 15 }, 6],
    ["Pods between", { metrics: pods, ...average }, { perPod: 11 }, 4],
    ["Pods below", { metrics: pods, ...average }, { perPod: 4 }, 3],
    ["Pods, the sum of all of them", { metrics: pods, ...NO_LIMITS }, { perPod: 3 }, 5],
    ["Pods at 0, which is a value", { metrics: pods, ...average }, { perPod: 0 }, 1],
    ["Object above", { metrics: object, ...NO_LIMITS }, { value: 15 }, 6],
    ["Object on the widened mark", { metrics: object, ...NO_LIMITS }, { value: 11 }, 4],
    ["Object below", { metrics: object, ...NO_LIMITS }, { value: 4 }, 3],
    ["Object that cannot be read", { metrics: object, ...NO_LIMITS }, {}, 4],
    ["CPU of the target's pods above", { metrics: cpu, ...average }, { perPod: 180 }, 8],
    ["CPU below", { metrics: cpu, ...average }, { perPod: 15 }, 2],
    ["CPU of one container", { metrics: container, ...average }, { perPod: 180 }, 8],
    [
      "External beside a tolerance of a direction",
      { metrics: external(), ...NO_LIMITS, behavior: { scaleUp: { tolerance: "0.5" } } },
      { value: 14 },
      4,
    ],
    [
      "External below nothing, which is a mistake of its source",
      { metrics: external(), ...NO_LIMITS, behavior: {} },
      { value: -3 },
      4,
    ],
  ])("%s", (_, spec, step, count) => expect(countAfter(hpa(spec), 4, step)).toBe(count));

  it.each([
    ["shrink", 4, 4],
    ["grow all the same", 45, 8],
  ])(
    "a sum that lacks the sample of a running pod does not let it shrink, only grow: %s",
    (_, perPod, count) =>
      expect(
        countAfter(hpa({ metrics: pods, ...NO_LIMITS }), 4, {
          perPod: perPod === 4 ? 1 : perPod,
          silent: 1,
        }),
      ).toBe(count),
  );

  it.each([
    "autoscaling/v2",
    "autoscaling/v2beta2",
    "autoscaling/v2beta1",
    "autoscaling/v2alpha1",
    "autoscaling/v1",
  ])("are read in %s, in both namings", (apiVersion) => {
    const flat = [
      { type: "Pods", pods: { metricName: "jobs", ...MARKS } },
      {
        type: "Object",
        object: { target: { kind: "Service", name: "front" }, metricName: "hits", ...MARKS },
      },
    ];
    const wanted = specOf(hpa({ metrics: [...pods, ...object], ...NO_LIMITS }));
    expect(specOf(hpa({ metrics: flat, ...NO_LIMITS }, apiVersion))).toEqual(wanted);
    expect(specOf(hpa({ metrics: [...pods, ...object], ...NO_LIMITS }, apiVersion))).toEqual(
      wanted,
    );
  });
});

describe("the form's own fields on an ordinary target", () => {
  it.each([
    ["a tolerance of 0.01 acts on 2 percent", { tolerance: 0.01 }, 102, 11],
    ["a tolerance of 0.3 does not act on 20 percent", { tolerance: 0.3 }, 120, 10],
    ["a tolerance of 0 acts on anything", { tolerance: 0 }, 100.1, 11],
    [
      "a direction's own tolerance counts there",
      { tolerance: 0.3, behavior: { scaleUp: { tolerance: "0.01" } } },
      102,
      11,
    ],
    ["30 percent up: 10 wanting 14 become 13", { scaleUpLimitFactor: 30 }, 140, 13],
    ["29 percent up: 10 wanting 13 become 12", { scaleUpLimitFactor: 29 }, 130, 12],
    ["0 percent up: never up", { scaleUpLimitFactor: 0 }, 140, 10],
    ["29 percent down: 10 wanting 7 become 8", { scaleDownLimitFactor: 29 }, 70, 8],
    ["maxReplicas below what a step allows", { scaleUpLimitFactor: 100, maxReplicas: 12 }, 180, 12],
  ])("%s", (_, spec, value, count) =>
    expect(
      countAfter(
        hpa({
          metrics: PER_POD,
          behavior: { scaleDown: { stabilizationWindowSeconds: 0 } },
          ...spec,
        }),
        10,
        { value },
      ),
    ).toBe(count),
  );

  it.each([
    ["up", 29, 140, 10],
    ["up", 30, 140, 14],
    ["down", 59, 70, 10],
    ["down", 60, 70, 8],
  ])(
    "one last scale closes both windows, of 30 s up and 60 s down: %s after %d s",
    (_, seconds, value, count) => {
      const windows = { upscaleForbiddenWindowSeconds: 30, downscaleForbiddenWindowSeconds: 60 };
      const manifest = hpa({
        metrics: PER_POD,
        behavior: { scaleDown: { stabilizationWindowSeconds: 0 } },
        ...windows,
      });
      expect(countAfter(manifest, 10, { value }, scaledAt(NOON - seconds * 1000))).toBe(count);
    },
  );

  it("keeps the stabilization of an ordinary HPA, beside the forbidden windows", () => {
    const manifest = hpa({ metrics: PER_POD, ...NO_LIMITS });
    const steps = [0, 15, 299, 300, 301].map((at) => ({ at, value: at === 0 ? 100 : 50 }));
    expect(counts(specOf(manifest), { replicas: 10, windows: LONG_AGO }, steps)).toEqual([
      10, 10, 10, 10, 5,
    ]);
  });

  it("goes back inside min and max past windows and factors", () =>
    expect(
      countAfter(
        hpa({ metrics: PER_POD, scaleDownLimitFactor: 0, maxReplicas: 4 }),
        9,
        { value: 90 },
        scaledAt(NOON),
      ),
    ).toBe(4));

  it("does not shrink while one of its metrics cannot be read, and grows on the other", () => {
    const metrics = [...PER_POD, { type: "Pods", pods: { metric: { name: "jobs" }, ...MARKS } }];
    const manifest = hpa({
      metrics,
      ...NO_LIMITS,
      algorithm: "average",
      behavior: { scaleDown: { stabilizationWindowSeconds: 0 } },
    });
    expect([1, 20].map((perPod) => countAfter(manifest, 4, { perPod }))).toEqual([4, 8]);
  });
});

describe("marks together with constraints or behavior", () => {
  const MANUAL = readFileSync(new URL("../../../docs/manifests.md", import.meta.url), "utf8");
  it("follows the worked example of the manual, sync by sync", () => {
    const [, text = ""] = /```yaml\n([^`]*name: both[^`]*)```/.exec(MANUAL) ?? [];
    const rows = [
      ...MANUAL.slice(MANUAL.indexOf("| second | load |")).matchAll(
        /^\| (\d+) \| (\d+) \| (\d+) \|/gm,
      ),
    ].map((row) => row.slice(1).map(Number));
    const [manifest] = readManifests(text, "manual.yaml");
    const life = rows.map(([at = 0, value = 0]) => ({ at, value }));
    expect(rows.length).toBe(8);
    expect(counts(specOf(manifest?.document), { replicas: 10, windows: LONG_AGO }, life)).toEqual(
      rows.map(([, , count]) => count),
    );
  });

  it.each([
    [
      "the rate is the narrowest",
      { scaleUp: { pods: 2, percent: 0 } },
      { scaleUpLimitFactor: 50 },
      12,
      "ScaleUpLimit",
      "limit",
    ],
    [
      "the factor is the narrowest",
      { scaleUp: { pods: 9, percent: 0 } },
      { scaleUpLimitFactor: 50 },
      15,
      "ScaleUpLimit",
      "step limit",
    ],
    [
      "maxReplicas is the narrowest",
      { scaleUp: { pods: 9, percent: 0 } },
      { scaleUpLimitFactor: 50, maxReplicas: 11 },
      11,
      "TooManyReplicas",
      "limit",
    ],
  ])(
    "of rate, factor and bound the narrowest counts, and is named: %s",
    (_, constraints, more, count, reason, step) => {
      const spec = specOf(hpa({ metrics: external(), constraints, ...NO_WINDOWS, ...more }));
      const decision = decisionOf(spec, 10, { at: 0, value: 100 }, { windows: LONG_AGO });
      expect(decision).toMatchObject({
        kind: "scale",
        to: count,
        because: { reason: "MetricAboveTarget" },
      });
      expect(decision.steps.findLast(({ limit }) => limit)).toMatchObject({
        step,
        after: count,
        limit: { reason },
      });
    },
  );

  it.each([
    [
      "both windows",
      { upscaleForbiddenWindowSeconds: 60, downscaleForbiddenWindowSeconds: 60 },
      "BackoffBoth",
    ],
    [
      "the upscale window alone",
      { upscaleForbiddenWindowSeconds: 60, downscaleForbiddenWindowSeconds: 0 },
      "BackoffUpscale",
    ],
  ])("says which forbidden windows hold: %s", (_, windows, reason) => {
    const spec = specOf(hpa({ metrics: external(), behavior: {}, ...windows }));
    const decision = decisionOf(
      spec,
      10,
      { at: 0, value: 30 },
      { windows: scaledAt(NOON - 10_000) },
    );
    expect(decision).toMatchObject({ kind: "hold", because: { reason: "BackoffUpscale" } });
    expect(decision.windows.status.conditions).toContainEqual(
      expect.objectContaining({ type: "AbleToScale", status: "False", reason }),
    );
    expect(decision.steps.at(-1)?.limit).toMatchObject({ untilMs: NOON + 50_000 });
  });

  it("always decides as marks alone do, where the behavior limits nothing", () => {
    const free = {
      stabilizationWindowSeconds: 0,
      policies: [{ type: "Percent", value: 1_000_000, periodSeconds: 1 }],
    };
    const unlimited = {
      scaleUp: free,
      scaleDown: { ...free, policies: [{ type: "Percent", value: 100, periodSeconds: 1 }] },
    };
    const steps = fc.array(
      fc.tuple(fc.constantFrom(15, 30, 45, 300), fc.integer({ min: 0, max: 60 })),
      { minLength: 1, maxLength: 12 },
    );
    const fields = fc.record({
      algorithm: fc.constantFrom("absolute", "average"),
      tolerance: fc.constantFrom(0, 0.01, 0.1, 0.5),
      scaleUpLimitFactor: fc.constantFrom(0, 1, 30, 100),
      scaleDownLimitFactor: fc.constantFrom(0, 1, 29, 100),
      upscaleForbiddenWindowSeconds: fc.constantFrom(0, 30, 60),
      downscaleForbiddenWindowSeconds: fc.constantFrom(0, 60, 300),
      minReplicas: fc.constantFrom(1, 3),
      maxReplicas: fc.constantFrom(9, 100),
    });
    fc.assert(
      fc.property(fields, steps, fc.integer({ min: 1, max: 20 }), (own, moves, replicas) => {
        const life = moves.map(([, value], index) => ({
          at: moves.slice(0, index + 1).reduce((sum, [gap]) => sum + gap, 0),
          value,
        }));
        const alone = specOf(hpa({ ...own, metrics: external() }));
        const beside = specOf(hpa({ ...own, metrics: external(), behavior: unlimited }));
        expect([alone.dialect, beside.dialect]).toEqual(["watermark", "multi-threshold"]);
        expect(counts(beside, { replicas, windows: LONG_AGO }, life)).toEqual(
          counts(alone, { replicas, windows: LONG_AGO }, life),
        );
      }),
      runs(100),
    );
  });
});
