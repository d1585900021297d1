import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { SetByPeople, OverrideSet } from "../../../lib/rules/model/override.ts";
import type { ScheduleEntry } from "../../../lib/rules/model/schedule.ts";
import type { AutoscalerSpec } from "../../../lib/rules/model/spec.ts";
import { NEW_WINDOWS } from "../../../lib/rules/model/windows.ts";
import { effectiveBounds } from "../../../lib/rules/policy/bounds/effective-bounds.ts";
import { decide } from "../../../lib/rules/policy/decide.ts";
import { afterWrite, withScale } from "../../../lib/rules/policy/dialects.ts";
import { NOON } from "../../noon.ts";
import type { AppliedSync } from "../applied-sync.ts";
import { anyDecideInput } from "../arbitraries.ts";
import { LOAD, native, sync } from "../native/world.ts";
import { runs } from "../../runs.ts";
import { entry, override } from "./schedules.ts";

const with_ = (spec: AutoscalerSpec, ...schedule: readonly ScheduleEntry[]): AutoscalerSpec => ({
  ...spec,
  schedule,
});

const set = (bounds: OverrideSet, untilMs = Number.MAX_SAFE_INTEGER): SetByPeople => ({
  overrides: [override("autoscaler", bounds, { untilMs, reason: "incident 4711" })],
  calendars: [],
});

/** The whole day of NOON and the days beside it. */
const ALWAYS = entry({ name: "always", timeZone: "Etc/UTC", from: "00:00", to: "24:00" });

const scaled = (
  spec: AutoscalerSpec,
  replicas: number,
  load: number | undefined,
  setByPeople?: SetByPeople,
): AppliedSync =>
  sync(spec, {
    replicas,
    values: load === undefined ? {} : { load },
    ...(setByPeople && { setByPeople }),
  });

describe("decide() within the bounds of a schedule or an override", () => {
  it("goes straight to a floor, names the entry, and says how far the rules would have gone", () => {
    const { decision } = scaled(with_(native(), { ...ALWAYS, minReplicas: 10 }), 3, 50);
    expect(decision).toMatchObject({
      kind: "scale",
      from: 3,
      to: 10,
      ruled: 5,
      because: { reason: "SetMinimum" },
    });
    expect(decision.because.message).toBe(
      'load above target: minReplicas is 10 by the schedule "always"',
    );
    expect(decision.steps.at(-1)).toMatchObject({
      step: "set bounds",
      before: 5,
      after: 10,
      limit: { value: 10, untilMs: NOON + 12 * 3_600_000 },
    });
  });

  it("goes straight to a ceiling, past policies and windows", () => {
    const slow = native({
      scaleDown: {
        stabilizationWindowSeconds: 600,
        policies: [{ type: "Pods", value: 1, periodSeconds: 60 }],
      },
    });
    expect(scaled(slow, 20, 200, set({ max: 6 })).decision).toMatchObject({
      kind: "scale",
      to: 6,
      ruled: 20,
      because: {
        reason: "SetMaximum",
        message:
          'no metric asks for another count: maxReplicas is 6 by the override "o1" of anna: incident 4711',
      },
    });
  });

  it("reaches a floor while the metrics are missing, and holds at a ceiling that they want to pass", () => {
    expect(scaled(with_(native(), { ...ALWAYS, minReplicas: 10 }), 3, undefined).count).toBe(10);
    const { decision, count } = scaled(native(), 6, 200, set({ min: 6, max: 6 }));
    expect(count).toBe(6);
    expect(decision).toMatchObject({
      kind: "hold",
      failed: false,
      because: { reason: "SetMaximum" },
    });
  });

  it("wakes an idle workload for a floor, and leaves it at rest once the floor has ended", () => {
    const idle = native({ idle: { afterSeconds: 0 }, metrics: [{ ...LOAD, activation: 5 }] });
    expect(scaled(idle, 0, 0).count).toBe(0);
    expect(scaled(with_(idle, { ...ALWAYS, minReplicas: 1 }), 0, 0).count).toBe(1);
    expect(scaled(with_(idle, { ...ALWAYS, minReplicas: 4 }), 4, 0).count).toBe(4);
    expect(scaled(idle, 4, 0).count).toBe(0);
  });

  it("leaves a workload at zero that a person has stopped", () => {
    expect(scaled(with_(native(), { ...ALWAYS, minReplicas: 4 }), 0, 100).decision).toMatchObject({
      kind: "hold",
      because: { reason: "ScalingDisabled" },
    });
  });

  it("lets the count fall by metrics, windows and policies once a floor has fallen", () => {
    const slow = native({
      scaleDown: { policies: [{ type: "Pods", value: 2, periodSeconds: 60 }] },
    });
    const morning = with_(
      slow,
      entry({ name: "morning", timeZone: "Etc/UTC", from: "08:00", to: "12:00", minReplicas: 10 }),
    );
    const before = sync(morning, { replicas: 10, values: { load: 30 }, nowMs: NOON - 1 });
    expect(before.count).toBe(10);
    expect(
      sync(morning, { replicas: 10, values: { load: 30 }, nowMs: NOON, windows: before.windows })
        .count,
    ).toBe(8);
  });

  it("scales lower than the manifest where the schedule allows it", () => {
    expect(
      scaled(with_(native({ minReplicas: 5 }), { ...ALWAYS, minReplicas: 2 }), 5, 10).count,
    ).toBe(2);
    expect(
      scaled(with_(native({ maxReplicas: 20 }), { ...ALWAYS, maxReplicas: 50 }), 20, 400).count,
    ).toBe(40);
  });

  it("holds while the schedule pauses, and says what it would do and until when", () => {
    const { decision } = scaled(with_(native(), { ...ALWAYS, paused: true }), 3, 90);
    expect(decision).toMatchObject({
      kind: "hold",
      because: {
        reason: "PausedBySchedule",
        message: 'load above target: paused by the schedule "always", the count would be 9',
      },
    });
  });

  it("holds for an override, also where the rules keep the count, and stays failed where they cannot decide", () => {
    const held = { kind: "hold", failed: false, because: { reason: "HeldByOverride" } };
    expect(scaled(native(), 3, 90, set({ hold: true })).decision).toMatchObject(held);
    const { decision } = scaled(native(), 3, 30, set({ hold: true }));
    expect(decision).toMatchObject(held);
    expect(decision.because.message).toBe(
      'held by the override "o1" of anna: incident 4711; without it: no metric asks for another count',
    );
    expect(scaled(native(), 3, undefined, set({ hold: true })).decision).toMatchObject({
      kind: "hold",
      failed: true,
    });
  });

  it("holds and counts as failed while the schedule names a calendar that is not there, inside its windows and outside", () => {
    const inCalendar = { ...ALWAYS, minReplicas: 10, exceptFrom: "de" };
    const outside = entry({
      name: "night",
      timeZone: "Etc/UTC",
      from: "22:00",
      to: "23:00",
      minReplicas: 10,
      exceptFrom: "de",
    });
    for (const one of [inCalendar, outside]) {
      const { decision, count } = scaled(with_(native(), one), 3, 90);
      expect(decision).toMatchObject({
        kind: "hold",
        failed: true,
        because: { reason: "UnknownCalendar" },
      });
      expect(decision.because.message).toContain(
        'because spec.schedule[0].exceptFrom names "de" and there is no such calendar',
      );
      expect(count).toBe(3);
    }
    expect(scaled(with_(native(), inCalendar), 12, 120).decision).toMatchObject({
      kind: "hold",
      failed: true,
      because: { reason: "UnknownCalendar" },
    });
    expect(scaled(with_(native(), inCalendar), 12, undefined).decision.because.message).toMatch(
      /there is no such calendar; without it: .*load/,
    );
    const stored = { overrides: [], calendars: [{ name: "de", days: [] }] };
    expect(scaled(with_(native(), inCalendar), 3, 90, stored).count).toBe(10);
    expect(scaled(with_(native(), { ...inCalendar, suspended: true }), 3, 90).count).toBe(9);
  });

  it("follows an override of both bounds, whatever a calendar says, and holds for a pause that hangs on one", () => {
    const inCalendar = { ...ALWAYS, minReplicas: 10, exceptFrom: "de" };
    expect(scaled(with_(native(), inCalendar), 3, 90, set({ min: 6, max: 6 })).count).toBe(6);
    expect(scaled(with_(native(), inCalendar), 3, 90, set({ min: 6 })).count).toBe(9);
    expect(scaled(with_(native(), inCalendar), 3, 90, set({ max: 6 })).count).toBe(3);
    expect(
      scaled(with_(native(), inCalendar), 3, 90, set({ minFactorMilli: 2_000, max: 20 })).count,
    ).toBe(3);
    // Also outside its hours: what the calendar has is not known.
    const [noon, morning] = [ALWAYS, entry({ from: "08:00", to: "09:00" })];
    for (const hours of [noon, morning]) {
      const paused = { ...hours, paused: true, exceptFrom: "de" };
      const { decision, count } = scaled(with_(native(), paused), 3, 90, set({ min: 6, max: 6 }));
      expect([decision.because.reason, count]).toEqual(["UnknownCalendar", 3]);
    }
  });

  it.each(["hpa", "watermark"] as const)("works the same with rules: %s", (rules) => {
    const block =
      rules === "hpa"
        ? {
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
            },
          }
        : {
            watermark: {
              metrics: [
                {
                  type: "External",
                  external: {
                    metricName: "load",
                    metricSelector: {},
                    highWatermark: "10",
                    lowWatermark: "8",
                  },
                },
              ],
            },
          };
    const spec = native({ rules, ...block });
    expect(scaled(with_(spec, { ...ALWAYS, minReplicas: 12 }), 5, 45).count).toBe(12);
    expect(scaled(spec, 9, 80, set({ min: 4, max: 4 })).count).toBe(4);
    expect(scaled(with_(spec, { ...ALWAYS, minReplicas: 12 }), 12, 5).count).toBe(12);
  });
});

const LIMITED = {
  scaleUp: {
    policies: [{ type: "Pods", value: 3, periodSeconds: 60 }],
    forbiddenAfterEventSeconds: 300,
  },
  flapBudget: { reversals: 1, periodSeconds: 600 },
};

describe("a scale that a floor has caused", () => {
  const spec = with_(native(LIMITED), { ...ALWAYS, minReplicas: 10 });

  it("counts for no policy, no cool-down and no budget where the rules wanted nothing", () => {
    const { windows, count } = scaled(spec, 3, 30);
    expect(count).toBe(10);
    expect(windows.memory).toMatchObject({ scaleUps: [], scaleDowns: [] });
    expect(windows.status).not.toHaveProperty("lastScaleMs");
    expect(windows.status.desiredReplicas).toBe(10);
    expect(
      sync(spec, { replicas: 10, values: { load: 500 }, windows, nowMs: NOON + 15_000 }).count,
    ).toBe(13);
  });

  it("counts as much as the rules wanted of it", () => {
    const { windows } = scaled(spec, 3, 50);
    expect(windows.memory.scaleUps).toMatchObject([{ change: 2 }]);
    expect(windows.status.lastScaleMs).toBe(NOON);
  });

  it("counts the same when a later sync settles it", () => {
    const change = { from: 3, to: 10, ruled: 3, atMs: NOON, earliestMs: 0, eventId: "e1" };
    expect(withScale(NEW_WINDOWS, spec, change).memory).toEqual(NEW_WINDOWS.memory);
    expect(withScale(NEW_WINDOWS, spec, { ...change, ruled: 5 }).memory.scaleUps).toMatchObject([
      { change: 2 },
    ]);
    expect(withScale(NEW_WINDOWS, spec, change).status.desiredReplicas).toBe(10);
  });
});

const load = fc.integer({ min: 0, max: 400 });
const policies = fc.constantFrom(
  [{ type: "Pods", value: 3, periodSeconds: 60 }],
  [{ type: "Percent", value: 50, periodSeconds: 30 }],
  [{ type: "Factor", value: "1.5", periodSeconds: 120 }],
);
/**
 * Without `sustainSeconds` and cool-downs: with more pods the metrics ask for more only later, so
 * that a breach begins later, and so does the cool-down after a scale that the rules wanted.
 */
const rules = fc
  .record({ up: policies, stabilize: fc.constantFrom(0, 60), budget: fc.boolean() })
  .map(({ up, stabilize, budget }) => ({
    scaleUp: { policies: up, stabilizationWindowSeconds: stabilize },
    scaleDown: { selectPolicy: "Disabled" },
    ...(budget && { flapBudget: { reversals: 1, periodSeconds: 600 } }),
  }));

const played = (spec: AutoscalerSpec, loads: readonly number[]): readonly number[] => {
  let state: AppliedSync | undefined;
  return loads.map((value, index) => {
    const windows = state?.windows ?? NEW_WINDOWS;
    state = sync(spec, {
      replicas: state?.count ?? 2,
      values: { load: value },
      nowMs: NOON + index * 15_000,
      windows,
      unstored: true,
    });
    return state.count;
  });
};

describe("bounds in play", () => {
  it("a floor never delays a later rise: at each sync there are at least as many pods as without it", () => {
    const window = fc.record({
      fromMinute: fc.integer({ min: 715, max: 725 }),
      minutes: fc.integer({ min: 1, max: 10 }),
      minReplicas: fc.integer({ min: 1, max: 30 }),
    });
    fc.assert(
      fc.property(
        rules,
        fc.array(window, { maxLength: 3 }),
        fc.constantFrom(0, 5 * 60_000),
        fc.array(load, { minLength: 1, maxLength: 40 }),
        (drawn, windows, rampInMs, loads) => {
          const spec = native(drawn);
          const schedule = windows.map(({ fromMinute, minutes, minReplicas }, index) => ({
            ...entry({ name: `w${index}`, timeZone: "Etc/UTC", minReplicas, rampInMs }),
            fromMinute,
            toMinute: fromMinute + minutes,
          }));
          const [without, withFloor] = [
            played(spec, loads),
            played(with_(spec, ...schedule), loads),
          ];
          for (const [index, count] of without.entries())
            expect(withFloor[index]).toBeGreaterThanOrEqual(count);
        },
      ),
      runs(200),
    );
  });

  it("the windows never record what a bound forced: they are those of the same sync without it", () => {
    const bounds = fc.record({
      min: fc.integer({ min: 1, max: 60 }),
      max: fc.integer({ min: 1, max: 60 }),
    });
    fc.assert(
      fc.property(anyDecideInput, bounds, (input, { min, max }) => {
        const { minReplicas, maxReplicas } = input.spec;
        const low = Math.min(Math.max(min, minReplicas), maxReplicas);
        const people = set({ min: low, max: Math.min(Math.max(max, low), maxReplicas) });
        const [free, bound] = [decide(input), decide({ ...input, setByPeople: people })];
        expect(bound.windows.memory).toEqual(free.windows.memory);
        expect(bound.metrics).toEqual(free.metrics);
        if (bound.kind === "hold" || bound.ruled !== bound.from) return;
        const written = afterWrite({
          spec: input.spec,
          decision: bound,
          outcome: { kind: "applied" },
          atMs: NOON,
          eventId: "e",
        }).windows;
        expect(written.memory).toEqual(bound.windows.memory);
        expect(written.status.lastScaleMs).toEqual(bound.windows.status.lastScaleMs);
      }),
      runs(500),
    );
  });

  it("nothing is ever written outside the bounds that hold at the instant of the decision", () => {
    const bounds = fc.record({
      min: fc.option(fc.integer({ min: 1, max: 60 })),
      max: fc.option(fc.integer({ min: 1, max: 60 })),
      entry: fc.integer({ min: 1, max: 60 }),
    });
    fc.assert(
      fc.property(anyDecideInput, bounds, (input, drawn) => {
        const spec = with_(input.spec, { ...ALWAYS, minReplicas: drawn.entry });
        const people = set({
          ...(drawn.min !== null && { min: drawn.min }),
          ...(drawn.max !== null && { max: drawn.max }),
        });
        const decision = decide({ ...input, spec, setByPeople: people });
        if (decision.kind === "hold") return;
        const { min, max } = effectiveBounds(spec, people, input.nowMs);
        expect(decision.to).toBeGreaterThanOrEqual(min.replicas);
        expect(decision.to).toBeLessThanOrEqual(max.replicas);
      }),
      runs(500),
    );
  });

  it("any two ways of dividing time into syncs always end with the same bounds and the same count", () => {
    const at = fc.integer({ min: 0, max: 3_600 });
    const spec = with_(
      native(),
      entry({
        timeZone: "Etc/UTC",
        from: "12:30",
        to: "13:00",
        minReplicas: 20,
        rampInMs: 20 * 60_000,
      }),
    );
    const lastOf = (times: readonly number[], last: number): number => {
      let state: AppliedSync | undefined;
      for (const each of [
        ...times.filter((time) => time < last).toSorted((one, other) => one - other),
        last,
      ]) {
        state = sync(spec, {
          replicas: state?.count ?? 2,
          values: { load: 30 },
          nowMs: NOON + each * 1000,
          windows: state?.windows ?? NEW_WINDOWS,
          unstored: true,
        });
      }
      return state?.count ?? Number.NaN;
    };
    fc.assert(
      fc.property(
        fc.array(at, { maxLength: 6 }),
        fc.array(at, { maxLength: 6 }),
        at,
        (one, other, last) => {
          expect(lastOf(one, last)).toBe(lastOf(other, last));
        },
      ),
    );
  });
});
