import { describe, expect, it } from "vitest";
import { autoscalerName, autoscalerUid, namespace } from "../../lib/rules/model/ids.ts";
import { DEFAULT_SETTINGS } from "../../lib/rules/model/spec-common.ts";
import type { AutoscalerSpec } from "../../lib/rules/model/spec.ts";
import { NEW_WINDOWS, type Windows } from "../../lib/rules/model/windows.ts";
import { NO_WINDOWS, windowsView } from "../../lib/answers/service/explain/describe.ts";
import { whatIf } from "../../lib/answers/service/explain/what-if.ts";
import { unmeasured } from "../../lib/stack/projections/metric-readings.ts";
import { NOON } from "../noon.ts";
import { metricsInDetail } from "../../lib/rules/policy/decide.ts";
import { native, scaledBefore, sync } from "../policy/native/world.ts";
import type { Evaluation } from "../../lib/rules/model/scale-records.ts";

const METRICS = [
  {
    name: "load",
    external: { metric: "load" },
    measure: "Average",
    target: 10,
    tolerance: { up: "0.2", down: "0.3" },
  },
  { name: "cpu", resource: { name: "cpu" }, watermarks: { low: 30, high: 60 } },
];

describe("windowsView() of the native rules", () => {
  const spec = native({
    scaleUp: {
      forbiddenAfterEventSeconds: 60,
      policies: [{ type: "Factor", value: "1.5", periodSeconds: 300 }],
    },
    scaleDown: {
      stabilizationWindowSeconds: 120,
      selectPolicy: "Disabled",
      forbiddenAfterEventSeconds: 20,
    },
  });
  const view = windowsView(spec, scaledBefore(spec, 30, 4, 6), {
    settings: DEFAULT_SETTINGS,
    nowMs: NOON,
    count: 6,
  });

  it("shows each direction's stabilization and forbidden window, with its end while it is closed", () => {
    expect(
      view.stabilization.map(({ direction, windowSeconds }) => [direction, windowSeconds]),
    ).toEqual([
      ["scaleUp", 0],
      ["scaleDown", 120],
    ]);
    expect(view.forbidden).toEqual([
      { direction: "scaleUp", windowSeconds: 60, until: "2026-03-01T12:00:30.000Z" },
      { direction: "scaleDown", windowSeconds: 20 },
    ]);
  });

  it("shows what each policy counts, and none of a disabled direction", () =>
    expect(view.rates).toMatchObject([
      {
        direction: "scaleUp",
        type: "Factor",
        value: 1.5,
        periodSeconds: 300,
        added: 2,
        removed: 0,
      },
    ]));
});

describe("windowsView() of what must last, and of what is used up", () => {
  const seconds = (of: number): string => new Date(NOON + of * 1000).toISOString();
  const view = (spec: AutoscalerSpec, windows: Windows, nowMs = NOON) =>
    windowsView(spec, windows, { settings: DEFAULT_SETTINGS, nowMs, count: 5 });

  it("times a breach, and knows none that is over", () => {
    const spec = native({ scaleUp: { sustainSeconds: 60 }, scaleDown: { sustainSeconds: 90 } });
    const { windows } = sync(spec, { replicas: 5, values: { load: 90 } });
    expect(view(spec, windows).timers).toEqual([
      { name: "Scale up sustain", seconds: 60, since: seconds(0), until: seconds(60) },
      { name: "Scale down sustain", seconds: 90 },
    ]);
  });

  it("times rest, and a missing metric with a fallback", () => {
    const metrics = [
      { external: { metric: "load" }, target: 10, activation: 5 },
      {
        external: { metric: "lag" },
        target: 10,
        onMissing: { action: "fallback", replicas: 7, afterSeconds: 45 },
      },
    ];
    const spec = native({ minReplicas: 2, idle: { afterSeconds: 120 }, metrics });
    const { windows } = sync(spec, { replicas: 5, values: { load: 1 } });
    expect(view(spec, windows).timers).toEqual([
      { name: "Out of use", seconds: 120, since: seconds(0), until: seconds(120) },
      { name: "Fallback of lag", seconds: 45, since: seconds(0), until: seconds(45) },
    ]);
  });

  it("counts reversals, and says when there is room for a scale down", () => {
    const spec = native({ flapBudget: { reversals: 2, periodSeconds: 600 } });
    const two = scaledBefore(spec, 60, 9, 2, scaledBefore(spec, 120, 2, 9));
    expect(view(spec, two).flap).toEqual({ reversals: 2, periodSeconds: 600, made: 1 });
    expect(view(spec, scaledBefore(spec, 30, 2, 9, two)).flap).toEqual({
      reversals: 2,
      periodSeconds: 600,
      made: 2,
      until: seconds(540),
    });
    expect(view(native(), two).flap).toBeUndefined();
  });

  it("shows the manifest's own pause until it has passed", () => {
    const spec = native({ pausedUntil: "2026-03-01T12:00:01Z" });
    expect([
      view(spec, NEW_WINDOWS).pausedUntil,
      view(spec, NEW_WINDOWS, NOON + 1000).pausedUntil,
    ]).toEqual([seconds(1), undefined]);
  });

  it("times the breaches of the watermark dialect", () => {
    const external = { metricName: "load", metricSelector: {}, highWatermark: 4, lowWatermark: 2 };
    const delays = {
      upscaleDelayAboveWatermarkSeconds: 40,
      downscaleDelayBelowWatermarkSeconds: 0,
    };
    const spec = native({
      rules: "watermark",
      watermark: { metrics: [{ type: "External", external }], ...delays },
    });
    const conditions = [
      { type: "AboveHighWatermark", status: "True", reason: "", message: "", transitionMs: NOON },
    ] as const;
    expect(
      view(spec, { ...NEW_WINDOWS, status: { ...NEW_WINDOWS.status, conditions } }).timers,
    ).toEqual([{ name: "Scale up delay", seconds: 40, since: seconds(0), until: seconds(40) }]);
  });

  it("shows the pauses of the first design, from the last scale on", () => {
    const spec = native({ rules: "hpa", hpa: { cpuUtilization: { targetPercentage: 60 } } });
    const { forbidden, stabilization } = view(spec, scaledBefore(spec, 200, 2, 5));
    expect(stabilization).toEqual([]);
    expect(forbidden).toEqual([
      { direction: "scaleUp", windowSeconds: 180 },
      { direction: "scaleDown", windowSeconds: 300, until: seconds(100) },
    ]);
  });
});

describe("a native autoscaler for people", () => {
  const spec = native({ metrics: METRICS });

  it("before any sync has its metrics with target or watermarks", () =>
    expect(unmeasured(spec)).toEqual([
      { kind: "unmeasured", type: "External", name: "load", target: "10" },
      { kind: "unmeasured", type: "Resource", name: "cpu", target: "30%..60%" },
    ]));

  const told = (of: AutoscalerSpec, load: number, from = 10): readonly string[] => {
    const { input, decision } = sync(of, { replicas: from, values: { load } });
    const evaluation: Evaluation = {
      uid: autoscalerUid("u"),
      namespace: namespace("shop"),
      name: autoscalerName("web"),
      kind: decision.kind,
      failed: decision.kind === "hold" && decision.failed,
      from,
      because: decision.because,
      metrics: metricsInDetail(decision, input),
      steps: decision.steps,
      events: [],
    };
    return whatIf({ evaluation, spec: of, windows: NO_WINDOWS });
  };

  it("says by its own tolerances what would have to change", () =>
    expect(told(native({ metrics: METRICS.slice(0, 1) }), 100)).toEqual([
      "load is at 10 against 10: from 12.01 it would ask for more than 10, below 7 for fewer",
    ]));

  it("says between which marks the count would stay", () => {
    const { target: _one, tolerance: _none, ...load } = METRICS[0] ?? {};
    expect(told(native({ metrics: [{ ...load, watermarks: { low: 5, high: 15 } }] }), 200)).toEqual(
      ["load is at 20 against 5..15 and asks for 14: below 15.01 it would ask for no more than 10"],
    );
  });

  const two = (
    more: Readonly<Record<string, unknown>>,
    of: readonly object[] = [{}, {}],
  ): AutoscalerSpec =>
    native({
      ...more,
      metrics: of.map((one, at) => ({
        name: `m${at}`,
        external: { metric: "load" },
        measure: "Average",
        target: 10 * (at + 1),
        ...one,
      })),
    });

  it("names the metric that decides, by how they are combined", () => {
    expect(told(two({ combine: "Max" }), 200)[0]).toMatch(
      /^m0 decides, because it asks for most; it is at 20 against 10 and asks for 20: /,
    );
    expect(told(two({ combine: "Min" }), 400)[0]).toMatch(
      /^m1 decides, because it asks for least; it is at 40 against 20 and asks for 20: /,
    );
    expect(told(two({ combine: "Mean" }), 400)).toEqual([
      "The mean decides: m0 for 40, m1 for 20 make 30, rounded up; another count needs another value of any of them",
    ]);
    // One that may only scale up has no say on the way down.
    expect(told(two({ combine: "Min" }, [{}, { scaleUpOnly: true }]), 50)[0]).toMatch(
      /^m0 decides, because it asks for least; it is at 5 against 10/,
    );
  });

  it("says which missing metric everything waits for, and how long", () => {
    const waiting = (onMissing: object): AutoscalerSpec =>
      native({
        metrics: [...METRICS.slice(0, 1), { external: { metric: "lag" }, target: 1, onMissing }],
      });
    expect(told(waiting({}), 100)[0]).toBe("Nothing is decided until lag can be read");
    expect(told(waiting({ action: "fallback", replicas: 7, afterSeconds: 60 }), 100)[0]).toBe(
      "Nothing is decided until lag can be read, or was missing for 60 s: then its fallback of 7 counts",
    );
    expect(told(waiting({ action: "scaleUpOnly" }), 100)[0]).toBe(
      "The count cannot fall while a metric cannot be read: lag",
    );
  });

  it("says what wakes a workload at rest, and how one that was stopped begins again", () => {
    const resting = native({
      minReplicas: 2,
      idle: {},
      metrics: [{ external: { metric: "load" }, target: 10, activation: "1.5" }],
    });
    expect(told(resting, 1, 0)).toEqual(["It rests: load above 1500m would wake it straight to 2"]);
    expect(told(native(), 1, 0)).toContain(
      "The count of 0 was written by hand, so scaling is off; set the count to 1 or more by hand to turn it on",
    );
  });

  it("says what lies above and below the marks", () => {
    const { target: _one, tolerance: _none, ...load } = METRICS[0] ?? {};
    expect(told(native({ metrics: [{ ...load, watermarks: { low: 5, high: 15 } }] }), 100)).toEqual(
      [
        "load is at 10 against 5..15: from 15.01 it would ask for more than 10, below 4.51 for fewer",
      ],
    );
  });

  it("names a step that held the count, and when it ends", () => {
    const sentences = told(
      native({ metrics: METRICS.slice(0, 1), scaleUp: { sustainSeconds: 60 } }),
      200,
    );
    expect(sentences.at(-1)).toMatch(
      /^sustain: the breach has not lasted 60 s until .*12:01.*; without it the count would be 20 instead of 10$/,
    );
  });
});
