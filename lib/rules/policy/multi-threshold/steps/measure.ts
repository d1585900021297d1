import { measuredBy } from "../../hpa/steps/measure.ts";
import type { HpaStep } from "../../hpa/steps/sync.ts";
import { measureMetric } from "../../shared/metrics/measure-metric.ts";
import { decimalText } from "../../../model/quantity.ts";
import type { HpaMetric, Marks } from "../../../model/spec-hpa.ts";
import { bendsAround, ceilDivided, type Curve, floorDivided } from "../../shared/metrics/curve.ts";
import { MAX_I32, toI32, toI64 } from "../../shared/arithmetic.ts";
import { type Failure, failure } from "../../../sources/source.ts";
import { sourceOf } from "../../../sources/sources.ts";
import {
  marksText,
  type Measurement,
  type MetricContext,
} from "../../shared/metrics/measurement.ts";

/** Each metric against its marks where it has two, else against its target. */
export const measure: HpaStep = (sync) =>
  measuredBy(
    (metric, context) =>
      metric.marks ? measureMarked(metric, metric.marks, context) : measureMetric(metric, context),
    sync,
  );

/**
 * What a metric adds up to; `partial` when running pods of the target gave no sample, so that the
 * sum is too small.
 */
interface Total {
  readonly milli: bigint;
  readonly partial: boolean;
}

/**
 * A metric of any type against two marks, by the arithmetic of the multi-threshold document
 * (proposals.md §5): the sum, divided by the current count for `average`; strictly above the
 * widened high mark the current count grows by value ÷ high, strictly below the widened low mark it
 * shrinks by value ÷ low, and between them it stays.
 */
export const measureMarked = (
  metric: HpaMetric,
  marks: Marks,
  context: MetricContext,
): Measurement => {
  const source = sourceOf(metric);
  const name = source.nameOf(metric);
  const total = totalOf(metric, context);
  if ("message" in total) {
    const message = `failed to get ${name}: ${total.message}`;
    return {
      kind: "failed",
      name,
      reason: `FailedGet${metric.type}Metric`,
      message,
      chain: message,
    };
  }
  const { currentReplicas: current, average } = context;
  const { usage, side, replicas } = markedReplicas(total, marks, context);
  const value = decimalText(toI64(usage));
  return {
    kind: "measured",
    name,
    proposal: replicas,
    value,
    target: marksText(marks),
    ratio: Number.NaN,
    usageMilli: toI64(usage),
    between: side === "between",
    status: source.statusOf(metric, average ? { averageValue: value } : { value }),
    ...(average && current <= 0 ? {} : { curve: () => markedCurve(total, marks, context) }),
  };
};

interface MarkedReplicas {
  readonly usage: number;
  readonly side: Side;
  readonly replicas: number;
}

const markedReplicas = (
  { milli, partial }: Total,
  marks: Marks,
  context: MetricContext,
): MarkedReplicas => {
  const { currentReplicas: current, average } = context;
  const usage = Number(milli) / (average ? current : 1);
  const side = sideOf(usage, marks, context);
  const wanted = wantedOf(usage, side, marks, current);
  // What is missing from the sum could be what the pods are needed for: it may grow on it, never
  // shrink.
  return { usage, side, replicas: partial ? Math.max(wanted, current) : wanted };
};

const markedCurve = (total: Total, marks: Marks, context: MetricContext): Curve => {
  const over = context.average ? BigInt(context.currentReplicas) : 1n;
  return {
    floor: floorDivided(total.milli, over),
    ceil: ceilDivided(total.milli, over),
    at: (step) => {
      const { replicas } = markedReplicas({ ...total, milli: step * over }, marks, context);
      return { replicas, ratio: Number.NaN };
    },
    bends: () =>
      [marks.lowMilli, marks.highMilli].flatMap((mark) =>
        bendsAround(Number(mark), context.tolerance),
      ),
  };
};

type Side = "above" | "below" | "between";

/** Strictly outside the widened marks; both ends belong to the band. */
const sideOf = (
  usage: number,
  { highMilli, lowMilli }: Marks,
  { tolerance }: MetricContext,
): Side => {
  const [high, low] = [Number(highMilli), Number(lowMilli)];
  if (usage > high + tolerance.up * high) return "above";
  return usage < low - tolerance.down * low ? "below" : "between";
};

/**
 * The order of the float operations follows the watermark rules, so that both forms decide alike.
 */
const wantedOf = (
  usage: number,
  side: Side,
  { highMilli, lowMilli }: Marks,
  current: number,
): number => {
  switch (side) {
    case "above":
      return Math.max(
        toI32(Math.min(Math.ceil((current * usage) / Number(highMilli)), MAX_I32)),
        current,
      );
    case "below":
      return Math.min(
        Math.max(toI32(Math.floor((current * usage) / Number(lowMilli))), 1),
        current,
      );
    case "between":
      return current;
  }
};

const totalOf = (metric: HpaMetric, context: MetricContext): Total | Failure => {
  const total = sumOf(metric, context);
  // Nothing is used less than not at all: such a value is a mistake of its source, and nothing
  // shrinks on it.
  return !("message" in total) && total.milli < 0n
    ? failure(`its value ${decimalText(total.milli)} is below 0`)
    : total;
};

const sumOf = (metric: HpaMetric, context: MetricContext): Total | Failure => {
  const samples = sourceOf(metric).samples(metric, context);
  if ("message" in samples) return samples;
  if (!(samples instanceof Map)) return { milli: added(samples), partial: false };
  if (samples.size === 0) return failure("no pod gave a sample");
  // Of pods that a selector of the metric's own finds, none is known to be missing.
  const pods = "selector" in metric && metric.selector ? [] : context.pods;
  const partial = pods.some(
    ({ name, phase, deleting }) => phase === "Running" && !deleting && !samples.has(name),
  );
  return { milli: added([...samples.values()].map(({ milli }) => milli)), partial };
};

const added = (amounts: readonly bigint[]): bigint =>
  amounts.reduce((sum, milli) => sum + milli, 0n);
