import type { ControllerSettings } from "../../../model/spec-common.ts";
import { type Behavior, type HpaSpec, isStabilized } from "../../../model/spec-hpa.ts";
import type { RecommendationRun } from "../../../model/windows.ts";
import { type ConditionReport, stepped, withCondition } from "../../shared/steps.ts";
import {
  type Counts,
  type StabilizationHold,
  type StabilizationWindows,
  stabilizeBothWays,
  type Stabilized,
  stabilizeDownward,
} from "../../shared/stabilization.ts";
import { READY_FOR_NEW_SCALE, SCALE_DOWN_STABILIZED, SCALE_UP_STABILIZED } from "./sentences.ts";
import type { HpaStep } from "./sync.ts";

/** hpa.md 2.6: without behavior only the way down is stabilized, with it both ways are. */
export const stabilize: HpaStep = (sync) => {
  const { input, count, current } = sync;
  if (!isStabilized(input.spec)) return sync;
  const runs = sync.recommendations ?? [];
  const {
    count: after,
    recommendations,
    held,
  } = stabilized(input.spec, runs, { current, count }, input);
  const report = reportOf(held);
  const limit = held && {
    reason: report.reason,
    value: after,
    message: report.message,
    untilMs: held.untilMs,
    wantedMs: held.wantedMs,
  };
  return {
    ...stepped(sync, "stabilize", after, limit),
    conditions: withCondition(sync, report),
    recommendations,
  };
};

/**
 * What the windows of a spec make of a count at an instant. Explanations call it as well
 * (hpa/explanations.ts).
 */
export const stabilized = (
  { behavior }: Pick<HpaSpec, "behavior">,
  runs: readonly RecommendationRun[],
  counts: Counts,
  { settings, nowMs }: { readonly settings: ControllerSettings; readonly nowMs: number },
): Stabilized =>
  behavior
    ? stabilizeBothWays(runs, counts, windowsOf(behavior, settings), nowMs)
    : stabilizeDownward(runs, counts.count, settings.downscaleStabilizationMs, nowMs);

/** The condition in the controller's words. */
export const reportOf = (held: StabilizationHold | undefined): ConditionReport => {
  if (!held) return READY_FOR_NEW_SCALE;
  return held.direction === "up" ? SCALE_UP_STABILIZED : SCALE_DOWN_STABILIZED;
};

export const windowsOf = (
  { scaleUp, scaleDown }: Behavior,
  settings: ControllerSettings,
): StabilizationWindows => ({
  upMs: (scaleUp.stabilizationWindowSeconds ?? 0) * 1000,
  downMs:
    scaleDown.stabilizationWindowSeconds === undefined
      ? settings.downscaleStabilizationMs
      : scaleDown.stabilizationWindowSeconds * 1000,
});
