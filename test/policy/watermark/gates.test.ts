import { describe, expect, it } from "vitest";
import type { Condition } from "../../../lib/rules/model/windows.ts";
import { type GateRules, shouldScale } from "../../../lib/rules/policy/watermark/steps/gates.ts";
import { gateSentence } from "../../../lib/rules/policy/watermark/steps/sentences.ts";
import { NOON } from "../../noon.ts";
import { said } from "./world.ts";

const RULES: GateRules = {
  upscaleForbiddenWindowSeconds: 30,
  downscaleForbiddenWindowSeconds: 60,
  upscaleDelayAboveWatermarkSeconds: 0,
  downscaleDelayBelowWatermarkSeconds: 0,
};

const breach = (
  type: string,
  transitionMs: number,
  status: Condition["status"] = "True",
): Condition => ({
  type,
  status,
  reason: "",
  message: "",
  transitionMs,
});

interface Asked {
  readonly current?: number;
  readonly wanted: number;
  readonly stable?: boolean;
  readonly lastScaleMs?: number;
  readonly rules?: Partial<GateRules>;
  readonly conditions?: readonly Condition[];
}

const ask = ({
  current = 10,
  wanted,
  stable = false,
  lastScaleMs = NOON - 3_600_000,
  rules = {},
  conditions = [],
}: Asked) => {
  const clock = { decisionMs: NOON, wallMs: NOON };
  const { gate, notes } = shouldScale(
    { current, wanted, stable },
    { lastScaleMs, conditions },
    { ...RULES, ...rules },
    clock,
  );
  const told = said(notes, conditions);
  return {
    gate,
    able: told.conditions.find(({ type }) => type === "AbleToScale"),
    gauges: told.gauges,
  };
};

describe("shouldScale()", () => {
  it("closes without an end where nothing would change", () =>
    expect(ask({ wanted: 10 }).gate).toEqual({ kind: "closed", reason: "NoChange" }));

  it.each([
    [
      "up, just before the end",
      11,
      NOON - 29_999,
      { kind: "closed", reason: "BackoffUpscale", untilMs: NOON + 1 },
    ],
    ["up, at the end", 11, NOON - 30_000, { kind: "open" }],
    [
      "down, just before the end",
      9,
      NOON - 59_999,
      { kind: "closed", reason: "BackoffDownscale", untilMs: NOON + 1 },
    ],
    ["down, at the end", 9, NOON - 60_000, { kind: "open" }],
  ])("names the forbidden window and when it ends: %s", (_, wanted, lastScaleMs, gate) =>
    expect(ask({ wanted, lastScaleMs }).gate).toEqual(gate),
  );

  it.each([
    ["both", NOON - 29_999, "BackoffBoth"],
    ["the longer", NOON - 30_000, "BackoffDownscale"],
    ["none", NOON - 60_000, undefined],
  ])("says which windows are closed: %s", (_, lastScaleMs, reason) =>
    expect(ask({ wanted: 11, lastScaleMs }).able?.reason).toBe(reason),
  );

  it("counts down to the end of each window, never below zero", () =>
    expect(ask({ wanted: 11, lastScaleMs: NOON - 45_500 }).gauges).toEqual([
      { name: "transition_countdown", labels: { transition: "downscale" }, value: 14.5 },
      { name: "transition_countdown", labels: { transition: "upscale" }, value: 0 },
      { name: "conditions", labels: { condition: "able_to_scale" }, value: 0 },
    ]));

  const above = { upscaleDelayAboveWatermarkSeconds: 120 };
  const below = { downscaleDelayBelowWatermarkSeconds: 120 };
  it.each([
    [
      "never above the mark",
      11,
      above,
      [],
      { kind: "closed", reason: "AboveHighWatermarkNotSustained" },
    ],
    [
      "no longer above it",
      11,
      above,
      [breach("AboveHighWatermark", NOON - 500_000, "False")],
      { kind: "closed", reason: "AboveHighWatermarkNotSustained" },
    ],
    [
      "above it for too short a time",
      11,
      above,
      [breach("AboveHighWatermark", NOON - 119_999)],
      { kind: "closed", reason: "AboveHighWatermarkNotSustained", untilMs: NOON + 1 },
    ],
    [
      "above it for the delay",
      11,
      above,
      [breach("AboveHighWatermark", NOON - 120_000)],
      { kind: "open" },
    ],
    [
      "below it instead",
      11,
      above,
      [breach("BelowLowWatermark", NOON - 500_000)],
      { kind: "closed", reason: "AboveHighWatermarkNotSustained" },
    ],
    [
      "never below the mark",
      9,
      below,
      [],
      { kind: "closed", reason: "BelowLowWatermarkNotSustained" },
    ],
    [
      "below it for too short a time",
      9,
      below,
      [breach("BelowLowWatermark", NOON - 119_999)],
      { kind: "closed", reason: "BelowLowWatermarkNotSustained", untilMs: NOON + 1 },
    ],
    [
      "below it for the delay",
      9,
      below,
      [breach("BelowLowWatermark", NOON - 120_000)],
      { kind: "open" },
    ],
  ])("waits until a breach has lasted: %s", (_, wanted, rules, conditions, gate) =>
    expect(ask({ wanted, rules, conditions }).gate).toEqual(gate),
  );

  it("asks for no breach inside the band", () =>
    expect(ask({ wanted: 11, stable: true, rules: above }).gate).toEqual({ kind: "open" }));
});

describe("gateSentence()", () => {
  it.each([
    [
      "BackoffUpscale",
      "the last scale, of either direction, is within the upscale forbidden window",
    ],
    [
      "BackoffDownscale",
      "the last scale, of either direction, is within the downscale forbidden window",
    ],
    [
      "AboveHighWatermarkNotSustained",
      "no value has been above its high watermark for the upscale delay",
    ],
    [
      "BelowLowWatermarkNotSustained",
      "no value has been below its low watermark for the downscale delay",
    ],
    ["Other", "Other"],
  ])("has a sentence for the reason %s", (reason, sentence) =>
    expect(gateSentence(reason)).toBe(sentence),
  );
});
