import { describe, expect, it } from "vitest";
import type { Behavior, ScalingRules } from "../../../lib/rules/model/spec-hpa.ts";
import type { Memory, ScaleChange } from "../../../lib/rules/model/windows.ts";
import { changedWithin, withScaleEvent } from "../../../lib/rules/policy/shared/recorded-scales.ts";

const NOW_MS = 1_000_000;
const rules = (...periods: readonly number[]): ScalingRules => ({
  selectPolicy: "Max",
  policies: periods.map((periodSeconds) => ({ type: "Pods", value: 4, periodSeconds })),
});
const behavior: Behavior = { scaleUp: rules(15, 60), scaleDown: rules(120) };
const memory = (
  scaleUps: readonly ScaleChange[] = [],
  scaleDowns: readonly ScaleChange[] = [],
): Memory => ({
  recommendations: null,
  scaleUps,
  scaleDowns,
});

describe("changedWithin()", () => {
  it("counts younger events than the period, not one exactly as old, and never looks at the mark", () => {
    const events = [
      { change: 1, atMs: NOW_MS - 60_001 },
      { change: 2, atMs: NOW_MS - 60_000 },
      { change: 4, atMs: NOW_MS - 59_999, outdated: true },
      { change: 8, atMs: NOW_MS },
    ];
    expect(changedWithin(events, 60_000, NOW_MS)).toBe(12);
    expect(changedWithin([], 60_000, NOW_MS)).toBe(0);
  });
});

describe("withScaleEvent()", () => {
  it("wraps a change beyond 32 bits as the controller does: 4294967295 pods are -1", () => {
    const [least, most] = [-2_147_483_648, 2_147_483_647];
    expect(
      withScaleEvent(memory(), behavior, { from: least, to: most, atMs: NOW_MS }).scaleUps,
    ).toEqual([{ change: -1, atMs: NOW_MS }]);
    expect(
      withScaleEvent(memory(), behavior, { from: most, to: least, atMs: NOW_MS }).scaleDowns,
    ).toEqual([{ change: -1, atMs: NOW_MS }]);
    expect(
      withScaleEvent(memory(), behavior, { from: 0, to: most, atMs: NOW_MS }).scaleUps,
    ).toEqual([{ change: most, atMs: NOW_MS }]);
  });

  it("keeps nothing without behavior", () => {
    const before = memory();
    expect(withScaleEvent(before, undefined, { from: 1, to: 3, atMs: NOW_MS })).toBe(before);
  });

  it("puts the change into its direction", () => {
    expect(withScaleEvent(memory(), behavior, { from: 1, to: 3, atMs: NOW_MS })).toEqual(
      memory([{ change: 2, atMs: NOW_MS }]),
    );
    expect(
      withScaleEvent(memory(), behavior, { from: 9, to: 3, atMs: NOW_MS, eventId: "e1" }),
    ).toEqual(memory([], [{ change: 6, atMs: NOW_MS, eventId: "e1" }]));
  });

  it("marks what is older than the longest period of the direction, and uses the last marked place again", () => {
    const ups = [
      { change: 1, atMs: NOW_MS - 60_001 },
      { change: 2, atMs: NOW_MS - 60_001 },
      { change: 3, atMs: NOW_MS - 60_000 },
    ];
    expect(
      withScaleEvent(memory(ups), behavior, { from: 1, to: 6, atMs: NOW_MS }).scaleUps,
    ).toEqual([
      { change: 1, atMs: NOW_MS - 60_001, outdated: true },
      { change: 5, atMs: NOW_MS },
      { change: 3, atMs: NOW_MS - 60_000 },
    ]);
  });

  it("takes 0 for the longest period of a direction without policies", () => {
    const open: Behavior = { ...behavior, scaleDown: { selectPolicy: "Min", policies: [] } };
    const downs = [{ change: 1, atMs: NOW_MS - 1 }];
    expect(
      withScaleEvent(memory([], downs), open, { from: 6, to: 1, atMs: NOW_MS }).scaleDowns,
    ).toEqual([{ change: 5, atMs: NOW_MS }]);
  });

  it("counts one event id once, however often it is settled", () => {
    const once = withScaleEvent(memory(), behavior, {
      from: 1,
      to: 3,
      atMs: NOW_MS,
      eventId: "e1",
    });
    expect(
      withScaleEvent(once, behavior, { from: 1, to: 3, atMs: NOW_MS + 70_000, eventId: "e1" }),
    ).toEqual(once);
    expect(
      withScaleEvent(once, behavior, { from: 3, to: 4, atMs: NOW_MS + 1, eventId: "e2" }).scaleUps,
    ).toHaveLength(2);
  });
});
