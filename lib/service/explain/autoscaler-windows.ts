import type { ControllerSettings } from "../../model/settings.ts";
import type { AutoscalerSpec } from "../../model/spec.ts";
import { type HpaSpec, isStabilized, type Thresholds } from "../../model/spec-hpa.ts";
import type { NativeSpec } from "../../model/spec-native.ts";
import type { WatermarkSpec } from "../../model/spec-watermark.ts";
import type { RecommendationRun, Status, Windows } from "../../model/windows.ts";
import { windowsOf as hpaWindowsOf, stabilized } from "../../policy/hpa/steps/stabilize.ts";
import { leavesTheWayUp, reversalsOf, roomMs, scalesWithin } from "../../policy/native/steps/flap.ts";
import { windowsOf as nativeWindowsOf } from "../../policy/native/steps/stabilize.ts";
import { DOWNSCALE_FORBIDDEN_MS, closedUntilMs as originallyClosedUntilMs, UPSCALE_FORBIDDEN_MS } from "../../policy/original/steps/cool-down.ts";
import { closedUntilMs, wholeSeconds } from "../../policy/shared/forbidden.ts";
import { stabilizeBothWays } from "../../policy/shared/stabilization.ts";
import { timeText } from "../views/time-text.ts";
import { type FlapView, NO_WINDOWS, type WindowsView } from "../views/windows.ts";
import { nativeTimers, watermarkTimers } from "./timers.ts";
import { type Forbidden, forbidden, inOrder, policiesOf, rate, rowsOf, type Stabilization, stabilization } from "./window-parts.ts";

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
    case "native":
      return nativeView(spec, windows, moment);
  }
};

/** Seconds after any scale in which nothing is added, or taken away (proposals.md §1). */
const ORIGINAL_PAUSES: Forbidden = { scaleUp: UPSCALE_FORBIDDEN_MS / 1000, scaleDown: DOWNSCALE_FORBIDDEN_MS / 1000 };

const originalView = ({ status }: Windows, { nowMs }: Moment): WindowsView => ({
  ...NO_WINDOWS,
  forbidden: forbidden(ORIGINAL_PAUSES, status, nowMs, originallyClosedUntilMs),
});

const watermarkView = (spec: WatermarkSpec, { status }: Windows, { nowMs }: Moment): WindowsView => {
  const { upscaleForbiddenWindowSeconds: scaleUp, downscaleForbiddenWindowSeconds: scaleDown } = spec;
  return {
    ...NO_WINDOWS,
    forbidden: forbidden({ scaleUp, scaleDown }, status, nowMs, closedUntilMs),
    timers: watermarkTimers(spec, status.conditions),
  };
};

const DIRECTIONS = ["scaleUp", "scaleDown"] as const;

const nativeView = (spec: NativeSpec, windows: Windows, { nowMs, count }: Moment): WindowsView => {
  const { memory, status } = windows;
  const recommended = memory.recommendations ?? [];
  const { forbiddenAfterEventSeconds: scaleUp } = spec.scaleUp;
  const { forbiddenAfterEventSeconds: scaleDown } = spec.scaleDown;
  return {
    recommendations: rowsOf(inOrder(memory)),
    stabilization: stabilization(nativeStabilization(spec, recommended, nowMs), recommended, count),
    rates: DIRECTIONS.flatMap((direction) =>
      policiesOf(spec[direction]).map(({ valueMilli, ...policy }) =>
        rate(direction, { ...policy, value: valueMilli / 1000 }, spec[direction].countedChanges, memory, nowMs),
      ),
    ),
    forbidden: forbidden({ scaleUp, scaleDown }, status, nowMs, closedUntilMs),
    timers: nativeTimers(spec, status.conditions),
    ...flapView(spec, windows, nowMs),
  };
};

const nativeStabilization = (spec: NativeSpec, runs: readonly RecommendationRun[], nowMs: number): Stabilization => ({
  windows: DIRECTIONS.map((direction) => ({ direction, windowSeconds: spec[direction].stabilizationWindowSeconds })),
  held: ({ current, count: wanted }) => stabilizeBothWays(runs, current, wanted, nativeWindowsOf(spec), nowMs).held,
});

const flapView = ({ flapBudget }: NativeSpec, { memory }: Windows, nowMs: number): { readonly flap?: FlapView } => {
  if (!flapBudget) return {};
  const scales = scalesWithin(memory, flapBudget, nowMs);
  const untilMs = leavesTheWayUp(scales, flapBudget) ? undefined : roomMs(scales, flapBudget);
  return { flap: { ...flapBudget, made: reversalsOf(scales), ...(untilMs !== undefined && { until: timeText(untilMs) }) } };
};

const hpaView = (spec: HpaSpec, { memory, status }: Windows, { settings, nowMs, count }: Moment): WindowsView => {
  const recommended = memory.recommendations ?? [];
  const { thresholds } = spec;
  return {
    recommendations: rowsOf(inOrder(memory)),
    stabilization: stabilization(hpaStabilization(spec, settings, recommended, nowMs), recommended, count),
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
  forbidden: forbidden(
    { scaleUp, scaleDown },
    { ...status, ...(lastScaleMs !== undefined && { lastScaleMs: wholeSeconds(lastScaleMs) }) },
    nowMs,
    closedUntilMs,
  ),
});

const hpaStabilization = (spec: HpaSpec, settings: ControllerSettings, runs: readonly RecommendationRun[], nowMs: number): Stabilization => ({
  windows: hpaWindows(spec, settings),
  held: (counts) => stabilized(spec, settings, runs, counts, nowMs).held,
});

/** Without behavior only the way down is stabilized, over the cluster's own window (hpa.md 2.6.1). */
const hpaWindows = (spec: HpaSpec, settings: ControllerSettings): Stabilization["windows"] => {
  const { behavior } = spec;
  if (!isStabilized(spec)) return [];
  if (!behavior) return [{ direction: "scaleDown", windowSeconds: settings.downscaleStabilizationMs / 1000 }];
  const { upMs, downMs } = hpaWindowsOf(behavior, settings);
  return [
    { direction: "scaleUp", windowSeconds: upMs / 1000 },
    { direction: "scaleDown", windowSeconds: downMs / 1000 },
  ];
};
