import type { GaugeWrite } from "../../../model/decision.ts";
import type { HpaMetric, Marks, Thresholds } from "../../../model/spec-hpa.ts";
import type { HpaSync, HpaStep } from "../../hpa/steps/sync.ts";
import type { Measurement } from "../../shared/metrics/measurement.ts";
import { READY_FOR_NEW_SCALE, scalingLimited } from "../../hpa/steps/sentences.ts";
import {
  backoff,
  forbiddenSentence,
  type ForbiddenWindows,
  forbiddenWindows,
  wholeSeconds,
} from "../../shared/forbidden.ts";
import { stepped, withCondition } from "../../shared/steps.ts";
import type { LimitFactor } from "../../../model/spec-watermark.ts";
import { scaleDownLimit, scaleUpLimit } from "../../shared/arithmetic.ts";

/**
 * The series by which the multi-threshold document says to watch a band, under the names and in the
 * units of the watermark controller (watermark.md 2.15); none for any other HPA.
 */
export const thresholdSeries = (sync: HpaSync): readonly GaugeWrite[] | undefined => {
  const { spec } = sync.input;
  if (!spec.thresholds) return undefined;
  const marked = spec.metrics.flatMap((metric, at) => {
    const measurement = sync.measurements[at];
    return metric.marks && measurement ? [{ metric, marks: metric.marks, measurement }] : [];
  });
  return [
    gauge("min_replicas", spec.minReplicas),
    gauge("max_replicas", spec.maxReplicas),
    gauge("dry_run", spec.dryRun ? 1 : 0),
    gauge("replicas_scaling_effective", sync.count),
    ...marked.flatMap(ofMetric),
    ...restricted(sync, marked),
    ...countdowns(sync, spec.thresholds),
  ];
};

const gauge = (name: string, value: number, labels: GaugeWrite["labels"] = {}): GaugeWrite => ({
  name,
  labels,
  value,
});

interface Marked {
  readonly metric: HpaMetric;
  readonly marks: Marks;
  readonly measurement: Measurement;
}

const ofMetric = ({ metric, marks, measurement }: Marked): readonly GaugeWrite[] => {
  const labels = { metric_name: "metric" in metric ? metric.metric.name : metric.name };
  const levels = [
    ...["high_watermark", "high_watermak"].map((name) =>
      gauge(name, Number(marks.highMilli), labels),
    ),
    ...["low_watermark", "low_watermak"].map((name) => gauge(name, Number(marks.lowMilli), labels)),
  ];
  if (measurement.kind === "failed") return levels;
  return [
    ...levels,
    gauge("value", Number(measurement.usageMilli), labels),
    gauge("replicas_scaling_proposal", measurement.proposal, labels),
  ];
};

/** The band has no series while one of its metrics cannot be read. */
const restricted = (sync: HpaSync, marked: readonly Marked[]): readonly GaugeWrite[] => {
  const cut = (reason: string): number =>
    sync.steps.some(({ limit }) => limit?.reason === reason) ? 1 : 0;
  const readable =
    marked.length > 0 && marked.every(({ measurement }) => measurement.kind === "measured");
  const within = marked.every(
    ({ measurement }) => measurement.kind === "measured" && measurement.between === true,
  );
  return [
    ...(readable ? [gauge("restricted_scaling", within ? 1 : 0, { reason: "within_bounds" })] : []),
    gauge("restricted_scaling", cut("ScaleUpLimit"), { reason: "upscale_capping" }),
    gauge("restricted_scaling", cut("ScaleDownLimit"), { reason: "downscale_capping" }),
  ];
};

const countdowns = (
  { input: { windows, nowMs } }: HpaSync,
  thresholds: Thresholds,
): readonly GaugeWrite[] => {
  const { lastScaleMs } = windows.status;
  if (lastScaleMs === undefined) return [];
  const left = (untilMs = nowMs): number => (untilMs - nowMs) / 1000;
  const { up, down } = forbiddenOf(thresholds, lastScaleMs, nowMs);
  return [
    gauge("transition_countdown", left(up.untilMs), { transition: "upscale" }),
    gauge("transition_countdown", left(down.untilMs), { transition: "downscale" }),
  ];
};

/**
 * A scale of either direction closes both forbidden windows; a window of 0 s forbids nothing
 * (proposals.md §5).
 */
export const forbid: HpaStep = (sync) => {
  const { spec, windows, nowMs } = sync.input;
  const { current, count } = sync;
  const { lastScaleMs } = windows.status;
  if (!spec.thresholds || lastScaleMs === undefined) return sync;
  const { up, down } = forbiddenOf(spec.thresholds, lastScaleMs, nowMs);
  const [upClosed, downClosed] = [up.untilMs !== undefined, down.untilMs !== undefined];
  const conditioned =
    upClosed || downClosed
      ? { ...sync, conditions: withCondition(sync, backoff(downClosed, upClosed)) }
      : sync;
  const rising = count > current;
  const { untilMs } = rising ? up : down;
  if (count === current) return stepped(conditioned, "forbidden windows", count);
  if (untilMs === undefined) {
    return {
      ...stepped(sync, "forbidden windows", count),
      conditions: withCondition(sync, READY_FOR_NEW_SCALE),
    };
  }
  const reason = rising ? "BackoffUpscale" : "BackoffDownscale";
  const limit = {
    reason,
    value: current,
    message: forbiddenSentence(rising ? "upscale" : "downscale"),
    untilMs,
  };
  return stepped(conditioned, "forbidden windows", current, limit);
};

/** The windows begin at the last scale in whole seconds, and their end itself is open. */
export const forbiddenOf = (
  thresholds: Thresholds,
  lastScaleMs: number | undefined,
  nowMs: number,
): ForbiddenWindows =>
  forbiddenWindows(
    {
      upMs: thresholds.upscaleForbiddenWindowSeconds * 1000,
      downMs: thresholds.downscaleForbiddenWindowSeconds * 1000,
    },
    lastScaleMs === undefined ? undefined : wholeSeconds(lastScaleMs),
    nowMs,
  );

/**
 * The share of the current count that one step may add or take away (proposals.md §5). It only
 * brings the count nearer to the current one, so min and max stay kept.
 */
export const limitStep: HpaStep = (sync) => {
  const { thresholds } = sync.input.spec;
  if (!thresholds) return sync;
  const { current, count: before } = sync;
  const up = before > current;
  const factor = up ? thresholds.scaleUpLimit : thresholds.scaleDownLimit;
  const count = up
    ? Math.min(before, scaleUpLimit(factor, current))
    : Math.max(before, scaleDownLimit(factor, current));
  if (before === current || count === before) return stepped(sync, "step limit", before);
  const reason = up ? "ScaleUpLimit" : "ScaleDownLimit";
  const limit = { reason, value: count, message: sentenceOf(up, factor) };
  return {
    ...stepped(sync, "step limit", count, limit),
    conditions: withCondition(sync, scalingLimited(true, reason)),
  };
};

const sentenceOf = (up: boolean, { milli }: LimitFactor): string => {
  const field = up ? "scaleUpLimitFactor" : "scaleDownLimitFactor";
  if (milli === 0n) return `${field} is 0, which forbids to ${up ? "add" : "remove"} pods`;
  return `one step may ${up ? "add" : "remove"} ${Number(milli) / 1000} percent of the current count, at least 1 pod (${field})`;
};
