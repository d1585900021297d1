import { describe, expect, it } from "vitest";
import type { Scale } from "../../../lib/rules/model/decision.ts";
import { autoscalerName } from "../../../lib/rules/model/ids.ts";
import type { Observation, ScaleReading } from "../../../lib/rules/model/observation.ts";
import type { AutoscalerSpec } from "../../../lib/rules/model/spec.ts";
import { decide } from "../../../lib/rules/policy/decide.ts";
import { afterWrite, withScale } from "../../../lib/rules/policy/dialects.ts";
import { NOON } from "../../noon.ts";
import { observationOf, scaleRead } from "../../observation.ts";
import { decideInput } from "../applied-sync.ts";
import { native, pod, sync } from "./world.ts";

const spec = native();
const read = scaleRead(5);

const decideOn = (
  scale: ScaleReading,
  others: Observation["others"] = [],
  of: AutoscalerSpec = spec,
) =>
  decide(
    decideInput({ spec: of, observation: observationOf({ scale, pods: [pod("web-0")], others }) }),
  );

const BESIDE = [{ name: autoscalerName("api"), selector: "app=web" }];
const SHARED =
  'pods by selector app=web in namespace "shop" belong to more than one autoscaler: "api" and "web"';

describe("the native rules hold", () => {
  it.each([
    [
      "without a scale",
      { kind: "failed", failure: { code: 404, reason: "NotFound", message: "gone" } } as const,
      [],
      "FailedGetScale",
      "the scale of the target cannot be read: gone",
    ],
    [
      "without a selector",
      { ...read, selector: "" },
      [],
      "InvalidSelector",
      "the scale of the target carries no selector",
    ],
    [
      "on pods of two autoscalers that count as the HPA counts them",
      read,
      BESIDE,
      "AmbiguousSelector",
      SHARED,
      native({ pods: "asHpa" }),
    ],
    [
      "on pods of two autoscalers whose owner cannot be known",
      read,
      BESIDE,
      "AmbiguousSelector",
      SHARED,
      native({ scaleTargetRef: { apiVersion: "acme.io/v1", kind: "Fleet", name: "web" } }),
    ],
  ])("%s", (_, scale, others, reason, message, of = spec) => {
    const decision = decideOn(scale, others, of);
    expect(decision).toMatchObject({ kind: "hold", failed: true, because: { reason, message } });
    expect(decision.events).toEqual([{ type: "Warning", reason, message }]);
  });

  it("not on pods of two autoscalers where it is known whose they are", () => {
    expect(decideOn(read, BESIDE).because.reason).not.toBe("AmbiguousSelector");
  });

  it("on a selector that cannot be read", () => {
    const { because } = decideOn({ ...read, selector: "a in (" });
    expect(because.reason).toBe("InvalidSelector");
    expect(because.message).toMatch(/^the selector of the target cannot be read: /);
  });
});

describe("a write by the native rules", () => {
  const reported = () => {
    const { decision } = sync(spec, { replicas: 5, values: { load: 90 } });
    return { spec, decision: decision as Scale, atMs: NOON + 500, eventId: "e" };
  };

  it("that was refused leaves the windows as they were, and says so", () => {
    const report = reported();
    const written = afterWrite({ ...report, outcome: { kind: "refused", message: "no" } });
    expect(written.windows.memory).toEqual(report.decision.windows.memory);
    expect(written.windows.status.lastScaleMs).toBeUndefined();
    expect(written.windows.status.conditions[0]).toMatchObject({
      type: "AbleToScale",
      status: "False",
      reason: "FailedUpdateScale",
    });
    expect(written.events.at(-1)).toEqual({
      type: "Warning",
      reason: "FailedRescale",
      message: "New size: 9; reason: load above target; error: no",
    });
  });

  it.each([{ kind: "applied" }, { kind: "unknown", message: "?" }] as const)(
    "counts when it is $kind",
    (outcome) => {
      const { windows } = afterWrite({ ...reported(), outcome });
      expect(windows.status).toMatchObject({ desiredReplicas: 9, lastScaleMs: NOON + 500 });
      expect(windows.memory.scaleUps).toEqual([{ change: 4, atMs: NOON + 500, eventId: "e" }]);
    },
  );

  it("settled twice counts once, and settled late never moves the last scale back", () => {
    const { windows } = afterWrite({ ...reported(), outcome: { kind: "applied" } });
    const again = withScale(windows, spec, { from: 5, to: 9, atMs: NOON - 1000, eventId: "e" });
    expect(again.memory.scaleUps).toHaveLength(1);
    expect(again.status.lastScaleMs).toBe(NOON + 500);
  });
});
