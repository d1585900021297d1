import { describe, expect, it } from "vitest";
import type { Decision } from "../../../lib/rules/model/decision.ts";
import { DEFAULT_SETTINGS } from "../../../lib/rules/model/spec-common.ts";
import { NEW_WINDOWS } from "../../../lib/rules/model/windows.ts";
import { afterWrite, windowStates } from "../../../lib/rules/policy/dialects.ts";
import { NOON } from "../../noon.ts";
import { specOf } from "../spec-of.ts";
import { scaledAt } from "../watermark/world.ts";
import { decisionOf, hpa, type Step } from "./world.ts";

const LONG_AGO = scaledAt(NOON - 86_400_000);
const MARKS = { highWatermark: "10", lowWatermark: "5" };
const LOAD = { type: "External", external: { metricName: "load", ...MARKS } };
const JOBS = { type: "Pods", pods: { metric: { name: "jobs" }, ...MARKS } };
const CPU = { type: "Resource", resource: { name: "cpu", ...MARKS } };
const PLAIN = {
  type: "External",
  external: { metric: { name: "calls" }, target: { type: "AverageValue", averageValue: "10" } },
};
const NO_WINDOWS = { upscaleForbiddenWindowSeconds: 0, downscaleForbiddenWindowSeconds: 0 };

const decided = (more: object, step: Partial<Step>, windows = LONG_AGO): Decision =>
  decisionOf(
    specOf(hpa({ metrics: [LOAD], behavior: {}, ...NO_WINDOWS, ...more })),
    4,
    { at: 0, ...step },
    { windows },
  );
/** The series of a decision, as "name{label}": value. */
const series = (decision: Decision): Readonly<Record<string, number | null>> =>
  Object.fromEntries(
    (decision.gauges ?? []).map(({ name, labels, value }) => [
      [name, ...Object.values(labels)].join(" "),
      value,
    ]),
  );
const restricted = (decision: Decision) =>
  Object.fromEntries(
    Object.entries(series(decision))
      .filter(([name]) => name.startsWith("restricted_scaling "))
      .map(([name, value]) => [name.slice("restricted_scaling ".length), value]),
  );

describe("the series of the multi-threshold form", () => {
  it("tell bounds, count, marks, value and proposal, in thousandths where the watermark controller has them", () => {
    expect(
      series(
        decided(
          { minReplicas: 2, maxReplicas: 30 },
          { value: 15 },
          { ...LONG_AGO, status: { ...LONG_AGO.status } },
        ),
      ),
    ).toEqual({
      min_replicas: 2,
      max_replicas: 30,
      dry_run: 0,
      replicas_scaling_effective: 6,
      "high_watermark load": 10_000,
      "high_watermak load": 10_000,
      "low_watermark load": 5_000,
      "low_watermak load": 5_000,
      "value load": 15_000,
      "replicas_scaling_proposal load": 6,
      "restricted_scaling within_bounds": 0,
      "restricted_scaling upscale_capping": 0,
      "restricted_scaling downscale_capping": 0,
      "transition_countdown upscale": 0,
      "transition_countdown downscale": 0,
    });
  });

  it("say that a dry run is one, and name a metric of pods and of a resource", () => {
    const told = series(decided({ metrics: [JOBS, CPU], dryRun: true }, { perPod: 7 }));
    expect(told).toMatchObject({
      dry_run: 1,
      "value jobs": 28_000,
      "high_watermark cpu": 10_000,
      "low_watermark jobs": 5_000,
    });
  });

  it("leave out value and proposal of a metric that cannot be read, and say nothing of the band then", () => {
    const told = decided({ metrics: [LOAD, JOBS] }, { perPod: 2 });
    expect(Object.keys(series(told)).filter((name) => name.includes("load"))).toEqual([
      "high_watermark load",
      "high_watermak load",
      "low_watermark load",
      "low_watermak load",
    ]);
    expect(restricted(told)).toEqual({ upscale_capping: 0, downscale_capping: 0 });
  });

  it("leave out a metric with a target, which has no marks", () =>
    expect(
      Object.keys(series(decided({ metrics: [PLAIN, LOAD] }, { value: 7 }))).filter((name) =>
        name.includes("calls"),
      ),
    ).toEqual([]));

  it("say nothing of a band where no metric has marks", () =>
    expect(restricted(decided({ metrics: [PLAIN], tolerance: 0.1 }, { value: 40 }))).toEqual({
      upscale_capping: 0,
      downscale_capping: 0,
    }));

  it.each([
    ["inside the marks", { value: 7 }, 1],
    ["on the widened high mark, which belongs to the band", { value: 11 }, 1],
    ["above", { value: 15 }, 0],
    ["below", { value: 2 }, 0],
  ])("within_bounds, by which a band is watched: %s", (_, step, value) =>
    expect(restricted(decided({ tolerance: 0.1 }, step))).toMatchObject({ within_bounds: value }),
  );

  it("within_bounds is 1 only while every value is inside its marks", () => {
    const both = (perPod: number, value: number) =>
      restricted(decided({ metrics: [LOAD, JOBS], algorithm: "average" }, { perPod, value }));
    expect([both(7, 28), both(20, 28), both(7, 99)].map((told) => told["within_bounds"])).toEqual([
      1, 0, 0,
    ]);
  });

  it.each([
    ["up", { scaleUpLimitFactor: 25 }, { value: 40 }, { upscale_capping: 1, downscale_capping: 0 }],
    [
      "down",
      { scaleDownLimitFactor: 25, behavior: { scaleDown: { stabilizationWindowSeconds: 0 } } },
      { value: 1 },
      { upscale_capping: 0, downscale_capping: 1 },
    ],
  ])("capping is 1 in the sync in which a factor cuts a step: %s", (_, more, step, wanted) =>
    expect(restricted(decided(more, step))).toMatchObject(wanted),
  );

  it("count no seconds before the first scale, because no forbidden window has begun", () => {
    const names = Object.keys(series(decided({}, { value: 7 }, NEW_WINDOWS)));
    expect(names).toContain("value load");
    expect(names.filter((name) => name.startsWith("transition_countdown"))).toEqual([]);
  });

  it("count the seconds that are left of each forbidden window, and 0 where it is open", () => {
    const windows = { upscaleForbiddenWindowSeconds: 60, downscaleForbiddenWindowSeconds: 300 };
    const leftAfter = (seconds: number) =>
      series(decided(windows, { value: 7 }, scaledAt(NOON - seconds * 1000)));
    expect(
      [leftAfter(20), leftAfter(60), leftAfter(299), leftAfter(300)].map((told) => [
        told["transition_countdown upscale"],
        told["transition_countdown downscale"],
      ]),
    ).toEqual([
      [40, 280],
      [0, 240],
      [0, 1],
      [0, 0],
    ]);
  });
});

describe("the series of a decision", () => {
  it.each([{ kind: "applied" } as const, { kind: "refused", message: "quota" } as const])(
    "are told with its write, which was $kind",
    (outcome) => {
      const spec = specOf(hpa({ metrics: [LOAD], behavior: {}, ...NO_WINDOWS }));
      const decision = decisionOf(spec, 4, { at: 0, value: 15 }, { windows: LONG_AGO });
      if (decision.kind !== "scale") throw new Error(decision.because.message);
      expect(decision.gauges?.length).toBeGreaterThan(5);
      expect(afterWrite({ spec, decision, outcome, atMs: NOON }).gauges).toBe(decision.gauges);
      const { gauges: _published, ...silent } = decision;
      expect(afterWrite({ spec, decision: silent, outcome, atMs: NOON })).not.toHaveProperty(
        "gauges",
      );
    },
  );
});

describe("what a decision by marks says", () => {
  it.each([
    [
      "External",
      LOAD,
      { value: 15 },
      { external: { metric: { name: "load" }, current: { value: "15" } } },
    ],
    [
      "Pods",
      JOBS,
      { perPod: 15 },
      { pods: { metric: { name: "jobs" }, current: { value: "60" } } },
    ],
    [
      "Object",
      {
        type: "Object",
        object: {
          describedObject: { kind: "Service", name: "front" },
          metric: { name: "hits" },
          ...MARKS,
        },
      },
      { value: 15 },
      {
        object: {
          metric: { name: "hits" },
          describedObject: { kind: "Service", name: "front" },
          current: { value: "15" },
        },
      },
    ],
    ["Resource", CPU, { perPod: 15_000 }, { resource: { name: "cpu", current: { value: "60" } } }],
    [
      "ContainerResource",
      { type: "ContainerResource", containerResource: { name: "cpu", container: "app", ...MARKS } },
      { perPod: 15_000 },
      { containerResource: { name: "cpu", container: "app", current: { value: "60" } } },
    ],
  ])(
    "the current value of a metric of type %s stands in the status",
    (type, metric, step, wanted) => {
      const { windows } = decided({ metrics: [metric] }, step);
      expect(windows.status.currentMetrics).toMatchObject([{ type, ...wanted }]);
    },
  );

  it("an average stands there as one", () =>
    expect(
      decided({ algorithm: "average" }, { value: 32 }).windows.status.currentMetrics,
    ).toMatchObject([{ type: "External", external: { current: { averageValue: "8" } } }]));

  it.each([
    ["External", LOAD, "external metric load"],
    [
      "Object",
      {
        type: "Object",
        object: {
          describedObject: { kind: "Service", name: "front" },
          metric: { name: "hits" },
          ...MARKS,
        },
      },
      "Service metric hits",
    ],
  ])("a metric that cannot be read is named with its type: %s", (type, metric, name) => {
    const { because } = decided({ metrics: [metric] }, {});
    expect(because).toMatchObject({
      reason: `FailedGet${type}Metric`,
      message: expect.stringContaining(`failed to get ${name}: `),
    });
  });

  it("a value below 0 is refused with the value", () =>
    expect(decided({}, { value: -3 }).because.message).toContain("its value -3 is below 0"));

  it("pods that give no sample at all are no zero", () =>
    expect(decided({ metrics: [JOBS] }, { perPod: 1, silent: 4 }).because.message).toContain(
      "failed to get pods metric jobs: no metrics returned",
    ));

  it("pods whose samples lack the resource are no zero", () => {
    const memory = { type: "Resource", resource: { name: "memory", ...MARKS } };
    expect(decided({ metrics: [memory] }, { perPod: 1 }).because.message).toContain(
      "failed to get memory resource: no pod gave a sample",
    );
  });

  it.each([
    [
      "a step up that a factor cuts",
      { scaleUpLimitFactor: 25 },
      { value: 40 },
      "one step may add 25 percent of the current count, at least 1 pod (scaleUpLimitFactor)",
    ],
    [
      "a factor of 0 up",
      { scaleUpLimitFactor: 0 },
      { value: 40 },
      "scaleUpLimitFactor is 0, which forbids to add pods",
    ],
    [
      "a step down that a factor cuts",
      { scaleDownLimitFactor: 25 },
      { value: 1 },
      "one step may remove 25 percent of the current count, at least 1 pod (scaleDownLimitFactor)",
    ],
    [
      "a factor of 0 down",
      { scaleDownLimitFactor: 0 },
      { value: 1 },
      "scaleDownLimitFactor is 0, which forbids to remove pods",
    ],
  ])("the limit of %s is told in one sentence", (_, more, step, message) => {
    const { steps } = decided(
      { behavior: { scaleDown: { stabilizationWindowSeconds: 0 } }, ...more },
      step,
    );
    expect(steps.find(({ limit }) => limit?.message === message)?.step).toBe("step limit");
  });

  it.each([
    ["upscale", { upscaleForbiddenWindowSeconds: 60 }, { value: 40 }, "BackoffUpscale"],
    [
      "downscale",
      {
        downscaleForbiddenWindowSeconds: 60,
        behavior: { scaleDown: { stabilizationWindowSeconds: 0 } },
      },
      { value: 1 },
      "BackoffDownscale",
    ],
  ])(
    "the forbidden window of a step %s holds it, and says until when",
    (direction, more, step, reason) => {
      const { kind, because, steps, windows } = decided(more, step, scaledAt(NOON - 10_000));
      expect([kind, because.reason]).toEqual(["hold", reason]);
      expect(steps.at(-1)).toMatchObject({
        step: "forbidden windows",
        before: expect.any(Number),
        after: 4,
        limit: {
          reason,
          value: 4,
          untilMs: NOON + 50_000,
          message: `the last scale, of either direction, is within the ${direction} forbidden window`,
        },
      });
      expect(windows.status.conditions).toContainEqual(
        expect.objectContaining({ type: "AbleToScale", status: "False", reason }),
      );
    },
  );

  const named = (name: string, { steps }: Decision) => steps.filter(({ step }) => step === name);
  const reasons = ({ windows }: Decision) =>
    windows.status.conditions.map(({ type, status, reason }) => `${type}=${status} ${reason}`);
  const BOTH = { upscaleForbiddenWindowSeconds: 60, downscaleForbiddenWindowSeconds: 60 };

  it("a count that stays is not held, though both forbidden windows are closed, and the condition says that they are", () => {
    const decision = decided(BOTH, { value: 7 }, scaledAt(NOON - 10_000));
    expect(named("forbidden windows", decision)).toStrictEqual([
      { step: "forbidden windows", before: 4, after: 4 },
    ]);
    expect(reasons(decision)).toContain("AbleToScale=False BackoffBoth");
  });

  it("a count that stays while both forbidden windows are open is in no backoff", () => {
    const decision = decided(BOTH, { value: 7 });
    expect(named("forbidden windows", decision)).toStrictEqual([
      { step: "forbidden windows", before: 4, after: 4 },
    ]);
    expect(reasons(decision)).toContain("AbleToScale=True ReadyForNewScale");
  });

  it("a step that neither a factor nor a forbidden window holds passes both", () => {
    const decision = decided(BOTH, { value: 15 });
    expect(named("step limit", decision)).toStrictEqual([
      { step: "step limit", before: 6, after: 6 },
    ]);
    expect(named("forbidden windows", decision)).toStrictEqual([
      { step: "forbidden windows", before: 6, after: 6 },
    ]);
    expect(reasons(decision)).toContain("ScalingLimited=False DesiredWithinRange");
  });

  it("before the first scale there is no forbidden window to look at, and none is shown as closed", () => {
    const decision = decided(BOTH, { value: 15 }, NEW_WINDOWS);
    expect(named("forbidden windows", decision)).toEqual([]);
    const spec = specOf(hpa({ metrics: [LOAD], behavior: {}, ...BOTH }));
    expect(
      windowStates(spec, NEW_WINDOWS, { settings: DEFAULT_SETTINGS, nowMs: NOON }).forbidden,
    ).toStrictEqual([
      { direction: "scaleUp", windowMs: 60_000 },
      { direction: "scaleDown", windowMs: 60_000 },
    ]);
  });

  it("a step that a factor cuts is limited, and the condition says so", () =>
    expect(reasons(decided({ scaleUpLimitFactor: 25 }, { value: 40 }))).toContain(
      "ScalingLimited=True ScaleUpLimit",
    ));

  it("a step that no window holds is ready for a new scale", () =>
    expect(
      decided({}, { value: 15 }, scaledAt(NOON - 10_000)).windows.status.conditions,
    ).toContainEqual(
      expect.objectContaining({ type: "AbleToScale", status: "True", reason: "ReadyForNewScale" }),
    ));
});
