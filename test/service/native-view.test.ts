import { describe, expect, it } from "vitest";
import { autoscalerName, autoscalerUid, namespace } from "../../lib/model/ids.ts";
import type { Evaluation } from "../../lib/model/records.ts";
import { DEFAULT_SETTINGS } from "../../lib/model/settings.ts";
import type { AutoscalerSpec } from "../../lib/model/spec.ts";
import { unmeasured } from "../../lib/service/metric-targets.ts";
import { otherwise } from "../../lib/service/otherwise.ts";
import { NO_WINDOWS, windowsView } from "../../lib/service/windows-view.ts";
import { NOON, native, scaledBefore, sync } from "../policy/tidemark/world.ts";

const METRICS = [
  { name: "load", external: { metric: "load" }, measure: "Average", target: 10, tolerance: { up: "0.2", down: "0.3" } },
  { name: "cpu", resource: { name: "cpu" }, watermarks: { low: 30, high: 60 } },
];

describe("windowsView() of the native rules", () => {
  const spec = native({
    scaleUp: { forbiddenAfterEventSeconds: 60, policies: [{ type: "Factor", value: "1.5", periodSeconds: 300 }] },
    scaleDown: { stabilizationWindowSeconds: 120, selectPolicy: "Disabled", forbiddenAfterEventSeconds: 20 },
  });
  const view = windowsView(spec, scaledBefore(spec, 30, 4, 6), { settings: DEFAULT_SETTINGS, nowMs: NOON, count: 6 });

  it("shows each direction's stabilization and forbidden window, with its end while it is closed", () => {
    expect(view.stabilization.map(({ direction, windowSeconds }) => [direction, windowSeconds])).toEqual([
      ["scaleUp", 0],
      ["scaleDown", 120],
    ]);
    expect(view.forbidden).toEqual([
      { direction: "scaleUp", windowSeconds: 60, until: "2026-05-01T12:00:30.000Z" },
      { direction: "scaleDown", windowSeconds: 20 },
    ]);
  });

  it("shows what each policy counts, and none of a disabled direction", () =>
    expect(view.rates).toMatchObject([{ direction: "scaleUp", type: "Factor", value: 1.5, periodSeconds: 300, added: 2, removed: 0 }]));
});

describe("a native autoscaler for people", () => {
  const spec = native({ metrics: METRICS });

  it("before any sync has its metrics with target or watermarks", () =>
    expect(unmeasured(spec)).toEqual([
      { kind: "unmeasured", type: "External", name: "load", target: "10" },
      { kind: "unmeasured", type: "Resource", name: "cpu", target: "30%..60%" },
    ]));

  const told = (of: AutoscalerSpec, load: number): readonly string[] => {
    const { decision } = sync(of, { replicas: 10, values: { load } });
    const evaluation: Evaluation = {
      uid: autoscalerUid("u"),
      namespace: namespace("shop"),
      name: autoscalerName("web"),
      kind: decision.kind,
      failed: decision.kind === "hold" && decision.failed,
      from: 10,
      because: decision.because,
      metrics: decision.metrics,
      steps: decision.steps,
      events: [],
    };
    return otherwise({ evaluation, spec: of, settings: DEFAULT_SETTINGS, windows: NO_WINDOWS });
  };

  it("says by its own tolerances what would have to change", () =>
    expect(told(native({ metrics: METRICS.slice(0, 1) }), 100)).toEqual([
      "load is at 10 against 10: above 12 it would ask for more than 10, below 7 for fewer",
    ]));

  it("says between which marks the count would stay", () => {
    const { target: _one, tolerance: _none, ...load } = METRICS[0] ?? {};
    expect(told(native({ metrics: [{ ...load, watermarks: { low: 5, high: 15 } }] }), 200)).toEqual([
      "load is at 20 and asks for 14: between its marks 5..15, both included, the count would stay at 10",
    ]);
  });

  it("names a step that held the count, and when it ends", () => {
    const sentences = told(native({ metrics: METRICS.slice(0, 1), scaleUp: { sustainSeconds: 60 } }), 200);
    expect(sentences.at(-1)).toMatch(/^sustain: the breach has not lasted 60 s until .*12:01.*; without it the count would be 20 instead of 10$/);
  });
});
