import { describe, expect, it } from "vitest";
import { DEFAULT_SETTINGS } from "../../lib/rules/model/spec-common.ts";
import type { AutoscalerSpec } from "../../lib/rules/model/spec.ts";
import { type Condition, NEW_WINDOWS, type Windows } from "../../lib/rules/model/windows.ts";
import { windowStates } from "../../lib/rules/policy/dialects.ts";
import { NOON } from "../noon.ts";
import { hpa } from "./multi-threshold/world.ts";
import { LOAD, native } from "./native/world.ts";
import { specOf } from "./spec-of.ts";
import { wpa } from "./watermark/world.ts";

const told = (spec: AutoscalerSpec, windows: Windows = NEW_WINDOWS) =>
  windowStates(spec, windows, { settings: DEFAULT_SETTINGS, nowMs: NOON, count: 9 });

const remembering = (
  memory: Partial<Windows["memory"]>,
  status: Partial<Windows["status"]> = {},
): Windows => ({
  memory: { ...NEW_WINDOWS.memory, ...memory },
  status: { ...NEW_WINDOWS.status, ...status },
});

const ago = (seconds: number): number => NOON - seconds * 1000;
const later = (seconds: number): number => NOON + seconds * 1000;
const since = (type: string, seconds: number): Condition => ({
  type,
  status: "True",
  reason: "r",
  message: "m",
  transitionMs: ago(seconds),
});

describe("the windows of native rules", () => {
  const policies = [{ type: "Pods", value: 4, periodSeconds: 60 }];
  const direction = (seconds: number, more: object = {}) => ({
    stabilizationWindowSeconds: seconds,
    policies,
    ...more,
  });
  const plain = native({ scaleUp: direction(0), scaleDown: direction(60) });
  const rate = (more: object) => ({
    type: "Pods",
    value: 4,
    periodSeconds: 60,
    countedChanges: "Both",
    limiting: [],
    giving: [],
    ...more,
  });

  it("are those of the manifest, and all open, before the first decision; what the manifest has not is not shown", () =>
    expect(told(plain)).toStrictEqual({
      recommendations: [],
      stabilization: [
        { direction: "scaleUp", windowMs: 0 },
        { direction: "scaleDown", windowMs: 60_000 },
      ],
      rates: [rate({ direction: "scaleUp" }), rate({ direction: "scaleDown" })],
      forbidden: [],
      timers: [],
    }));

  it("show what was recommended, and until when the highest of it holds the way down", () => {
    const recommendations = [
      { replicas: 9, firstMs: ago(45), lastMs: ago(30) },
      { replicas: 2, firstMs: ago(15), lastMs: ago(15) },
    ];
    const { recommendations: shown, stabilization } = told(plain, remembering({ recommendations }));
    expect(shown).toEqual(recommendations);
    expect(stabilization[1]).toEqual({
      direction: "scaleDown",
      windowMs: 60_000,
      held: { direction: "down", replicas: 9, untilMs: later(30), wantedMs: ago(30) },
    });
    expect(stabilization[0]).not.toHaveProperty("held");
  });

  it("show the amount of each policy as the manifest has it, for each direction", () => {
    const spec = native({
      scaleUp: direction(0, { policies: [{ type: "Factor", value: "1.5", periodSeconds: 60 }] }),
      scaleDown: direction(0, {
        policies: [{ type: "Percent", value: 10, periodSeconds: 90 }],
        countedChanges: "SameDirection",
      }),
    });
    expect(told(spec).rates).toEqual([
      rate({ direction: "scaleUp", type: "Factor", value: 1.5 }),
      rate({
        direction: "scaleDown",
        type: "Percent",
        value: 10,
        periodSeconds: 90,
        countedChanges: "SameDirection",
      }),
    ]);
  });

  it("show the scales inside the period of a policy: its own direction uses the limit up, the other one gives room", () => {
    const [up, down] = [
      { change: 3, atMs: ago(59) },
      { change: 1, atMs: ago(10) },
    ] as const;
    const { rates } = told(
      plain,
      remembering({ scaleUps: [{ change: 2, atMs: ago(60) }, up], scaleDowns: [down] }),
    );
    const [added, removed] = [
      { ...up, leavesMs: later(1) },
      { ...down, leavesMs: later(50) },
    ];
    expect(rates).toEqual([
      rate({ direction: "scaleUp", limiting: [added], giving: [removed] }),
      rate({ direction: "scaleDown", limiting: [removed], giving: [added] }),
    ]);
  });

  it("close each direction for its own time after the last scale", () => {
    const spec = native({
      scaleUp: direction(0, { forbiddenAfterEventSeconds: 60 }),
      scaleDown: direction(0, { forbiddenAfterEventSeconds: 120 }),
    });
    expect(told(spec, remembering({}, { lastScaleMs: ago(60) })).forbidden).toEqual([
      { direction: "scaleUp", windowMs: 60_000 },
      { direction: "scaleDown", windowMs: 120_000, untilMs: later(60) },
    ]);
  });

  it("time each breach, rest, and each missing metric that has a fallback, for as long as each must last", () => {
    const onMissing = { action: "fallback", replicas: 7, afterSeconds: 300 };
    const spec = native({
      minReplicas: 2,
      idle: { afterSeconds: 900 },
      metrics: [
        { ...LOAD, name: "load", onMissing, activation: 5 },
        {
          ...LOAD,
          name: "jobs",
          external: { metric: "jobs" },
          onMissing: { action: "scaleUpOnly" },
        },
        { ...LOAD, name: "queue", external: { metric: "queue" } },
      ],
      scaleUp: direction(0, { sustainSeconds: 30 }),
      scaleDown: direction(0, { sustainSeconds: 60 }),
    });
    const names = [
      "Scale up sustain",
      "Scale down sustain",
      "Out of use",
      "Fallback of load",
    ] as const;
    const [up, down, rest, fallback] = names;
    expect(told(spec).timers).toStrictEqual([
      { name: up, seconds: 30 },
      { name: down, seconds: 60 },
      { name: rest, seconds: 900 },
      { name: fallback, seconds: 300 },
    ]);
    const conditions = [
      since("BreachAbove", 10),
      since("BreachBelow", 20),
      since("Idle", 30),
      since("MetricMissing:load", 40),
    ];
    expect(told(spec, remembering({}, { conditions })).timers).toEqual([
      { name: up, seconds: 30, lasting: { sinceMs: ago(10), untilMs: later(20) } },
      { name: down, seconds: 60, lasting: { sinceMs: ago(20), untilMs: later(40) } },
      { name: rest, seconds: 900, lasting: { sinceMs: ago(30), untilMs: later(870) } },
      { name: fallback, seconds: 300, lasting: { sinceMs: ago(40), untilMs: later(260) } },
    ]);
  });

  it("show how many reversals of the flap budget are made, and when there is room again", () => {
    const spec = native({ flapBudget: { reversals: 2, periodSeconds: 600 } });
    expect(told(spec).flap).toStrictEqual({ reversals: 2, periodSeconds: 600, made: 0 });
    const turns = remembering({
      scaleUps: [
        { change: 1, atMs: ago(300) },
        { change: 1, atMs: ago(100) },
      ],
      scaleDowns: [{ change: 1, atMs: ago(200) }],
    });
    // There is room once the first two scales have left: the third, a scale down and one up after
    // it make two reversals.
    expect(told(spec, turns).flap).toStrictEqual({
      reversals: 2,
      periodSeconds: 600,
      made: 2,
      untilMs: later(400),
    });
  });
});

describe("the windows of the first design", () => {
  it("are closed for three minutes upwards and for five minutes downwards after any scale, and there are no others", () => {
    const spec = specOf(
      hpa(
        { scaleRef: { kind: "Deployment", name: "web" }, cpuUtilization: { targetPercentage: 60 } },
        "extensions/v1beta1",
      ),
    );
    expect(
      told(
        spec,
        remembering(
          { recommendations: [{ replicas: 9, firstMs: NOON, lastMs: NOON }] },
          { lastScaleMs: ago(60) },
        ),
      ),
    ).toStrictEqual({
      recommendations: [],
      stabilization: [],
      rates: [],
      forbidden: [
        { direction: "scaleUp", windowMs: 180_000, untilMs: later(120) },
        { direction: "scaleDown", windowMs: 300_000, untilMs: later(240) },
      ],
    });
  });
});

describe("the windows of watermarks", () => {
  const windows = { upscaleForbiddenWindowSeconds: 60, downscaleForbiddenWindowSeconds: 300 };

  it("are closed after any scale, each for its own time; without a delay nothing must last", () =>
    expect(told(wpa(windows), remembering({}, { lastScaleMs: ago(10) }))).toStrictEqual({
      recommendations: [],
      stabilization: [],
      rates: [],
      forbidden: [
        { direction: "scaleUp", windowMs: 60_000, untilMs: later(50) },
        { direction: "scaleDown", windowMs: 300_000, untilMs: later(290) },
      ],
      timers: [],
    }));

  it("time how long a value has been above its high mark, or below its low one", () => {
    const spec = wpa({
      ...windows,
      upscaleDelayAboveWatermarkSeconds: 30,
      downscaleDelayBelowWatermarkSeconds: 90,
    });
    const conditions = [since("AboveHighWatermark", 10), since("BelowLowWatermark", 20)];
    expect(told(spec, remembering({}, { conditions })).timers).toEqual([
      { name: "Scale up delay", seconds: 30, lasting: { sinceMs: ago(10), untilMs: later(20) } },
      { name: "Scale down delay", seconds: 90, lasting: { sinceMs: ago(20), untilMs: later(70) } },
    ]);
  });
});
