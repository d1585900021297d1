import { describe, expect, it } from "vitest";
import { NEW_WINDOWS } from "../../lib/model/windows.ts";
import { withChange } from "../../lib/sync/late-windows.ts";

const AT_MS = 1_000_000;

describe("withChange()", () => {
  it("counts a scale once, in its own direction, whatever the dialect keeps", () => {
    const change = { from: 2, to: 5, atMs: AT_MS, earliestMs: 0, eventId: "e" };
    const once = withChange(NEW_WINDOWS, change);
    expect(once.memory).toMatchObject({ scaleUps: [{ change: 3, atMs: AT_MS, earliestMs: 0, eventId: "e" }], scaleDowns: [] });
    expect(once.status).toMatchObject({ desiredReplicas: 5, lastScaleMs: AT_MS, conditions: [] });
    expect(withChange(once, change)).toEqual(once);
  });

  it("says who put a workload to zero, so that its autoscaler may wake it once its spec can be read", () => {
    const { status } = withChange(NEW_WINDOWS, { from: 4, to: 0, atMs: AT_MS, earliestMs: 0, eventId: "e" });
    expect(status.conditions).toMatchObject([{ type: "ScaledToZero", status: "True", transitionMs: AT_MS }]);
  });
});
