import type { ControllerEvent, GaugeWrite, Scale, WriteOutcome } from "../../../model/decision.ts";
import type { Windows } from "../../../model/windows.ts";
import { newestFirst, wholeSeconds } from "./recorder.ts";
import { failedScale, scaled } from "./sentences.ts";

/**
 * What is stored and reported once the PUT has an outcome (watermark.md 2.10). Only a refusal leaves the windows as they were; whatever may have taken effect starts
 * both forbidden windows. `atMs` is a clock reading after the answer.
 */
export const afterWatermarkWrite = (
  decision: Scale,
  outcome: WriteOutcome,
  atMs: number,
): { readonly windows: Windows; readonly events: readonly ControllerEvent[]; readonly gauges: readonly GaugeWrite[] } => {
  const { windows, from, to, trigger } = decision;
  const { status } = windows;
  const report = outcome.kind === "refused" ? failedScale(outcome.message) : scaled(to);
  const conditions = newestFirst(status.conditions, report, wholeSeconds(atMs));
  if (outcome.kind === "refused") {
    return {
      windows: { ...windows, status: { ...status, conditions } },
      events: [{ type: "Warning", reason: "FailedScale", message: outcome.message }],
      gauges: [{ name: "conditions", labels: { condition: "able_to_scale" }, value: 0 }],
    };
  }
  return {
    windows: { ...windows, status: { ...status, conditions, desiredReplicas: to, lastScaleMs: wholeSeconds(atMs) } },
    events: [{ type: "Normal", reason: "Scaling", message: `New size: ${to}; reason: ${trigger}` }],
    gauges: [
      { name: "conditions", labels: { condition: "able_to_scale" }, value: 1 },
      { name: "replicas_scaling_effective", labels: {}, value: to },
      from < to
        ? { name: "upscale_replicas_total", labels: {}, value: to - from }
        : { name: "downscale_replicas_total", labels: {}, value: from - to },
    ],
  };
};
