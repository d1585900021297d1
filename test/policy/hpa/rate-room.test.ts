import { describe, expect, it } from "vitest";
import type { ScalingRules } from "../../../lib/rules/model/spec-hpa.ts";
import type { ScaleChange } from "../../../lib/rules/model/windows.ts";
import { downLimit, upLimit } from "../../../lib/rules/policy/hpa/steps/limit.ts";
import { upLimit as nativeUpLimit } from "../../../lib/rules/policy/native/steps/limit.ts";

const NOW_MS = 1_000_000;
const PERIOD_MS = 60_000;
const THREE_A_MINUTE: ScalingRules = {
  selectPolicy: "Max",
  policies: [{ type: "Pods", value: 3, periodSeconds: PERIOD_MS / 1_000 }],
};
const NATIVE_THREE_A_MINUTE: Parameters<typeof nativeUpLimit>[1] = {
  selectPolicy: "Max",
  policies: [{ type: "Pods", valueMilli: 3_000, periodSeconds: PERIOD_MS / 1_000 }],
  countedChanges: "Both",
  stabilizationWindowSeconds: 0,
  sustainSeconds: 0,
  forbiddenAfterEventSeconds: 0,
  replicaModulo: 1,
  stepMinimum: 0,
};
const changed = (change: number, earliestMs?: number): readonly ScaleChange[] => [
  { change, atMs: NOW_MS - 1_000, ...(earliestMs !== undefined && { earliestMs }) },
];

describe("limits of one direction after a change in the other", () => {
  it.each([
    ["that surely was inside the period gives room", undefined, 4 + 2 + 3],
    ["that began inside the period gives room", NOW_MS - PERIOD_MS + 1, 4 + 2 + 3],
    ["that may have been made before the period gives none", NOW_MS - PERIOD_MS, 4 + 3],
    ["that may not have been made gives none", 0, 4 + 3],
  ])("upwards, a shrinking %s", (_words, earliestMs, most) => {
    expect(
      upLimit(
        4,
        THREE_A_MINUTE,
        { scaleUps: [], scaleDowns: changed(2, earliestMs) },
        { nowMs: NOW_MS },
      ),
    ).toBe(most);
  });

  it.each([
    ["that surely was inside the period gives room", undefined, 8 - 2 - 3],
    ["that may have been made before the period gives none", NOW_MS - PERIOD_MS, 8 - 3],
    ["that may not have been made gives none", 0, 8 - 3],
  ])("downwards, a growth %s", (_words, earliestMs, least) => {
    expect(
      downLimit(
        8,
        THREE_A_MINUTE,
        { scaleUps: changed(2, earliestMs), scaleDowns: [] },
        { nowMs: NOW_MS },
      ),
    ).toBe(least);
  });

  it.each([
    ["before the room is over gives it", PERIOD_MS - 1_001, 4 + 2 + 3],
    ["when the room is over gives none", PERIOD_MS - 1_000, 4 + 3],
  ])("upwards, a source that answers %s", (_words, waitedMs, most) => {
    const times = { nowMs: NOW_MS, answeredMs: NOW_MS + waitedMs };
    expect(upLimit(4, THREE_A_MINUTE, { scaleUps: [], scaleDowns: changed(2) }, times)).toBe(most);
    expect(
      nativeUpLimit(4, NATIVE_THREE_A_MINUTE, { scaleUps: [], scaleDowns: changed(2) }, times),
    ).toBe(most);
  });

  it("lets no change leave its own direction's period while a source is slow to answer", () => {
    const times = { nowMs: NOW_MS, answeredMs: NOW_MS + PERIOD_MS };
    expect(upLimit(4, THREE_A_MINUTE, { scaleUps: changed(2), scaleDowns: [] }, times)).toBe(
      4 - 2 + 3,
    );
    expect(
      downLimit(8, THREE_A_MINUTE, { scaleUps: changed(2), scaleDowns: changed(1) }, times),
    ).toBe(8 + 1 - 3);
  });

  it("counts a change that may have been made against its own direction", () => {
    expect(
      upLimit(4, THREE_A_MINUTE, { scaleUps: changed(2, 0), scaleDowns: [] }, { nowMs: NOW_MS }),
    ).toBe(4 - 2 + 3);
    expect(
      downLimit(8, THREE_A_MINUTE, { scaleUps: [], scaleDowns: changed(2, 0) }, { nowMs: NOW_MS }),
    ).toBe(8 + 2 - 3);
  });
});
