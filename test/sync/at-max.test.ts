import { describe, expect, it } from "vitest";
import { isAtMax } from "../../lib/stack/report/evaluation-state.ts";

const limit = { reason: "SetMaximum", value: 5, message: "maxReplicas is 5" };
const cut = (before: number, after: number) => ({ step: "set bounds", before, after, limit });

describe("isAtMax()", () => {
  it.each([
    [
      "at the maximum of the manifest, with more wanted",
      { bounds: { min: 2, max: 5 }, from: 5, steps: [cut(9, 5)] },
      true,
    ],
    ["below it", { bounds: { min: 2, max: 5 }, from: 4, steps: [cut(9, 5)] }, false],
    [
      "at it, with no more wanted",
      { bounds: { min: 2, max: 5 }, from: 5, steps: [cut(5, 5)] },
      false,
    ],
    [
      "at the old maximum, while a schedule allows more",
      {
        bounds: { min: 2, max: 50 },
        from: 20,
        steps: [{ step: "rate", before: 40, after: 30, limit }],
      },
      false,
    ],
    ["at a raised maximum", { bounds: { min: 2, max: 50 }, from: 50, steps: [cut(60, 50)] }, true],
    ["without an evaluation", { steps: [] }, false],
  ])("compares with the bounds in force: %s", (_where, evaluation, expected) => {
    expect(isAtMax(evaluation)).toBe(expected);
  });
});
