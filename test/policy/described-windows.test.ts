import fc from "fast-check";
import { afterAll, describe, expect, it } from "vitest";
import type { StepOutcome } from "../../lib/rules/model/decision.ts";
import { DEFAULT_SETTINGS } from "../../lib/rules/model/spec-common.ts";
import type { AutoscalerSpec } from "../../lib/rules/model/spec.ts";
import { type Condition, NEW_WINDOWS, type Windows } from "../../lib/rules/model/windows.ts";
import { windowStates } from "../../lib/rules/policy/dialects.ts";
import type {
  Direction,
  RateState,
  WindowStates,
} from "../../lib/rules/policy/shared/window-states.ts";
import { NOON } from "../noon.ts";
import { loadManifest } from "./loop.ts";
import { decisionOf, hpa } from "./multi-threshold/world.ts";
import { native } from "./native/world.ts";
import { runs, UNDER_MUTATION } from "../runs.ts";
import { specOf } from "./spec-of.ts";
import { wpa } from "./watermark/world.ts";

/**
 * Every time is a whole number of these before noon, so that the very end of a window is met often.
 */
const GRID_SECONDS = 15;
const seconds = fc.integer({ min: 0, max: 8 }).map((steps) => steps * GRID_SECONDS);
const pastMs = seconds.map((ago) => NOON - ago * 1000);
const period = fc.constantFrom(15, 30, 60);

/** Lengths of everything that a spec may have a window of. */
const lengths = fc.record({
  up: seconds,
  down: seconds,
  upAfter: seconds,
  downAfter: seconds,
  pods: fc.integer({ min: 1, max: 6 }),
  period,
});
type Lengths = typeof lengths extends fc.Arbitrary<infer Value> ? Value : never;

const rulesOf = (stabilizationWindowSeconds: number, { pods, period: periodSeconds }: Lengths) => ({
  stabilizationWindowSeconds,
  policies: [{ type: "Pods", value: pods, periodSeconds }],
});
const behaviorOf = (own: Lengths) => ({
  behavior: { scaleUp: rulesOf(own.up, own), scaleDown: rulesOf(own.down, own) },
});
const marks = {
  type: "External",
  external: { metric: { name: "load" }, highWatermark: "10", lowWatermark: "4" },
};
const forbidden = ({ upAfter, downAfter }: Lengths) => ({
  upscaleForbiddenWindowSeconds: upAfter,
  downscaleForbiddenWindowSeconds: downAfter,
});
const nativeRules = (
  stabilization: number,
  after: number,
  sustainSeconds: number,
  own: Lengths,
) => ({
  ...rulesOf(stabilization, own),
  forbiddenAfterEventSeconds: after,
  sustainSeconds,
});

const SPECS: Readonly<Record<string, (own: Lengths) => AutoscalerSpec>> = {
  "hpa without behavior": () => specOf(loadManifest({})),
  "hpa with behavior": (own) => specOf(loadManifest(behaviorOf(own))),
  "multi-threshold": (own) =>
    specOf(hpa({ metrics: [marks], ...behaviorOf(own), ...forbidden(own) })),
  "the first design": () =>
    specOf(
      hpa({ scaleRef: TARGET, cpuUtilization: { targetPercentage: 50 } }, "extensions/v1beta1"),
    ),
  watermark: (own) => ({
    ...wpa({
      ...forbidden(own),
      downscaleForbiddenWindowSeconds: Math.max(1, own.downAfter),
      upscaleForbiddenWindowSeconds: Math.max(1, own.upAfter),
    }),
    upscaleDelayAboveWatermarkSeconds: own.up,
    downscaleDelayBelowWatermarkSeconds: own.down,
    average: true,
  }),
  native: (own) =>
    native({
      scaleUp: nativeRules(own.up, own.upAfter, own.up, own),
      scaleDown: nativeRules(own.down, own.downAfter, own.down, own),
      flapBudget: { reversals: 2, periodSeconds: 105 },
    }),
};
const TARGET = { apiVersion: "apps/v1", kind: "Deployment", name: "web" };

/** Conditions that one dialect or another measures time by, all of them true since some time. */
const TIMED = ["BreachAbove", "BreachBelow", "AboveHighWatermark", "BelowLowWatermark"];
const conditionsOf = (times: readonly number[]): readonly Condition[] =>
  times.flatMap((transitionMs, at) =>
    TIMED[at] === undefined
      ? []
      : [{ type: TIMED[at], status: "True", reason: "r", message: "m", transitionMs }],
  );

const change = fc.record(
  { change: fc.integer({ min: 1, max: 4 }), atMs: pastMs },
  { noNullPrototype: true },
);
const remembered: fc.Arbitrary<Windows> = fc
  .record({
    // No sync comes twice at one instant.
    runs: fc.array(
      fc.record({
        replicas: fc.integer({ min: 1, max: 12 }),
        atMs: pastMs.filter((atMs) => atMs < NOON),
      }),
      { maxLength: 5 },
    ),
    scaleUps: fc.array(change, { maxLength: 4 }),
    scaleDowns: fc.array(change, { maxLength: 4 }),
    // The windows of the first design are 3 and 5 minutes long.
    last: fc.option(
      fc.oneof({ weight: 3, arbitrary: pastMs }, fc.constantFrom(NOON - 180_000, NOON - 300_000)),
      { nil: undefined },
    ),
    breaches: fc.array(pastMs, { minLength: 4, maxLength: 4 }),
  })
  .map(({ runs: recommended, scaleUps, scaleDowns, last, breaches }) => ({
    memory: {
      recommendations: recommended
        .toSorted((one, other) => one.atMs - other.atMs)
        .map(({ replicas, atMs }) => ({ replicas, firstMs: atMs, lastMs: atMs })),
      scaleUps,
      scaleDowns,
    },
    status: {
      ...NEW_WINDOWS.status,
      conditions: conditionsOf(breaches),
      ...(last !== undefined && { lastScaleMs: last }),
    },
  }));

/**
 * What was compared, by dialect, step and outcome: so that the property is known to say something.
 */
const compared = new Set<string>();

interface Seen {
  readonly from: number;
  /** The windows that the sync began with, and those that it left. */
  readonly before: WindowStates;
  readonly after: WindowStates;
}

const directionOf = ({ before }: StepOutcome, { from }: Seen): Direction =>
  before > from ? "scaleUp" : "scaleDown";

const forbiddenUntil = (step: StepOutcome, seen: Seen): number | undefined =>
  seen.before.forbidden?.find(({ direction }) => direction === directionOf(step, seen))?.untilMs;

const timerFor = (step: StepOutcome, seen: Seen) =>
  seen.after.timers?.find(({ name }) =>
    name.startsWith(directionOf(step, seen) === "scaleUp" ? "Scale up" : "Scale down"),
  );

const sum = (changes: RateState["limiting"]): number =>
  changes.reduce((total, { change: pods }) => total + pods, 0);

/** The count that the one policy of a direction allows, from what is shown of it. */
const allowedBy = ({ direction, value, limiting, giving }: RateState, from: number): number =>
  direction === "scaleUp"
    ? Math.max(from, from - sum(limiting) + sum(giving) + value)
    : Math.min(from, from + sum(limiting) - sum(giving) - value);

const lasted = (step: StepOutcome, seen: Seen): void => {
  const timer = timerFor(step, seen);
  const untilMs = timer?.lasting?.untilMs;
  if (step.limit)
    expect([untilMs, untilMs === undefined || untilMs > NOON]).toEqual([step.limit.untilMs, true]);
  else if (timer && timer.seconds > 0) expect(untilMs).toBeLessThanOrEqual(NOON);
};

/** What each step used, against what is said of its window. */
const CHECKS: Readonly<Record<string, (step: StepOutcome, seen: Seen) => void>> = {
  stabilize: ({ limit }, { after }) => {
    const held = after.stabilization.flatMap((window) =>
      window.held ? [[window.direction, window.held.replicas, window.held.untilMs]] : [],
    );
    expect(held).toEqual(
      limit
        ? [
            [
              limit.reason === "ScaleUpStabilized" ? "scaleUp" : "scaleDown",
              limit.value,
              limit.untilMs,
            ],
          ]
        : [],
    );
  },
  "cool down": (step, seen) => expect(forbiddenUntil(step, seen)).toBe(step.limit?.untilMs),
  "forbidden windows": (step, seen) => expect(forbiddenUntil(step, seen)).toBe(step.limit?.untilMs),
  gates: (step, seen) => {
    if (!step.limit?.reason.endsWith("NotSustained"))
      expect(forbiddenUntil(step, seen)).toBe(step.limit?.untilMs);
    if (!step.limit?.reason.startsWith("Backoff")) lasted(step, seen);
  },
  sustain: lasted,
  flap: ({ limit, before }, { before: shown, from }) => {
    if (before < from) expect(shown.flap?.untilMs).toBe(limit?.untilMs);
    if (limit) expect(limit.message).toContain(`${shown.flap?.made} of 2 reversals`);
  },
  limit: (step, { before, from }) => {
    const direction =
      step.limit?.reason === "ScaleUpLimit"
        ? "scaleUp"
        : step.limit?.reason === "ScaleDownLimit"
          ? "scaleDown"
          : undefined;
    const rate = before.rates.find((one) => one.direction === direction);
    if (rate) expect(allowedBy(rate, from)).toBe(step.after);
  },
};

interface Case {
  readonly own: Lengths;
  readonly windows: Windows;
  readonly from: number;
  /** Of the metric, or of the CPU of each pod. */
  readonly value: number;
  readonly downscaleSeconds: number;
}

const cases: fc.Arbitrary<Case> = fc.record({
  own: lengths,
  windows: remembered,
  from: fc.integer({ min: 1, max: 12 }),
  value: fc.integer({ min: 0, max: 150 }),
  downscaleSeconds: seconds,
});

const saysWhatWasUsed = (
  dialect: string,
  specOfCase: (own: Lengths) => AutoscalerSpec,
  { own, windows, from, value, downscaleSeconds }: Case,
): void => {
  const spec = specOfCase(own);
  const settings = {
    ...DEFAULT_SETTINGS,
    tolerance: 0,
    downscaleStabilizationMs: downscaleSeconds * 1000,
  };
  const decision = decisionOf(
    spec,
    from,
    { at: 0, value: dialect.startsWith("hpa") ? value / 10 : value, perPod: value },
    { windows, settings },
  );
  const moment = { settings, nowMs: NOON, count: from };
  const seen = {
    from,
    before: windowStates(spec, windows, moment),
    after: windowStates(spec, decision.windows, moment),
  };
  // The first decision of the watermark rules passes every gate (watermark.md 2.9).
  if (dialect === "watermark" && windows.status.lastScaleMs === undefined) return;
  for (const step of decision.steps) {
    const check = step.before === from && step.step !== "stabilize" ? undefined : CHECKS[step.step];
    check?.(step, seen);
    if (check) compared.add(`${dialect}: ${step.step} ${step.limit ? "held" : "passed"}`);
  }
};

describe("what is said of the windows", () => {
  it.each(Object.entries(SPECS))(
    "is always what the steps of the decision used, at the very end of a window too: %s",
    (dialect, specOfCase) =>
      fc.assert(
        fc.property(cases, (one) => saysWhatWasUsed(dialect, specOfCase, one)),
        runs(600),
      ),
  );
});

// The few runs of a mutation test do not reach every step.
afterAll(() => {
  if (UNDER_MUTATION) return;
  expect([...compared].sort()).toEqual(
    [
      ...["hpa without behavior", "hpa with behavior", "multi-threshold", "native"].flatMap(
        (dialect) => [`${dialect}: stabilize`, `${dialect}: limit`],
      ),
      "multi-threshold: forbidden windows",
      "the first design: cool down",
      "watermark: gates",
      "native: sustain",
      "native: cool down",
      "native: flap",
    ]
      .flatMap((what) => [`${what} held`, `${what} passed`])
      .sort(),
  );
});
