import { withCondition } from "../../shared/steps.ts";
import { ableToScale } from "./sentences.ts";
import type { NativeStep } from "./sync.ts";

/**
 * A scale that cannot be read ends the sync; else the list of recommendations begins with the count
 * that was found.
 */
export const readScale: NativeStep = (sync) => {
  const { scale } = sync.input.observation;
  if (scale.kind === "failed") {
    const report = ableToScale(
      "False",
      "FailedGetScale",
      `the scale of the target cannot be read: ${scale.failure.message}`,
    );
    return {
      ...sync,
      conditions: withCondition(sync, report),
      events: [{ type: "Warning", reason: report.reason, message: report.message }],
      ending: { kind: "unreadable", because: { reason: report.reason, message: report.message } },
    };
  }
  const current = scale.specReplicas;
  const { nowMs, windows } = sync.input;
  return {
    ...sync,
    conditions: withCondition(
      sync,
      ableToScale("True", "SucceededGetScale", "the scale of the target was read"),
    ),
    recommendations: windows.memory.recommendations ?? [
      { replicas: current, firstMs: nowMs, lastMs: nowMs },
    ],
    current,
    count: current,
  };
};
