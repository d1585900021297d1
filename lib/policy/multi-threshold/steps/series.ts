import type { GaugeWrite } from "../../../model/decision.ts";
import type { HpaMetric, Marks, Thresholds } from "../../../model/spec-hpa.ts";
import type { HpaSync } from "../../hpa/steps/sync.ts";
import type { Measurement } from "../../shared/metrics/measurement.ts";
import { forbiddenOf } from "./forbid.ts";

/** The series by which the multi-threshold document says to watch a band, under the names and in the units of the watermark controller (watermark.md 2.15); none for any other HPA. */
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
    ...restricted(
      sync,
      marked.map(({ measurement }) => measurement),
    ),
    ...countdowns(sync, spec.thresholds),
  ];
};

const gauge = (name: string, value: number, labels: GaugeWrite["labels"] = {}): GaugeWrite => ({ name, labels, value });

interface Marked {
  readonly metric: HpaMetric;
  readonly marks: Marks;
  readonly measurement: Measurement;
}

const ofMetric = ({ metric, marks, measurement }: Marked): readonly GaugeWrite[] => {
  const labels = { metric_name: "metric" in metric ? metric.metric.name : metric.name };
  const levels = [
    ...["high_watermark", "high_watermak"].map((name) => gauge(name, Number(marks.highMilli), labels)),
    ...["low_watermark", "low_watermak"].map((name) => gauge(name, Number(marks.lowMilli), labels)),
  ];
  if (measurement.kind === "failed") return levels;
  return [...levels, gauge("value", Number(measurement.usageMilli), labels), gauge("replicas_scaling_proposal", measurement.proposal, labels)];
};

/** The band has no series while one of its metrics cannot be read. */
const restricted = (sync: HpaSync, measurements: readonly Measurement[]): readonly GaugeWrite[] => {
  const cut = (reason: string): number => (sync.steps.some(({ limit }) => limit?.reason === reason) ? 1 : 0);
  const readable = measurements.length > 0 && measurements.every(({ kind }) => kind === "measured");
  const within = measurements.every((measurement) => measurement.kind === "measured" && measurement.between === true);
  return [
    ...(readable ? [gauge("restricted_scaling", within ? 1 : 0, { reason: "within_bounds" })] : []),
    gauge("restricted_scaling", cut("ScaleUpLimit"), { reason: "upscale_capping" }),
    gauge("restricted_scaling", cut("ScaleDownLimit"), { reason: "downscale_capping" }),
  ];
};

const countdowns = ({ input: { windows, nowMs } }: HpaSync, thresholds: Thresholds): readonly GaugeWrite[] => {
  const { lastScaleMs } = windows.status;
  if (lastScaleMs === undefined) return [];
  const left = (untilMs = nowMs): number => (untilMs - nowMs) / 1000;
  const { up, down } = forbiddenOf(thresholds, lastScaleMs, nowMs);
  return [
    gauge("transition_countdown", left(up.untilMs), { transition: "upscale" }),
    gauge("transition_countdown", left(down.untilMs), { transition: "downscale" }),
  ];
};
