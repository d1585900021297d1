import { foreignText } from "../../../model/foreign-text.ts";
import {
  type Answer,
  type Answers,
  type Observation,
  type Pod,
  type PodMetrics,
  type ScaleRead,
  valuesIn,
} from "../../../model/observation.ts";
import { queryKey } from "../../../model/query.ts";
import { type Selector, selectorOf } from "../../../model/selector.ts";
import { parseSelector } from "../../../model/selector-text.ts";
import type { WatermarkMetric, WatermarkSpec } from "../../../model/spec-watermark.ts";
import { externalQuery } from "../../../sources/external.ts";
import { podMetricsOf } from "../../../sources/resource.ts";
import { wrapI64 } from "../../shared/arithmetic.ts";
import { ceilDivided, type Curve, floorDivided, nextTo } from "../../shared/metrics/curve.ts";
import { dropGauge, gauge, type StepNote } from "../steps/sentences.ts";
import type { CountedPods } from "../../shared/metrics/measurement.ts";
import { availableReady, type Counted, resourceReady } from "./pods.ts";
import { marksOf, type WatermarkProposal, proposeFromValue } from "./propose.ts";

export interface MeasuredSpec {
  readonly spec: WatermarkSpec;
  readonly namespace: string;
  readonly scale: ScaleRead;
  readonly observation: Observation;
  readonly nowMs: number;
}

/**
 * The proposal of one metric, or why there is none. The order of the questions is the original's,
 * because the first failure is the one reported (watermark.md 2.5).
 */
export const measure = (
  metric: WatermarkMetric,
  subject: MeasuredSpec,
): Counted<WatermarkProposal> =>
  metric.source === "External"
    ? measureExternal(metric, subject)
    : measureResource(metric, subject);

/** `<namespace>/<target>`, as error texts name it. */
const autoscalerOf = ({ spec, namespace }: MeasuredSpec): string =>
  `${namespace}/${spec.target.name}`;

/** The pods that the scale's selector matches, in the autoscaler's namespace. */
export const targetPods = ({ scale, observation }: MeasuredSpec): Counted<readonly Pod[]> => {
  const reading = parseSelector(scale.selector);
  if (reading.kind === "invalid")
    return {
      kind: "failed",
      message: `unable to parse the selector of the scale "${foreignText(scale.selector)}": ${foreignText(reading.message)}`,
    };
  return { kind: "counted", value: observation.pods.select(reading.selector) };
};

/**
 * Pods, readiness and availability come before the metric, for External metrics and recommenders.
 */
export const readyPods = (subject: MeasuredSpec): Counted<number> => {
  if (subject.spec.counts === "current")
    return { kind: "counted", value: subject.scale.specReplicas };
  const pods = targetPods(subject);
  if (pods.kind === "failed") return pods;
  return availableReady(pods.value, subject.scale, subject.spec, {
    autoscaler: autoscalerOf(subject),
    nowMs: subject.nowMs,
  });
};

const measureExternal = (
  metric: WatermarkMetric,
  subject: MeasuredSpec,
): Counted<WatermarkProposal> => {
  const counted = readyPods(subject);
  if (counted.kind === "failed") return counted;
  const ready = counted.value;
  const query = externalQuery({ name: metric.name, selector: metric.selector });
  if (!query)
    return {
      kind: "failed",
      message: `unable to get external metric ${subject.namespace}/${metric.name}: its selector cannot be read`,
    };
  const answer = valuesIn(subject.observation.answers, queryKey(query));
  if (!answer)
    throw new RangeError(
      `The external metric "${metric.name}" was not asked for before the decision`,
    );
  const fetched = fetchedItems(answer, "external", metric, subject.namespace);
  if (fetched.kind === "failed") return fetched;
  const sum = totalOf(fetched.value.map(({ milli }) => milli));
  // The multi-threshold form has no `tolerateZero`: there 0 is a value like any other (proposals.md
  // §5).
  if (sum === 0n && !subject.spec.tolerateZero && subject.spec.counts === "ready") {
    return {
      kind: "counted",
      value: {
        replicas: ready,
        utilisation: 0n,
        ready,
        above: false,
        below: false,
        details: "",
        zero: true,
        notes: [],
      },
    };
  }
  return { kind: "counted", value: valued(metric, sum, ready, subject) };
};

const measureResource = (
  metric: WatermarkMetric,
  subject: MeasuredSpec,
): Counted<WatermarkProposal> => {
  const selector = selectorOf(metric.selector);
  if (selector.kind === "invalid")
    return {
      kind: "failed",
      message: `unable to get resource metric ${subject.namespace}/${metric.name}: ${selector.message}`,
    };
  const fetched = fetchedItems(
    podMetrics(subject.observation.answers, selector.selector),
    "resource",
    metric,
    subject.namespace,
  );
  if (fetched.kind === "failed") return fetched;
  const samples = samplesOf(fetched.value, metric.name);
  if (subject.spec.counts === "current") return ofAllSamples(metric, samples, subject);
  const pods = targetPods(subject);
  if (pods.kind === "failed") return pods;
  const grouped = resourceReady(
    pods.value,
    { resource: metric.name, hasSample: (pod) => samples.has(pod) },
    subject.spec,
    autoscalerOf(subject),
  );
  if (grouped.kind === "failed") return grouped;
  const counted = [...samples].filter(([pod]) => !grouped.value.ignored.has(pod));
  if (counted.length === 0)
    return { kind: "failed", message: "did not receive metrics for any ready pods" };
  const sum = totalOf(counted.map(([, milli]) => milli));
  const value = valued(metric, sum, grouped.value.ready, subject);
  return {
    kind: "counted",
    value: { ...value, counted: () => countedPods(pods.value, samples, grouped.value.ignored) },
  };
};

const countedPods = (
  pods: readonly Pod[],
  samples: ReadonlyMap<string, bigint>,
  ignored: ReadonlySet<string>,
): CountedPods => {
  const others = pods.filter(({ name }) => !ignored.has(name));
  const counted = others.filter(({ name }) => samples.has(name)).length;
  const listed = pods.filter(({ name }) => samples.has(name)).length;
  return {
    counted,
    unready: ignored.size,
    missing: others.length - counted,
    leftOut: 0,
    unlisted: samples.size - listed,
  };
};

/** The document adds up what the metric's selector finds. */
const ofAllSamples = (
  metric: WatermarkMetric,
  samples: ReadonlyMap<string, bigint>,
  subject: MeasuredSpec,
): Counted<WatermarkProposal> => {
  if (samples.size === 0)
    return { kind: "failed", message: `no sample has the resource ${metric.name}` };
  return {
    kind: "counted",
    value: valued(metric, totalOf(samples.values()), subject.scale.specReplicas, subject),
  };
};

const totalOf = (amounts: Iterable<bigint>): bigint =>
  [...amounts].reduce((total, milli) => wrapI64(total + milli), 0n);

const valued = (
  metric: WatermarkMetric,
  sum: bigint,
  ready: number,
  subject: MeasuredSpec,
): WatermarkProposal => {
  const { spec, scale } = subject;
  const value = gauge("value", Number(sum) / (spec.average ? ready : 1), {
    metric_name: metric.name,
  });
  const counts = { current: scale.specReplicas, ready };
  const proposal = proposeFromValue(sum, metric, counts, spec);
  const noted = { ...proposal, notes: [value, ...proposal.notes] };
  if (spec.average && ready <= 0) return noted;
  return { ...noted, curve: () => curveOf(sum, metric, counts, spec) };
};

/** A sum of 0 has rules of its own (measureExternal), so nothing is said of it. */
const curveOf = (
  sum: bigint,
  metric: WatermarkMetric,
  counts: Parameters<typeof proposeFromValue>[2],
  spec: WatermarkSpec,
): Curve => {
  const over = spec.average ? BigInt(counts.ready) : 1n;
  const isUsable = (step: bigint): boolean =>
    step !== 0n || spec.tolerateZero || spec.counts === "current" || metric.source === "Resource";
  return {
    floor: floorDivided(sum, over),
    ceil: ceilDivided(sum, over),
    at: (step) => {
      if (!isUsable(step)) return undefined;
      const { replicas } = proposeFromValue(step * over, metric, counts, spec);
      return { replicas, ratio: Number.NaN };
    },
    bends: () => nextTo(marksOf(metric, spec)),
  };
};

const podMetrics = (answers: Answers, selector: Selector): Answer<readonly PodMetrics[]> => {
  const answer = podMetricsOf(answers, selector);
  if (!answer) throw new RangeError("Pod metrics were not asked for before the decision");
  return answer.kind === "failed"
    ? answer
    : { kind: "answered", items: answer.items.select(selector) };
};

/**
 * A failing or empty answer fails the metric, and takes series away that an earlier metric of this
 * sync may have written.
 */
const fetchedItems = <Item>(
  answer: Answer<readonly Item[]>,
  api: "external" | "resource",
  metric: WatermarkMetric,
  namespace: string,
): Counted<readonly Item[]> => {
  if (answer.kind === "answered" && answer.items.length > 0)
    return { kind: "counted", value: answer.items };
  const cause =
    answer.kind === "failed"
      ? `unable to fetch metrics from ${api} metrics API: ${answer.failure.message}`
      : `no metrics returned from ${api} metrics API`;
  return {
    kind: "failed",
    message: `unable to get ${api} metric ${namespace}/${metric.name}: ${cause}`,
    notes: droppedSeries(metric.name),
  };
};

export const droppedSeries = (metricName: string): readonly StepNote[] => [
  dropGauge("value", { metric_name: metricName }),
  ...["downscale_capping", "upscale_capping", "within_bounds"].map((reason) =>
    dropGauge("restricted_scaling", { reason }),
  ),
];

/**
 * Usage per pod: the sum over its containers; a pod with a container that lacks the resource has no
 * sample. A later item for the same pod wins.
 */
const samplesOf = (items: readonly PodMetrics[], resource: string): ReadonlyMap<string, bigint> => {
  const samples = new Map<string, bigint>();
  for (const { name, containers } of items) {
    const usages = containers.map(({ usage }) =>
      Object.hasOwn(usage, resource) ? usage[resource] : undefined,
    );
    if (containers.length === 0 || usages.includes(undefined)) continue;
    samples.set(
      name,
      usages.reduce<bigint>((total, usage) => wrapI64(total + (usage ?? 0n)), 0n),
    );
  }
  return samples;
};
