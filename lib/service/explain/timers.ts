import type { NativeSpec } from "../../model/spec-native.ts";
import type { WatermarkSpec } from "../../model/spec-watermark.ts";
import type { Condition } from "../../model/windows.ts";
import { BREACH, IDLE, missingType } from "../../policy/native/steps/sentences.ts";
import { timeText } from "../views/time-text.ts";
import type { TimerView } from "../views/windows.ts";

/** What must last before it counts, by the native rules: breaches, rest, and a missing metric with a fallback. */
export const nativeTimers = (spec: NativeSpec, conditions: readonly Condition[]): readonly TimerView[] => [
  ...timer("Scale up sustain", spec.scaleUp.sustainSeconds, BREACH.up, conditions),
  ...timer("Scale down sustain", spec.scaleDown.sustainSeconds, BREACH.down, conditions),
  ...(spec.idle ? timer("Out of use", spec.idle.afterSeconds, IDLE, conditions) : []),
  ...spec.metrics.flatMap(({ name, onMissing }) =>
    onMissing.action === "fallback" ? timer(`Fallback of ${name}`, onMissing.afterSeconds, missingType(name), conditions) : [],
  ),
];

/** Breaches that must last (watermark.md 2.9). */
export const watermarkTimers = (spec: WatermarkSpec, conditions: readonly Condition[]): readonly TimerView[] => [
  ...timer("Scale up delay", spec.upscaleDelayAboveWatermarkSeconds, "AboveHighWatermark", conditions),
  ...timer("Scale down delay", spec.downscaleDelayBelowWatermarkSeconds, "BelowLowWatermark", conditions),
];

const timer = (name: string, seconds: number, type: string, conditions: readonly Condition[]): readonly TimerView[] => {
  if (seconds === 0) return [];
  const since = conditions.find((condition) => condition.type === type && condition.status === "True")?.transitionMs;
  return [{ name, seconds, ...(since !== undefined && { since: timeText(since), until: timeText(since + seconds * 1000) }) }];
};
