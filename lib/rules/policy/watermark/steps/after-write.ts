import type { Windows } from "../../../model/windows.ts";
import { wholeSeconds } from "../../shared/forbidden.ts";
import {
  type Change,
  lastScaledAt,
  type OutsideChange,
  type AnsweredWrite,
  type Written,
} from "../../shared/recorded-scales.ts";
import { newestFirst } from "./sync.ts";
import { failedScale, scaled } from "./sentences.ts";

/**
 * What is stored and reported once the PUT has an outcome (watermark.md 2.10). Only a refusal
 * leaves the windows as they were; whatever may have taken effect starts both forbidden windows.
 */
export const afterWatermarkWrite = ({ decision, outcome, atMs }: AnsweredWrite): Written => {
  const { windows, events, gauges = [], from, to, trigger } = decision;
  if (outcome.kind === "refused") {
    const conditions = newestFirst(
      windows.status.conditions,
      failedScale(outcome.message),
      wholeSeconds(atMs),
    );
    return {
      windows: { ...windows, status: { ...windows.status, conditions } },
      events: [...events, { type: "Warning", reason: "FailedScale", message: outcome.message }],
      gauges: [...gauges, { name: "conditions", labels: { condition: "able_to_scale" }, value: 0 }],
    };
  }
  const moved =
    from < to
      ? { name: "upscale_replicas_total", value: to - from }
      : { name: "downscale_replicas_total", value: from - to };
  return {
    windows: scaledAt(windows, to, wholeSeconds(atMs)),
    events: [
      ...events,
      { type: "Normal", reason: "Scaling", message: `New size: ${to}; reason: ${trigger}` },
    ],
    gauges: [
      ...gauges,
      { name: "conditions", labels: { condition: "able_to_scale" }, value: 1 },
      { name: "replicas_scaling_effective", labels: {}, value: to },
      { ...moved, labels: {} },
    ],
  };
};

/**
 * A scale that a later sync settled: the one time of the last scale, which serves both directions,
 * then never moves back (watermark.md 2.9).
 */
export const withWatermarkScale = (windows: Windows, { to, atMs }: Change): Windows =>
  scaledAt(
    windows,
    to,
    Math.max(windows.status.lastScaleMs ?? Number.NEGATIVE_INFINITY, wholeSeconds(atMs)),
  );

/**
 * A change by another controller closes both forbidden windows. The controller goes by its own last
 * scale, so a person's change closes none (watermark.md 2.9).
 */
export const withOutsideWatermarkChange = (
  windows: Windows,
  { beside, atMs }: OutsideChange,
): Windows =>
  beside ? { ...windows, status: lastScaledAt(windows.status, wholeSeconds(atMs)) } : windows;

const scaledAt = (windows: Windows, to: number, lastScaleMs: number): Windows => ({
  ...windows,
  status: {
    ...windows.status,
    conditions: newestFirst(windows.status.conditions, scaled(to), lastScaleMs),
    desiredReplicas: to,
    lastScaleMs,
  },
});
