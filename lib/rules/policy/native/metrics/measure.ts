import type { InputReading } from "../../../model/decision.ts";
import { type Container, type Pod, valuesIn } from "../../../model/observation.ts";
import { decimalText } from "../../../model/quantity.ts";
import { queryKey } from "../../../model/query.ts";
import type { HpaMetric, MetricTarget } from "../../../model/spec-hpa.ts";
import type { NativeMetric } from "../../../model/spec-native.ts";
import { namesIn } from "../../../sources/expression.ts";
import { failure, type Inputs } from "../../../sources/source.ts";
import { registeredQueryOf, sourceOf } from "../../../sources/sources.ts";
import { MAX_I32, type Tolerance } from "../../shared/arithmetic.ts";
import { measureMetric } from "../../shared/metrics/measure-metric.ts";
import type { Measured, Measurement, MetricContext } from "../../shared/metrics/measurement.ts";
import { type Curve, curveThrough } from "../../shared/metrics/curve.ts";
import {
  perReplicaReplicas,
  saturatedTotal,
  sharedCurve,
  totalCurve,
  totalReplicas,
} from "../../shared/metrics/replicas.ts";
import { MAX_I64 } from "../../../model/quantity-parse.ts";

/** What one metric says of the count, or why it says nothing; of a formula with its inputs. */
export type CountReading = { readonly inputs?: readonly InputReading[] } & (
  | {
      readonly kind: "measured";
      readonly metric: NativeMetric;
      readonly proposal: number;
      readonly measured: Measured;
      readonly target: string;
    }
  | {
      readonly kind: "missing";
      readonly metric: NativeMetric;
      readonly reason: string;
      readonly message: string;
    }
);

/**
 * The mark that was not crossed never speaks: each mark is a target whose other side is tolerated
 * without end.
 */
const ONLY_GROWS = { up: 0, down: Number.POSITIVE_INFINITY };
const ONLY_SHRINKS = { up: Number.POSITIVE_INFINITY, down: 0 };

/**
 * One metric: against its target with the tolerances, or against the high mark upwards and the low
 * mark downwards. The arithmetic follows hpa.md 3; what overflows there (in 1.37, with
 * `pods: asHpa`) is a value that cannot be read here, because it would shrink the workload.
 */
export const measureNative = (metric: NativeMetric, whole: MetricContext): CountReading => {
  const { band } = metric;
  const context = isOfLimit(metric) ? ofLimits(whole) : whole;
  if (band.kind === "target") {
    return against(metric, band.milli, {
      ...context,
      tolerance: toleranceOfTarget(band, whole.tolerance),
    });
  }
  const up = against(metric, band.highMilli, { ...context, tolerance: ONLY_GROWS });
  if (up.kind === "missing") return up;
  const down = against(metric, band.lowMilli, { ...context, tolerance: ONLY_SHRINKS });
  const chosen = up.proposal > context.currentReplicas ? up : down;
  if (chosen.kind === "missing" || down.kind === "missing") return chosen;
  const [high, low] = [up.measured.curve, down.measured.curve];
  if (!high || !low) return chosen;
  const curve = () => bothMarks(high(), low(), context.currentReplicas);
  return { ...chosen, measured: { ...chosen.measured, curve } };
};

/** The value against the high mark, and against the low one where it asks for no more pods. */
const bothMarks = (high: Curve, low: Curve, current: number): Curve => ({
  ...high,
  at: (step) => {
    const up = high.at(step);
    return up === undefined || up.replicas > current ? up : low.at(step);
  },
  bends: () => [...high.bends(), ...low.bends()],
});

const isOfLimit = ({ source }: NativeMetric): boolean => "of" in source && source.of === "limit";

const ofLimits = ({ own, ...context }: MetricContext): MetricContext => ({
  ...context,
  pods: withLimits(context.pods),
  ...(own && { own: { ...own, measured: withLimits(own.measured) } }),
});

/** The tolerance of a target, or the cluster's where it has none of its own. */
export const toleranceOfTarget = (
  own: { readonly toleranceUp?: number; readonly toleranceDown?: number },
  { up, down }: Tolerance,
): Tolerance => ({
  up: own.toleranceUp ?? up,
  down: own.toleranceDown ?? down,
});

const against = (
  metric: NativeMetric,
  levelMilli: bigint,
  context: MetricContext,
): CountReading => {
  const measured = measureAt(metric, levelMilli, context);
  const { source } = metric;
  if (measured.kind === "failed")
    return {
      kind: "missing",
      metric,
      reason: measured.reason,
      message: inOwnWords(measured.message, metric),
    };
  const isUsable = ({ ratio, overflowed }: Pick<Measured, "ratio" | "overflowed">): boolean =>
    !(Number.isNaN(ratio) || overflowed || (ratio < 0 && "of" in source));
  if (!isUsable(measured))
    return {
      kind: "missing",
      metric,
      reason: "UnusableValue",
      message: `the value of ${metric.name} leaves the range of numbers`,
    };
  const { currentReplicas } = context;
  const { curve } = measured;
  const guardedCurve =
    curve &&
    (() =>
      curveThrough(curve(), (value) =>
        isUsable(value)
          ? { ...value, replicas: guarded(value.ratio, value.replicas, currentReplicas) }
          : undefined,
      ));
  return {
    kind: "measured",
    metric,
    measured: guardedCurve ? { ...measured, curve: guardedCurve } : measured,
    proposal: guarded(measured.ratio, measured.proposal, currentReplicas),
    target: levelsText(metric),
  };
};

type Leveled = Pick<NativeMetric, "source" | "measure" | "maxAgeMs">;

/**
 * A metric against one level: with the arithmetic of autoscaling/v2 for its type, or with the
 * arithmetic of an external metric.
 */
const measureAt = (metric: Leveled, levelMilli: bigint, whole: MetricContext): Measurement => {
  const old = staleWords(metric, whole);
  if (old !== undefined) return unmeasured(metric, old, "Stale");
  const context = sinceOf(metric, whole);
  const known = asHpaMetric(metric, levelMilli);
  return known ? measureMetric(known, context) : measureWhole(metric, levelMilli, context);
};

/** Of a metric of pods each sample has its age. */
const sinceOf = ({ maxAgeMs }: Leveled, context: MetricContext): MetricContext =>
  maxAgeMs === undefined ? context : { ...context, sinceMs: context.readiness.nowMs - maxAgeMs };

const unmeasured = ({ source }: Leveled, message: string, reason?: string): Measurement => {
  const of = sourceOf(source);
  return {
    kind: "failed",
    name: of.nameOf(source),
    reason: reason ?? `FailedGet${of.type}Metric`,
    message,
    chain: message,
  };
};

/**
 * The metric as one of autoscaling/v2, with the level as its target; `undefined` for a source that
 * autoscaling/v2 has not.
 */
const asHpaMetric = ({ source, measure }: Leveled, levelMilli: bigint): HpaMetric | undefined => {
  const target = targetOf(measure, levelMilli);
  if (source.type === "Resource") return { type: source.type, name: source.name, target };
  if (source.type === "ContainerResource")
    return { type: source.type, name: source.name, container: source.container, target };
  return source.type === "Pods" || source.type === "Object" || source.type === "External"
    ? { ...source, target }
    : undefined;
};

const targetOf = (measure: NativeMetric["measure"], levelMilli: bigint): MetricTarget => {
  switch (measure) {
    case "Percent":
      return { type: "Utilization", averageUtilization: Number(levelMilli / 1000n) };
    case "Average":
      return { type: "AverageValue", averageValueMilli: levelMilli };
    case "Total":
      return { type: "Value", valueMilli: levelMilli };
  }
};

/** The sum of the values of a source, whole or shared by the pods, as for an external metric. */
const measureWhole = (metric: Leveled, levelMilli: bigint, context: MetricContext): Measurement => {
  const { source, measure } = metric;
  const of = sourceOf(source);
  const samples = of.samples(source, context);
  if ("message" in samples) return unmeasured(metric, samples.message);
  const values = samples instanceof Map ? [...samples.values()].map(({ milli }) => milli) : samples;
  const isAverage = measure === "Average";
  // A negative sum is a value like any other: it asks for the least count (docs/migrating.md).
  const totalMilli = saturatedTotal(values);
  const outcome = isAverage
    ? perReplicaReplicas(totalMilli, levelMilli, context, "saturated")
    : totalReplicas(totalMilli, levelMilli, context);
  if (outcome.kind === "failure") return unmeasured(metric, outcome.message);
  const { replicas, ratio, usageMilli } = outcome;
  const value = decimalText(usageMilli);
  const status = of.statusOf(source, isAverage ? { averageValue: value } : { value });
  const overflowed = isAverage && totalMilli === MAX_I64 ? ({ overflowed: true } as const) : {};
  const behind = isAverage
    ? sharedCurve(totalMilli, levelMilli, context, "saturated")
    : { curve: () => totalCurve(totalMilli, levelMilli, context) };
  return {
    kind: "measured",
    name: of.nameOf(source),
    proposal: replicas,
    value,
    target: decimalText(levelMilli),
    ratio,
    usageMilli,
    status,
    ...overflowed,
    ...behind,
  };
};

/** Why a value that is not of pods is too old to decide on; undefined for one that is not. */
const staleWords = ({ source, maxAgeMs }: Leveled, context: MetricContext): string | undefined => {
  const ageMs = maxAgeMs === undefined ? undefined : sampleAgeMs(source, context);
  if (maxAgeMs === undefined || ageMs === undefined || !(ageMs > maxAgeMs)) return undefined;
  const registered = registeredQueryOf(source);
  const value = registered ? `value from source "${registered.source}"` : "value";
  return `the ${value} is ${Math.round(ageMs / MILLI)} s old, and maxAgeSeconds is ${maxAgeMs / MILLI}`;
};

/**
 * Above its target a metric never asks for fewer pods than there are, below it never for more: few
 * ready pods, or an overflow, must not turn it round.
 */
const guarded = (ratio: number, proposal: number, current: number): number => {
  if (ratio <= 1) return Math.max(0, Math.min(proposal, current));
  return proposal < 0 ? MAX_I32 : Math.max(proposal, current);
};

/** Percentages of the limit are measured by putting the limit where the request stands. */
const inOwnWords = (message: string, metric: NativeMetric): string =>
  isOfLimit(metric) ? message.replaceAll("request", "limit") : message;

/** A target, or two watermarks, as people read them. */
export const levelsText = (metric: Pick<NativeMetric, "band" | "measure">): string =>
  metric.band.kind === "target"
    ? levelText(metric, metric.band.milli)
    : `${levelText(metric, metric.band.lowMilli)}..${levelText(metric, metric.band.highMilli)}`;

const levelText = ({ measure }: Pick<NativeMetric, "measure">, levelMilli: bigint): string =>
  decimalText(levelMilli) + (measure === "Percent" ? "%" : "");

/** The whole values of the metrics that formulas name. */
export const inputsOf =
  (metrics: readonly NativeMetric[], context: MetricContext): Inputs =>
  (name) => {
    const metric = metrics.find((candidate) => candidate.name === name);
    if (metric === undefined || metric.source.type === "Formula")
      return failure(`the formula names "${name}", which is no metric that it may name`);
    const measured = measureWholly(metric, context);
    if (measured.kind === "failed")
      return failure(`its input ${name} is missing: ${measured.message}`);
    // On doubt, a missing metric: a sum that left 64 bits is no value.
    return measured.usageMilli >= MAX_I64
      ? failure(`its input ${name} leaves the range of numbers`)
      : Number(measured.usageMilli) / MILLI;
  };

/** The inputs of a formula, for people; `undefined` for another metric. */
export const inputReadings = (
  metric: NativeMetric,
  metrics: readonly NativeMetric[],
  context: MetricContext,
): readonly InputReading[] | undefined => {
  if (metric.source.type !== "Formula") return undefined;
  return [...namesIn(metric.source.root, "all").keys()].map((name) => {
    const input = metrics.find((candidate) => candidate.name === name);
    if (input === undefined) return { name, message: "there is no metric of this name" };
    const measured = measureWholly(input, context);
    if (measured.kind === "failed") return { name, message: measured.message };
    const ageMs = sampleAgeMs(input.source, context);
    return {
      name,
      value: decimalText(measured.usageMilli),
      ...(ageMs !== undefined && { ageSeconds: Math.max(0, Math.round(ageMs / MILLI)) }),
    };
  });
};

/**
 * The age of the oldest value of a source that is not of pods; `undefined` where none says a time.
 */
const sampleAgeMs = (
  source: Leveled["source"],
  { answers, namespace, readiness: { nowMs } }: MetricContext,
): number | undefined => {
  const of = sourceOf(source);
  if (of.samplesOf === "pods") return undefined;
  const query = of.queryOf(source, { namespace, podSelector: undefined });
  const answer = query && valuesIn(answers, queryKey(query));
  if (answer?.kind !== "answered") return undefined;
  const times = answer.items.map(({ timestampMs }) => timestampMs).filter((ms) => ms > 0);
  return times.length === 0 ? undefined : nowMs - Math.min(...times);
};

const MILLI = 1000;

const measureWholly = (metric: NativeMetric, context: MetricContext): Measurement =>
  measureAt({ ...metric, measure: "Total" }, 1000n, { ...context, currentReplicas: 0 });

/**
 * The whole value, whatever the metric is measured by: without replicas there is no pod to share
 * it.
 */
export const wholeMilli = (metric: NativeMetric, context: MetricContext): bigint | undefined => {
  const measured = measureWholly(metric, context);
  return measured.kind === "measured" ? measured.usageMilli : undefined;
};

/**
 * The pods with their limits in the place of their requests: the use of what a container may have
 * at most. The limit of a whole pod and its overhead are no part of it.
 */
const withLimits = (pods: readonly Pod[]): readonly Pod[] =>
  pods.map(({ podRequests: _ofThePod, ...pod }) => ({
    ...pod,
    containers: pod.containers.map(limited),
    initContainers: pod.initContainers.map(limited),
    overhead: {},
  }));

const limited = (container: Container): Container => ({ ...container, requests: container.limits });
