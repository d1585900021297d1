import { describe, expect, it } from "vitest";
import { NOON } from "../../noon.ts";
import { counts, LOAD, native, pod, scaledBefore, sync } from "./world.ts";

const one = (spec: Readonly<Record<string, unknown>>, replicas: number, load: number): number =>
  sync(native(spec), { replicas, values: { load } }).count;
const reason = (
  spec: Readonly<Record<string, unknown>>,
  replicas: number,
  values: Readonly<Record<string, number>>,
): string => sync(native(spec), { replicas, values }).decision.because.reason;

describe("target with tolerances", () => {
  const tolerant = { metrics: [{ ...LOAD, tolerance: { up: "0.2", down: "0.1" } }] };
  // 10 pods at 10 each: the value is 100.
  it.each([
    { at: "below the lower tolerance", load: 89, count: 9 },
    { at: "at the lower tolerance", load: 90, count: 10 },
    { at: "at the target", load: 100, count: 10 },
    { at: "at the upper tolerance", load: 120, count: 10 },
    { at: "above the upper tolerance", load: 121, count: 13 },
  ])("$at: $load gives $count", ({ load, count }) => expect(one(tolerant, 10, load)).toBe(count));

  it("without a tolerance of its own takes that of the cluster", () => {
    const { tolerance: _none, ...plain } = LOAD;
    expect([one({ metrics: [plain] }, 10, 110), one({ metrics: [plain] }, 10, 111)]).toEqual([
      10, 12,
    ]);
  });
});

describe("watermarks", () => {
  const { target: _one, tolerance: _none, ...load } = LOAD;
  const marked = { metrics: [{ ...load, watermarks: { low: 8, high: 12 } }] };
  it.each([
    { at: "below low", value: 63, count: 8 },
    { at: "at low", value: 80, count: 10 },
    { at: "between", value: 100, count: 10 },
    { at: "at high", value: 120, count: 10 },
    { at: "above high", value: 121, count: 11 },
  ])("$at: $value gives $count", ({ value, count }) => expect(one(marked, 10, value)).toBe(count));

  it("of which both are one value behave as a target without tolerance", () =>
    expect(one({ metrics: [{ ...load, watermarks: { low: 10, high: 10 } }] }, 10, 101)).toBe(11));
});

describe("measures and sources", () => {
  const usage = { "web-0": 60n, "web-1": 60n };
  const pods = [
    pod("web-0", { request: 100n, limit: 200n }),
    pod("web-1", { request: 100n, limit: 200n }),
  ];
  const cpu = (more: object) =>
    native({ metrics: [{ tolerance: { up: "0", down: "0" }, ...more }] });

  it("compare a percentage of the request: 60 % against 30 doubles", () =>
    expect(
      sync(cpu({ resource: { name: "cpu" }, target: 30 }), { replicas: 2, pods, usage }).count,
    ).toBe(4));
  it("compare a percentage of the limit: the same use is 30 %", () =>
    expect(
      sync(cpu({ resource: { name: "cpu", of: "limit" }, target: 30 }), {
        replicas: 2,
        pods,
        usage,
      }).count,
    ).toBe(2));
  it("take a percentage of the limit of one container", () =>
    expect(
      sync(cpu({ containerResource: { name: "cpu", container: "app", of: "limit" }, target: 15 }), {
        replicas: 2,
        pods,
        usage,
      }).count,
    ).toBe(4));
  it("take a limit that is not set for a missing metric", () => {
    const { decision } = sync(cpu({ resource: { name: "cpu", of: "limit" }, target: 30 }), {
      replicas: 1,
      pods: [pod("web-0", { request: 100n })],
      usage: { "web-0": 60n },
    });
    expect(decision).toMatchObject({
      kind: "hold",
      failed: true,
      because: {
        message:
          "cpu is missing: failed to get cpu utilization: missing limit for cpu in container app of Pod web-0",
      },
    });
  });
  it("measure a metric of the namespace itself", () => {
    const spec = native({
      metrics: [{ namespace: { metric: "requests" }, target: 10, measure: "Average" }],
    });
    expect(sync(spec, { replicas: 1, values: { requests: 45 } }).count).toBe(5);
  });
  it("measure a metric of an object", () => {
    const object = {
      describedObject: { apiVersion: "v1", kind: "Service", name: "web" },
      metric: "requests",
    };
    expect(
      sync(native({ metrics: [{ object, target: 10, measure: "Average" }] }), {
        replicas: 1,
        values: { requests: 45 },
      }).count,
    ).toBe(5);
  });
  it("scale the Total by the ready pods", () =>
    expect(one({ metrics: [{ ...LOAD, measure: "Total" }] }, 4, 15)).toBe(6));
});

describe("combine", () => {
  const two = (combine: string, more: object = {}) =>
    native({
      combine,
      metrics: [
        { ...LOAD, name: "a", external: { metric: "a" } },
        { ...LOAD, name: "b", external: { metric: "b" }, ...more },
      ],
    });
  it.each([
    { combine: "Max", count: 8 },
    { combine: "Min", count: 3 },
    { combine: "Mean", count: 6 },
  ])("$combine of 3 and 8 is $count", ({ combine, count }) =>
    expect(sync(two(combine), { replicas: 5, values: { a: 30, b: 80 } }).count).toBe(count),
  );

  it.each([
    { at: "below the current count it says nothing", b: 10, count: 4 },
    { at: "at the current count it says nothing", b: 50, count: 4 },
    { at: "above the current count it counts", b: 60, count: 6 },
  ])("takes a scaleUpOnly metric so: $at", ({ b, count }) =>
    expect(
      sync(two("Max", { scaleUpOnly: true }), { replicas: 5, values: { a: 40, b } }).count,
    ).toBe(count),
  );
});

describe("onMissing", () => {
  const with_ = (onMissing: object) =>
    native({
      metrics: [
        { ...LOAD, name: "a", external: { metric: "a" } },
        { ...LOAD, name: "b", external: { metric: "b" }, onMissing },
      ],
    });

  it("says at which step everything stopped, and keeps the count as the desired one", () => {
    const { decision, windows } = sync(with_({}), { replicas: 5, values: { a: 90 } });
    expect(decision.steps).toEqual([
      {
        step: "combine",
        before: 5,
        after: 5,
        limit: {
          reason: "MetricMissing",
          value: 5,
          message:
            "b is missing: unable to get external metric shop/b/nil: unable to fetch metrics from external metrics API: no metrics",
        },
      },
    ]);
    expect(windows.status.desiredReplicas).toBe(5);
  });

  it("hold keeps the count, whatever the others want", () => {
    expect(counts(with_({}), 5, [[0, { a: 90 }]])).toEqual([5]);
    expect(counts(with_({ action: "hold" }), 5, [[0, { a: 10 }]])).toEqual([5]);
  });
  it("scaleUpOnly leaves the way up to the others, never the way down", () =>
    expect(
      counts(with_({ action: "scaleUpOnly" }), 5, [
        [0, { a: 90 }],
        [15, { a: 10 }],
      ]),
    ).toEqual([9, 9]));
  it("fallback holds below its time, and asks for its count at and above it", () =>
    expect(
      counts(with_({ action: "fallback", replicas: 7, afterSeconds: 60 }), 5, [
        [0, { a: 50 }],
        [59, { a: 50 }],
        [60, { a: 50 }],
        [75, { a: 50 }],
      ]),
    ).toEqual([5, 5, 7, 7]));
  it("fallback never shrinks", () =>
    expect(
      counts(with_({ action: "fallback", replicas: 2, afterSeconds: 0 }), 5, [[0, { a: 10 }]]),
    ).toEqual([5]));
  it("fallback begins anew after the metric was there", () =>
    expect(
      counts(with_({ action: "fallback", replicas: 7, afterSeconds: 60 }), 5, [
        [0, { a: 50 }],
        [45, { a: 50, b: 50 }],
        [60, { a: 50 }],
        [119, { a: 50 }],
        [120, { a: 50 }],
      ]),
    ).toEqual([5, 5, 5, 5, 7]));
});

describe("sustainSeconds", () => {
  const up = native({ scaleUp: { sustainSeconds: 30 } });
  it("holds below, moves at and above", () => {
    expect(
      counts(up, 5, [
        [0, { load: 90 }],
        [29, { load: 90 }],
        [30, { load: 90 }],
      ]),
    ).toEqual([5, 5, 9]);
    expect(
      counts(up, 5, [
        [0, { load: 90 }],
        [31, { load: 90 }],
      ]),
    ).toEqual([5, 9]);
  });
  it("does the same on the way down", () => {
    const down = native({ scaleDown: { sustainSeconds: 30 } });
    const at = (seconds: number): readonly number[] =>
      counts(down, 9, [
        [0, { load: 20 }],
        [seconds, { load: 20 }],
      ]);
    expect([at(29), at(30), at(31)]).toEqual([
      [9, 9],
      [9, 2],
      [9, 2],
    ]);
    expect(counts(down, 5, [[0, { load: 90 }]])).toEqual([9]);
  });
  it("begins anew when the breach was interrupted, or could not be seen", () => {
    expect(
      counts(up, 5, [
        [0, { load: 90 }],
        [15, { load: 50 }],
        [30, { load: 90 }],
        [60, { load: 90 }],
      ]),
    ).toEqual([5, 5, 5, 9]);
    expect(
      counts(up, 5, [
        [0, { load: 90 }],
        [15, {}],
        [30, { load: 90 }],
        [60, { load: 90 }],
      ]),
    ).toEqual([5, 5, 5, 9]);
  });
  it("begins anew after a sync that went to a bound", () => {
    const bounded = native({ minReplicas: 4, scaleUp: { sustainSeconds: 30 } });
    const before = sync(bounded, { replicas: 5, values: { load: 90 } });
    const toBound = sync(bounded, {
      replicas: 3,
      values: { load: 90 },
      nowMs: NOON + 30_000,
      windows: before.windows,
    });
    const after = sync(bounded, {
      replicas: 4,
      values: { load: 90 },
      nowMs: NOON + 45_000,
      windows: toBound.windows,
    });
    expect([before.count, toBound.count, after.count]).toEqual([5, 4, 4]);
  });
  it("of one direction leaves the other alone", () =>
    expect(counts(up, 5, [[0, { load: 20 }]])).toEqual([2]));
  it("says until when it holds", () => {
    const { decision } = sync(up, { replicas: 5, values: { load: 90 } });
    expect(decision.steps.find(({ step }) => step === "sustain")).toMatchObject({
      before: 9,
      after: 5,
      limit: { reason: "NotSustained", untilMs: NOON + 30_000 },
    });
  });
});

describe("stabilizationWindowSeconds", () => {
  it("holds the highest count of the window on the way down; one exactly as old has left", () => {
    const spec = native({ scaleDown: { stabilizationWindowSeconds: 60 } });
    expect(
      counts(spec, 9, [
        [0, { load: 90 }],
        [15, { load: 20 }],
        [59, { load: 20 }],
        [60, { load: 20 }],
      ]),
    ).toEqual([9, 9, 9, 2]);
  });
  it("holds the lowest count of the window on the way up", () => {
    const spec = native({ scaleUp: { stabilizationWindowSeconds: 60 } });
    expect(
      counts(spec, 5, [
        [0, { load: 50 }],
        [15, { load: 90 }],
        [59, { load: 90 }],
        [60, { load: 90 }],
      ]),
    ).toEqual([5, 5, 5, 9]);
  });
});

describe("stepMinimum and replicaModulo", () => {
  it.each([
    { wanted: 12, count: 10 },
    { wanted: 13, count: 13 },
    { wanted: 14, count: 14 },
    { wanted: 8, count: 10 },
    { wanted: 7, count: 7 },
  ])("stepMinimum 3: from 10 to $wanted gives $count", ({ wanted, count }) =>
    expect(
      one({ scaleUp: { stepMinimum: 3 }, scaleDown: { stepMinimum: 3 } }, 10, wanted * 10),
    ).toBe(count),
  );

  it.each([
    { wanted: 11, count: 15 },
    { wanted: 15, count: 15 },
    { wanted: 16, count: 20 },
    { wanted: 6, count: 10 },
    { wanted: 5, count: 5 },
    { wanted: 4, count: 5 },
  ])("replicaModulo 5: from 10 to $wanted gives $count", ({ wanted, count }) =>
    expect(
      one({ scaleUp: { replicaModulo: 5 }, scaleDown: { replicaModulo: 5 } }, 10, wanted * 10),
    ).toBe(count),
  );

  it("cut a limit to the modulo on the way", () => {
    const policies = [{ type: "Pods", value: 7, periodSeconds: 60 }];
    expect(one({ scaleUp: { replicaModulo: 5, policies } }, 10, 400)).toBe(15);
    expect(
      one({ scaleUp: { replicaModulo: 5, policies: [{ ...policies[0], value: 4 }] } }, 10, 400),
    ).toBe(10);
  });
});

describe("policies", () => {
  const up = (policies: readonly object[], selectPolicy = "Max") => ({
    scaleUp: { policies, selectPolicy },
  });
  const down = (policies: readonly object[], selectPolicy = "Max") => ({
    scaleDown: { policies, selectPolicy },
  });
  const pods = { type: "Pods", value: 4, periodSeconds: 60 };
  const percent = { type: "Percent", value: 50, periodSeconds: 60 };
  const factor = { type: "Factor", value: "1.5", periodSeconds: 60 };

  it.each([
    { name: "Pods below", spec: up([pods]), wanted: 13, count: 13 },
    { name: "Pods at", spec: up([pods]), wanted: 14, count: 14 },
    { name: "Pods above", spec: up([pods]), wanted: 15, count: 14 },
    { name: "Percent below", spec: up([percent]), wanted: 14, count: 14 },
    { name: "Factor below", spec: up([factor]), wanted: 14, count: 14 },
    { name: "Pods down below", spec: down([pods]), wanted: 7, count: 7 },
    { name: "Percent down at", spec: down([percent]), wanted: 5, count: 5 },
    { name: "Factor down at", spec: down([factor]), wanted: 7, count: 7 },
    { name: "Percent at", spec: up([percent]), wanted: 15, count: 15 },
    { name: "Percent above", spec: up([percent]), wanted: 16, count: 15 },
    { name: "Factor at", spec: up([factor]), wanted: 15, count: 15 },
    { name: "Factor above", spec: up([factor]), wanted: 16, count: 15 },
    { name: "Max of two", spec: up([pods, percent]), wanted: 20, count: 15 },
    { name: "Min of two", spec: up([pods, percent], "Min"), wanted: 20, count: 14 },
    { name: "Disabled up", spec: up([pods], "Disabled"), wanted: 20, count: 10 },
    { name: "Pods down above", spec: down([pods]), wanted: 5, count: 6 },
    { name: "Pods down at", spec: down([pods]), wanted: 6, count: 6 },
    { name: "Percent down", spec: down([percent]), wanted: 1, count: 5 },
    { name: "Factor down, rounded up", spec: down([factor]), wanted: 1, count: 7 },
    { name: "Max down takes the most", spec: down([pods, percent]), wanted: 1, count: 5 },
    { name: "Min down takes the least", spec: down([pods, percent], "Min"), wanted: 1, count: 6 },
    { name: "Disabled down", spec: down([pods], "Disabled"), wanted: 1, count: 10 },
  ])("$name: from 10 to $wanted gives $count", ({ spec, wanted, count }) =>
    expect(one(spec, 10, wanted * 10)).toBe(count),
  );

  it("count what was added inside the period; an event exactly that old has left", () => {
    const spec = native(up([pods]));
    const at = (seconds: number): number =>
      sync(spec, {
        replicas: 10,
        values: { load: 400 },
        windows: scaledBefore(spec, seconds, 7, 10),
      }).count;
    expect([at(59), at(60), at(61)]).toEqual([11, 14, 14]);
    const downwards = native(down([pods]));
    const settled = (seconds: number): number =>
      sync(downwards, {
        replicas: 10,
        values: { load: 10 },
        windows: scaledBefore(downwards, seconds, 13, 10),
      }).count;
    expect([settled(59), settled(60), settled(61)]).toEqual([9, 6, 6]);
  });
});

describe("minReplicas and maxReplicas", () => {
  const bounded = { minReplicas: 3, maxReplicas: 8 };
  it.each([
    { wanted: 2, count: 3 },
    { wanted: 3, count: 3 },
    { wanted: 4, count: 4 },
    { wanted: 8, count: 8 },
    { wanted: 9, count: 8 },
  ])("wanted $wanted gives $count", ({ wanted, count }) =>
    expect(one(bounded, 5, wanted * 10)).toBe(count),
  );

  it("move a count outside straight to the bound, past every window and without metrics", () => {
    const slow = {
      sustainSeconds: 600,
      stabilizationWindowSeconds: 600,
      selectPolicy: "Disabled",
      forbiddenAfterEventSeconds: 600,
    };
    const spec = native({ ...bounded, scaleUp: slow, scaleDown: slow });
    const windows = scaledBefore(spec, 1, 5, 6);
    expect([1, 2, 3, 8, 9, 90].map((replicas) => sync(spec, { replicas, windows }).count)).toEqual([
      3, 3, 3, 8, 8, 8,
    ]);
  });

  it("leave a count of 0 alone where the manifest has no idle count", () =>
    expect(reason(bounded, 0, { load: 90 })).toBe("ScalingDisabled"));
});

describe("forbiddenAfterEventSeconds", () => {
  const spec = native({
    scaleUp: { forbiddenAfterEventSeconds: 60 },
    scaleDown: { forbiddenAfterEventSeconds: 120 },
  });
  const at = (
    seconds: number,
    load: number,
    [from, to]: readonly [number, number] = [4, 5],
  ): number =>
    sync(spec, { replicas: 5, values: { load }, windows: scaledBefore(spec, seconds, from, to) })
      .count;
  it("closes each direction for its own time, the end allowed", () => {
    expect([at(59, 90), at(60, 90), at(61, 90)]).toEqual([5, 9, 9]);
    expect([at(119, 20), at(120, 20), at(121, 20)]).toEqual([5, 2, 2]);
  });
  it("counts from an event of either direction", () =>
    expect([at(59, 90, [6, 5]), at(119, 20, [6, 5])]).toEqual([5, 5]));
});

describe("flapBudget", () => {
  const spec = native({ flapBudget: { reversals: 2, periodSeconds: 600 } });
  const [high, low] = [{ load: 90 }, { load: 20 }];
  it("turns below and at the budget, and holds at the larger count above it", () =>
    expect(
      counts(spec, 2, [
        [0, high],
        [60, low],
        [120, high],
        [180, low],
        [240, low],
      ]),
    ).toEqual([9, 2, 9, 9, 9]));
  it("never keeps the workload from growing", () =>
    expect(
      counts(spec, 2, [
        [0, high],
        [60, low],
        [120, high],
        [180, { load: 120 }],
      ]),
    ).toEqual([9, 2, 9, 12]));
  it("has room again when a turn is exactly as old as the period", () =>
    expect(
      counts(spec, 2, [
        [0, high],
        [60, low],
        [120, high],
        [659, low],
        [660, low],
      ]),
    ).toEqual([9, 2, 9, 9, 2]));
  it("of one lets a workload that shrank grow again, and one that grew stay", () => {
    const once = native({ flapBudget: { reversals: 1, periodSeconds: 600 } });
    const down = (from: number): readonly number[] =>
      counts(once, from, [
        [0, low],
        [60, high],
        [120, low],
        [659, low],
        [660, low],
      ]);
    expect(down(9)).toEqual([2, 9, 9, 9, 2]);
    expect(
      counts(once, 2, [
        [0, high],
        [599, low],
        [600, low],
      ]),
    ).toEqual([9, 9, 2]);
  });
  it("keeps shrinking in the direction it has, which turns nothing round", () =>
    expect(
      counts(spec, 9, [
        [0, { load: 70 }],
        [60, { load: 50 }],
        [120, low],
      ]),
    ).toEqual([7, 5, 2]));
  it("says how many are made, and when there is room", () => {
    const scaled = scaledBefore(
      spec,
      60,
      2,
      9,
      scaledBefore(spec, 120, 9, 2, scaledBefore(spec, 180, 2, 9)),
    );
    const { decision } = sync(spec, { replicas: 9, values: low, windows: scaled });
    expect(decision.steps.at(-1)).toEqual({
      step: "flap",
      before: 2,
      after: 9,
      limit: {
        reason: "FlapBudget",
        value: 2,
        message: "2 of 2 reversals within 600 s are made, and the last one is kept for the way up",
        untilMs: NOON + 480_000,
      },
    });
  });
});

describe("idle", () => {
  const spec = native({
    minReplicas: 2,
    idle: { afterSeconds: 60 },
    metrics: [{ ...LOAD, activation: 5 }],
  });
  it("rests after its time at or below the threshold, and wakes straight to min above it", () =>
    expect(
      counts(spec, 4, [
        [0, { load: 5 }],
        [59, { load: 5 }],
        [60, { load: 5 }],
        [75, { load: 5 }],
        [90, { load: 5.001 }],
      ]),
    ).toEqual([2, 2, 0, 0, 2]));
  it("begins anew after use, and while the metric is missing", () => {
    expect(
      counts(spec, 2, [
        [0, { load: 0 }],
        [45, { load: 6 }],
        [60, { load: 0 }],
        [119, { load: 0 }],
        [120, { load: 0 }],
      ]),
    ).toEqual([2, 2, 2, 2, 0]);
    expect(
      counts(spec, 2, [
        [0, { load: 0 }],
        [45, {}],
        [60, { load: 0 }],
        [119, { load: 0 }],
        [120, { load: 0 }],
      ]),
    ).toEqual([2, 2, 2, 2, 0]);
  });
  it("stays at rest while it is not known whether it is in use", () => {
    const { decision, count } = sync(spec, { replicas: 0 });
    expect(count).toBe(0);
    expect(decision).toMatchObject({
      kind: "hold",
      failed: true,
      because: { reason: "ActivationUnknown" },
    });
  });
  describe("a fallback at rest", () => {
    const fallback = { action: "fallback", replicas: 5, afterSeconds: 60 };
    const missing = (more: object = {}, others: readonly object[] = []) =>
      native({
        minReplicas: 1,
        idle: { replicas: 0, afterSeconds: 0 },
        metrics: [{ ...LOAD, activation: 0, onMissing: fallback }, ...others],
        ...more,
      });
    const BESIDE = { name: "b", external: { metric: "other" }, target: 10, activation: 5 };

    it.each([
      ["wakes it when the metric has been missing for its time", missing(), [0, 0, 0, 5]],
      [
        "wakes it also where another metric says that it is not in use",
        missing({}, [BESIDE]),
        [0, 0, 0, 5],
      ],
      ["wakes to minReplicas at least", missing({ minReplicas: 3 }), [0, 0, 0, 5]],
      [
        "leaves it at rest where scaleUp is disabled",
        missing({ scaleUp: { selectPolicy: "Disabled" } }),
        [0, 0, 0, 0],
      ],
      [
        "leaves it at rest where it is written for a metric without activation",
        missing({
          metrics: [
            { ...LOAD, onMissing: fallback },
            { ...BESIDE, activation: 5 },
          ],
        }),
        [0, 0, 0, 0],
      ],
    ])("%s", (_, of, expected) => {
      expect(
        counts(of, 0, [
          [0, { load: 0, other: 0 }],
          [15, { other: 0 }],
          [74, { other: 0 }],
          [75, { other: 0 }],
        ]),
      ).toEqual(expected);
    });

    it("begins anew with one value, and says why it woke", () => {
      expect(
        counts(missing(), 0, [
          [0, {}],
          [45, { load: 0 }],
          [60, {}],
          [119, {}],
          [120, {}],
        ]),
      ).toEqual([0, 0, 0, 0, 5]);
      const windows = sync(missing(), { replicas: 0 }).windows;
      const { decision } = sync(missing(), { replicas: 0, windows, nowMs: NOON + 60_000 });
      expect(decision).toMatchObject({
        kind: "scale",
        to: 5,
        because: { reason: "WokenByFallback" },
      });
    });
  });

  it("gives no warning of pod metrics at rest without pods, and looks at the activation alone", () => {
    const mixed = native({
      minReplicas: 2,
      idle: {},
      metrics: [
        { ...LOAD, activation: 5 },
        { resource: { name: "cpu" }, target: 60 },
        { pods: { metric: "jobs" }, target: 4 },
      ],
    });
    const at = (replicas: number, load: number) =>
      sync(mixed, { replicas, values: { load } }).decision;
    expect(at(0, 5)).toMatchObject({
      kind: "hold",
      failed: false,
      because: { reason: "Idle" },
      events: [],
      metrics: [{ name: "load" }],
    });
    expect(at(0, 6)).toMatchObject({
      kind: "scale",
      to: 2,
      because: { reason: "Activated" },
      events: [],
    });
    expect(at(2, 6).events.map(({ type }) => type)).toContain("Warning");
  });
  it("wakes nothing where the way up is disabled", () => {
    const up = { scaleUp: { selectPolicy: "Disabled" } };
    const shut = native({ minReplicas: 2, idle: {}, metrics: [{ ...LOAD, activation: 5 }], ...up });
    const at = (load: number) => sync(shut, { replicas: 0, values: { load } }).decision;
    expect(at(6)).toMatchObject({
      kind: "hold",
      failed: false,
      because: { reason: "DirectionDisabled" },
    });
    expect(at(5)).toMatchObject({ kind: "hold", because: { reason: "Idle" } });
  });
  it("can rest at a count above 0", () => {
    const one_ = native({
      minReplicas: 3,
      idle: { replicas: 1, afterSeconds: 0 },
      metrics: [{ ...LOAD, activation: 5 }],
    });
    expect(
      counts(one_, 3, [
        [0, { load: 0 }],
        [15, { load: 0 }],
        [30, { load: 50 }],
        [45, { load: 50 }],
      ]),
    ).toEqual([1, 1, 3, 5]);
  });
  it("waits for a forbidden window like any scale down", () => {
    const waiting = native({
      minReplicas: 2,
      idle: { afterSeconds: 0 },
      metrics: [{ ...LOAD, activation: 5 }],
      scaleDown: { forbiddenAfterEventSeconds: 60 },
    });
    expect(
      sync(waiting, { replicas: 2, values: { load: 0 }, windows: scaledBefore(waiting, 59, 3, 2) })
        .count,
    ).toBe(2);
    expect(
      sync(waiting, { replicas: 2, values: { load: 0 }, windows: scaledBefore(waiting, 60, 3, 2) })
        .count,
    ).toBe(0);
  });
});

describe("overrides", () => {
  const paused = native({ pausedUntil: "2026-03-01T12:00:00Z" });
  const at = (nowMs: number) => sync(paused, { replicas: 5, values: { load: 90 }, nowMs });
  it("pausedUntil holds before its instant, not at it", () => {
    expect([at(NOON - 1).count, at(NOON).count, at(NOON + 1).count]).toEqual([5, 9, 9]);
    expect(at(NOON - 1).decision.steps.at(-1)).toMatchObject({
      step: "override",
      before: 9,
      after: 5,
      limit: { reason: "Paused", untilMs: NOON },
    });
  });
  it("dryRun decides and does not write", () => {
    const { decision, count } = sync(native({ dryRun: true }), {
      replicas: 5,
      values: { load: 90 },
    });
    expect(count).toBe(5);
    expect(decision.because).toEqual({
      reason: "DryRun",
      message: "load above target: dry run, the count would be 9",
    });
  });
  it("hold what the rules of another form decide as well", () => {
    const hpa = {
      metrics: [
        {
          type: "External",
          external: {
            metric: { name: "load" },
            target: { type: "AverageValue", averageValue: "10" },
          },
        },
      ],
    };
    const of = (more: object) =>
      sync(native({ rules: "hpa", hpa, ...more }), { replicas: 5, values: { load: 90 } }).count;
    expect([of({}), of({ dryRun: true }), of({ pausedUntil: "2026-03-01T12:00:01Z" })]).toEqual([
      9, 5, 5,
    ]);
  });
});
