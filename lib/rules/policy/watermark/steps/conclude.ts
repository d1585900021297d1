import type { Because, Decision, GaugeWrite } from "../../../model/decision.ts";
import type { Condition, Status, Windows } from "../../../model/windows.ts";
import { isTrue } from "../../shared/steps.ts";
import { wholeSeconds } from "../../shared/forbidden.ts";
import { scaleSentence } from "../../shared/scale-sentence.ts";
import type { LastWord } from "./bounds.ts";
import {
  condition,
  eventNote,
  gauge,
  type StepNote,
  notScaling,
  readyForScale,
} from "./sentences.ts";
import { type Ending, noted, type WatermarkSync } from "./sync.ts";
import { DAY_SECONDS, dayText, SECOND_MS } from "../../../model/time-text.ts";

/** Seconds after which the original looks again (watermark.md 2.2). */
export const PERIOD = 15;

type Chosen = Extract<Ending, { readonly kind: "chosen" }>;
type Stopped = Extract<Ending, { readonly kind: "stopped" }>;

/**
 * The decision, with what to store if nothing is written: a scale, the report of a dry run, or a
 * hold.
 */
export const conclude = (sync: WatermarkSync): Decision => {
  const { ending } = sync;
  switch (ending?.kind) {
    case "chosen":
      return carriedOut(sync, ending);
    case "stopped":
      return stopped(sync, ending);
    case undefined:
      throw new RangeError("the steps of the watermark rules ended without a choice");
  }
};

const stopped = (
  sync: WatermarkSync,
  { because, failed, dueAgainSeconds, from, status = sync.input.windows.status }: Stopped,
): Decision => ({
  ...decided(sync, dueAgainSeconds, status),
  kind: "hold",
  ...(from !== undefined && { from }),
  because,
  failed,
});

const carriedOut = (sync: WatermarkSync, { verdict, currentMetrics }: Chosen): Decision => {
  const { spec, windows, nowMs } = sync.input;
  const { specReplicas: from, statusReplicas } = sync.scale;
  const status: Status = { ...windows.status, currentReplicas: statusReplicas, currentMetrics };
  const because = becauseOf(sync, verdict);
  if (!verdict.rescale) {
    const effective = noted(
      sync,
      notScalingNote(sync, verdict.wanted),
      gauge("replicas_scaling_effective", from),
    );
    return {
      ...decided(effective, PERIOD, { ...status, desiredReplicas: from }),
      kind: "hold",
      from,
      because,
      failed: false,
    };
  }
  const ready = noted(sync, condition(readyForScale));
  if (!spec.dryRun)
    return {
      ...decided(ready, PERIOD, status),
      kind: "scale",
      from,
      to: verdict.to,
      trigger: verdict.message,
      because,
    };
  const effective = noted(ready, gauge("replicas_scaling_effective", verdict.to));
  const reported: Status = {
    ...status,
    desiredReplicas: verdict.to,
    lastScaleMs: wholeSeconds(nowMs),
  };
  const message = `Dry run: would scale to ${verdict.to}; ${verdict.message}`;
  return {
    ...decided(effective, PERIOD, reported),
    kind: "hold",
    from,
    because: { reason: "DryRun", message },
    failed: false,
  };
};

/**
 * A scale by the metrics says what they ask for, and then what limited it. The verdict has the
 * message of the controller's Event.
 */
const becauseOf = (
  { metrics, steps, wanted, scale: { specReplicas: from } }: WatermarkSync,
  { reason, message, to }: LastWord,
): Because => {
  if (reason !== "Proposal") return { reason, message };
  const sentence = scaleSentence({ metrics, steps, wanted, trigger: message });
  if (to === from || wanted === from) return { reason, message: sentence };
  return { reason: to > from ? "MetricAboveTarget" : "AllMetricsBelowTarget", message: sentence };
};

const notScalingNote = (
  { input: { spec, namespace, windows } }: WatermarkSync,
  wanted: number,
): StepNote => {
  const target = `${spec.target.kind}/${namespace}/${spec.target.name}`;
  const last =
    windows.status.lastScaleMs === undefined ? "<nil>" : goTime(windows.status.lastScaleMs);
  if (spec.skipNotScalingEvents) return condition(notScaling(target, wanted, last));
  return eventNote(
    "Normal",
    "NotScaling",
    `Decided not to scale ${target} to ${wanted} (last scale time was ${last} )`,
  );
};

const decided = (sync: WatermarkSync, dueAgainSeconds: number | null, status: Status) => {
  const { input, conditions, lastCondition, events, gauges, metrics, steps } = noted(
    sync,
    gauge("scaling_active", isTrue(sync.conditions, "ScalingActive") ? 1 : 0),
  );
  return {
    metrics,
    steps,
    events,
    gauges: lastWrites(gauges),
    dueAgainSeconds,
    ...(lastCondition && {
      lastCondition: { type: lastCondition.type, status: lastCondition.status },
    }),
    windows: {
      ...input.windows,
      status: { ...status, conditions: storedConditions(conditions) },
    } satisfies Windows,
  };
};

/** The last write of each series, in the order of these writes. */
export const lastWrites = (gauges: readonly GaugeWrite[]): readonly GaugeWrite[] => {
  const bySeries = new Map<string, GaugeWrite>();
  for (const write of gauges) {
    const series = seriesOf(write);
    bySeries.delete(series);
    bySeries.set(series, write);
  }
  return [...bySeries.values()];
};

/** A series has one label at most, so that its name and its labels tell it apart without quotes. */
const seriesOf = ({ name, labels }: GaugeWrite): string => {
  let series = name;
  for (const label in labels) series += ` ${label}=${labels[label]}`;
  return series;
};

/**
 * Transitions are stored in whole seconds, so a breach first judged by the full clock is later up
 * to a second older (watermark.md 2.18 s).
 */
const storedConditions = (conditions: readonly Condition[]): readonly Condition[] =>
  conditions.map((stored) => ({ ...stored, transitionMs: wholeSeconds(stored.transitionMs) }));

const two = (part: number): string => String(part).padStart(2, "0");

/**
 * A time as the original prints it: "2026-01-02 03:04:05 +0000 UTC". Worked out here: a formatter
 * of the platform takes longer than the rest of a decision.
 */
export const goTime = (timeMs: number): string => {
  const seconds = Math.floor(timeMs / SECOND_MS);
  const days = Math.floor(seconds / DAY_SECONDS);
  const ofDay = seconds - days * DAY_SECONDS;
  const clock = [ofDay / 3_600, (ofDay / 60) % 60, ofDay % 60].map((part) => two(Math.floor(part)));
  return `${dayText(days)} ${clock.join(":")} +0000 UTC`;
};
