import type { ControllerSettings } from "../model/settings.ts";
import type { AutoscalerSpec } from "../model/spec.ts";
import { type HpaSpec, isStabilized, type Thresholds } from "../model/spec-hpa.ts";
import type { NativeSpec } from "../model/spec-native.ts";
import type { WatermarkSpec } from "../model/spec-watermark.ts";
import type { Status, Windows } from "../model/windows.ts";
import { DOWNSCALE_FORBIDDEN_MS, UPSCALE_FORBIDDEN_MS } from "../policy/steps/original/cool-down.ts";
import { leavesTheWayUp, reversalsOf, roomMs, scalesWithin } from "../policy/steps/tidemark/flap.ts";
import { wholeSeconds } from "../policy/steps/watermark/recorder.ts";
import { timeText } from "./time-text.ts";
import { nativeTimers, watermarkTimers } from "./timers.ts";
import { type Forbidden, forbidden, inOrder, policiesOf, rate, rowsOf, stabilization } from "./window-parts.ts";
import { type Direction, type FlapView, NO_WINDOWS, type WindowsView } from "./window-views.ts";

/** The instant that is looked at. */
export interface Moment {
  readonly settings: ControllerSettings;
  readonly nowMs: number;
  /** Replicas of the workload, when they are known. */
  readonly count?: number;
}

/** What the windows of an autoscaler hold at an instant, and when each part of it ends (hpa.md 2.6, 3.8, 3.9). Times are RFC 3339. */
export const windowsView = (spec: AutoscalerSpec, windows: Windows, moment: Moment): WindowsView => {
  const { pausedUntilMs } = spec;
  const paused = pausedUntilMs !== undefined && pausedUntilMs > moment.nowMs && { pausedUntil: timeText(pausedUntilMs) };
  return { ...byDialect(spec, windows, moment), ...paused };
};

const byDialect = (spec: AutoscalerSpec, windows: Windows, moment: Moment): WindowsView => {
  switch (spec.dialect) {
    case "hpa":
      return spec.rules === "original" ? originalView(windows, moment) : hpaView(spec, windows, moment);
    case "watermark":
      return watermarkView(spec, windows, moment);
    case "tidemark":
      return nativeView(spec, windows, moment);
  }
};

/** Seconds after any scale in which nothing is added, or taken away (proposals.md §1). */
const ORIGINAL_PAUSES: Forbidden = { scaleUp: UPSCALE_FORBIDDEN_MS / 1000, scaleDown: DOWNSCALE_FORBIDDEN_MS / 1000 };

const originalView = ({ status }: Windows, { nowMs }: Moment): WindowsView => ({
  ...NO_WINDOWS,
  forbidden: forbidden(ORIGINAL_PAUSES, status, nowMs),
});

const watermarkView = (spec: WatermarkSpec, { status }: Windows, { nowMs }: Moment): WindowsView => {
  const { upscaleForbiddenWindowSeconds: scaleUp, downscaleForbiddenWindowSeconds: scaleDown } = spec;
  return { ...NO_WINDOWS, forbidden: forbidden({ scaleUp, scaleDown }, status, nowMs), timers: watermarkTimers(spec, status.conditions) };
};

const DIRECTIONS = ["scaleUp", "scaleDown"] as const;

const nativeView = (spec: NativeSpec, windows: Windows, { nowMs, count }: Moment): WindowsView => {
  const { memory, status } = windows;
  const runs = inOrder(memory);
  const { forbiddenAfterEventSeconds: scaleUp } = spec.scaleUp;
  const { forbiddenAfterEventSeconds: scaleDown } = spec.scaleDown;
  return {
    recommendations: rowsOf(runs),
    stabilization: DIRECTIONS.map((direction) =>
      stabilization({ direction, windowSeconds: spec[direction].stabilizationWindowSeconds }, runs, nowMs, count),
    ),
    rates: DIRECTIONS.flatMap((direction) =>
      policiesOf(spec[direction]).map(({ valueMilli, ...policy }) =>
        rate(direction, { ...policy, value: valueMilli / 1000 }, spec[direction].countedChanges, memory, nowMs),
      ),
    ),
    forbidden: forbidden({ scaleUp, scaleDown }, status, nowMs),
    timers: nativeTimers(spec, status.conditions),
    ...flapView(spec, windows, nowMs),
  };
};

const flapView = ({ flapBudget }: NativeSpec, { memory }: Windows, nowMs: number): { readonly flap?: FlapView } => {
  if (!flapBudget) return {};
  const scales = scalesWithin(memory, flapBudget, nowMs);
  const untilMs = leavesTheWayUp(scales, flapBudget) ? undefined : roomMs(scales, flapBudget);
  return { flap: { ...flapBudget, made: reversalsOf(scales), ...(untilMs !== undefined && { until: timeText(untilMs) }) } };
};

const hpaView = (spec: HpaSpec, { memory, status }: Windows, { settings, nowMs, count }: Moment): WindowsView => {
  const runs = inOrder(memory);
  const { thresholds } = spec;
  return {
    recommendations: rowsOf(runs),
    stabilization: windowsOf(spec, settings).map((window) => stabilization(window, runs, nowMs, spec.behavior ? count : undefined)),
    rates: DIRECTIONS.flatMap((direction) =>
      policiesOf(spec.behavior?.[direction]).map((policy) => rate(direction, policy, spec.behavior?.[direction].countedChanges, memory, nowMs)),
    ),
    ...(thresholds && forbiddenBy(thresholds, status, nowMs)),
  };
};

const forbiddenBy = (
  { upscaleForbiddenWindowSeconds: scaleUp, downscaleForbiddenWindowSeconds: scaleDown }: Thresholds,
  { lastScaleMs, ...status }: Status,
  nowMs: number,
): Pick<WindowsView, "forbidden"> => ({
  forbidden: forbidden({ scaleUp, scaleDown }, { ...status, ...(lastScaleMs !== undefined && { lastScaleMs: wholeSeconds(lastScaleMs) }) }, nowMs),
});

/** Without behavior only the way down is stabilized, over the cluster's own window (hpa.md 2.6.1). */
const windowsOf = (spec: HpaSpec, settings: ControllerSettings): readonly { readonly direction: Direction; readonly windowSeconds: number }[] => {
  const { behavior } = spec;
  const fallbackSeconds = settings.downscaleStabilizationMs / 1000;
  if (!isStabilized(spec)) return [];
  if (!behavior) return [{ direction: "scaleDown", windowSeconds: fallbackSeconds }];
  return [
    { direction: "scaleUp", windowSeconds: behavior.scaleUp.stabilizationWindowSeconds ?? 0 },
    { direction: "scaleDown", windowSeconds: behavior.scaleDown.stabilizationWindowSeconds ?? fallbackSeconds },
  ];
};
