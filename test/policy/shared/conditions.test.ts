import { describe, expect, it } from "vitest";
import type { Condition } from "../../../lib/rules/model/windows.ts";
import { isTrue, setCondition } from "../../../lib/rules/policy/shared/steps.ts";

const condition = (
  type: string,
  status: Condition["status"],
  reason: string,
  transitionMs: number,
): Condition => ({
  type,
  status,
  reason,
  message: reason,
  transitionMs,
});
const report = (type: string, status: Condition["status"], reason: string) => ({
  type,
  status,
  reason,
  message: reason,
});

describe("setCondition()", () => {
  const before = [
    condition("AbleToScale", "True", "A", 1),
    condition("ScalingActive", "False", "B", 2),
  ];

  it("puts a new type at the end", () => {
    expect(setCondition(before, report("ScalingLimited", "True", "C"), 9)).toEqual([
      ...before,
      condition("ScalingLimited", "True", "C", 9),
    ]);
  });

  it("overwrites in place and keeps the transition while the status stays", () => {
    expect(setCondition(before, report("AbleToScale", "True", "C"), 9)).toEqual([
      condition("AbleToScale", "True", "C", 1),
      before[1],
    ]);
  });

  it("moves the transition when the status changes", () => {
    expect(setCondition(before, report("ScalingActive", "True", "C"), 9)).toEqual([
      before[0],
      condition("ScalingActive", "True", "C", 9),
    ]);
  });
});

it("isTrue() wants the condition there and True", () => {
  const conditions = [
    condition("AbleToScale", "True", "A", 1),
    condition("ScaledToZero", "False", "B", 2),
  ];
  expect([
    isTrue(conditions, "AbleToScale"),
    isTrue(conditions, "ScaledToZero"),
    isTrue(conditions, "Other"),
  ]).toEqual([true, false, false]);
});
