import { describe, expect, it } from "vitest";
import { scaleContext } from "../../../lib/stack/sync/objects/write-back-objects.ts";
import type { ScaleEventRecord } from "../../../lib/rules/model/scale-records.ts";
import type { Verdict } from "../../../lib/stack/sync/hand-over.ts";

const NOW_MS = 60_000;
const READY_FOR_SCALE = { type: "AbleToScale", status: "True" } as const;
const LIMITED = { type: "ScalingLimited", status: "False" } as const;

const verdict = (lastCondition: typeof READY_FOR_SCALE | typeof LIMITED): Verdict =>
  ({ kind: "hold", decision: { lastCondition } }) as Verdict;
const event = (outcome: ScaleEventRecord["outcome"], atMs = NOW_MS): ScaleEventRecord =>
  ({ outcome, atMs }) as Partial<ScaleEventRecord> as ScaleEventRecord;
const context = (
  events: readonly ScaleEventRecord[],
  because = "Proposal",
  withoutHold?: string,
) => ({
  nowMs: NOW_MS,
  events,
  evaluation: {
    because: { reason: because, message: "" },
    ...(withoutHold !== undefined && {
      withoutHold: { because: { reason: withoutHold, message: "" } },
    }),
  },
});

describe("what the status of an object tells of scales", () => {
  it("counts scales that were made, of this sync and of earlier ones, and none that was refused", () => {
    expect(
      scaleContext(
        verdict(READY_FOR_SCALE),
        context([event("applied"), event("unknown", 1), event("refused", 1)]),
      ).scales,
    ).toBe(2);
  });

  it("counts a scale that a dry run kept from being made, also below a freeze", () => {
    expect(scaleContext(verdict(READY_FOR_SCALE), context([], "DryRun")).scales).toBe(1);
    expect(scaleContext(verdict(READY_FOR_SCALE), context([], "Frozen", "DryRun")).scales).toBe(1);
    expect(scaleContext(verdict(LIMITED), context([], "WithinWatermarks")).scales).toBe(0);
  });

  it("names AbleToScale after a write of this sync, and else what the rules set last", () => {
    expect(
      scaleContext(verdict(READY_FOR_SCALE), context([event("refused")])).lastCondition,
    ).toEqual({ type: "AbleToScale", status: "False" });
    expect(
      scaleContext(verdict(READY_FOR_SCALE), context([event("applied")])).lastCondition,
    ).toEqual(READY_FOR_SCALE);
    expect(scaleContext(verdict(LIMITED), context([event("refused", 1)])).lastCondition).toEqual(
      LIMITED,
    );
    expect(
      scaleContext({ kind: "unevaluated" } as Verdict, context([])).lastCondition,
    ).toBeUndefined();
  });
});
