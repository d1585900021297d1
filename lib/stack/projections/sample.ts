import type { MetricOutcome } from "../../rules/model/decision.ts";
import type { MetricStatus } from "../../rules/model/windows.ts";
import { asObject, asText, present } from "../../rules/model/json.ts";
import { floatOf, parseQuantity } from "../../rules/model/quantity.ts";
import type { Evaluation, Lane, Sample, SampleMetric } from "../../rules/model/scale-records.ts";
import { shortMetricName } from "../../rules/policy/shared/scale-sentence.ts";
import { LANES, laneOfReason } from "../report/reasons/lanes.ts";

export const sampleOf = (atMs: number, evaluation: Evaluation): Sample =>
  sampleWith(atMs, evaluation, metricOf);

/** The same with the pods behind each value and the values at which the count turns. */
export const detailedSampleOf = (atMs: number, evaluation: Evaluation): Sample =>
  sampleWith(atMs, evaluation, (metric, status) => ({
    ...metricOf(metric, status),
    ...behindOf(metric),
  }));

const sampleWith = (
  atMs: number,
  evaluation: Evaluation,
  shownAs: (metric: MetricOutcome, status: MetricStatus | undefined) => SampleMetric,
): Sample => {
  const { from, because, metrics, bounds, ready, generation, status } = evaluation;
  const shown = metrics.map((metric, at) => shownAs(metric, status?.currentMetrics?.[at]));
  const load = highestRatio(shown.map(({ ratio }) => ratio));
  const held = laneOf(evaluation);
  return {
    atMs,
    ...(from !== undefined && { current: from }),
    ...decidedCounts(evaluation),
    ...present({ ready, counted: leastCounted(evaluation), missing: mostMissing(evaluation) }),
    ...unusualPods(evaluation),
    ...(bounds && { min: bounds.min, max: bounds.max }),
    ...(generation !== undefined && { generation }),
    ...(load !== undefined && { load }),
    metrics: shown,
    reason: because.reason,
    ...(held && { held }),
  };
};

/** The count that was read, and the load: of several metrics the highest. */
export const pointOf = ({
  from,
  metrics,
}: Pick<Evaluation, "from" | "metrics">): {
  readonly current: number | undefined;
  readonly load: number | undefined;
} => ({ current: from, load: highestRatio(metrics.map(roundedRatio)) });

export const highestRatio = (ratios: readonly (number | undefined)[]): number | undefined => {
  const known = ratios.filter((ratio) => ratio !== undefined);
  return known.length > 0 ? Math.max(...known) : undefined;
};

const roundedRatio = (metric: MetricOutcome): number | undefined => {
  const ratio = metric.kind === "failed" ? undefined : ratioOf(metric);
  return ratio === undefined ? undefined : Number(ratio.toFixed(DIGITS));
};

/** Pods whose samples made a value: of several metrics the fewest. */
export const leastCounted = ({ metrics }: Pick<Evaluation, "metrics">): number | undefined => {
  const counted = metrics.flatMap((one) =>
    one.kind === "measured" ? (one.pods?.counted ?? []) : [],
  );
  return counted.length === 0 ? undefined : Math.min(...counted);
};

/** Pods without a usable sample: of several metrics the most; nothing where there was none. */
const mostMissing = ({ metrics }: Pick<Evaluation, "metrics">): number | undefined =>
  metrics.reduce<number | undefined>(
    (most, one) => (one.kind === "measured" ? mostOf(most, one.pods?.missing) : most),
    undefined,
  );

/** Pods with samples too old to count, and of another revision: of several metrics the most. */
export const unusualPods = ({
  metrics,
}: Pick<Evaluation, "metrics">): Pick<Sample, "stale" | "otherRevision"> => {
  let found: Pick<Sample, "stale" | "otherRevision"> = {};
  for (const metric of metrics)
    if (metric.kind === "measured" && metric.pods) found = mostUnusual(found, metric.pods);
  return found;
};

type Unusual = { readonly [Field in "stale" | "otherRevision"]?: number | undefined };

/** Of each the larger number. */
export const mostUnusual = (
  one: Unusual,
  other: Unusual,
): Pick<Sample, "stale" | "otherRevision"> =>
  present({
    stale: mostOf(one.stale, other.stale),
    otherRevision: mostOf(one.otherRevision, other.otherRevision),
  });

export const mostOf = (one: number | undefined, other: number | undefined): number | undefined =>
  one === undefined || other === undefined ? (one ?? other) : Math.max(one, other);

/** What was wanted before and after windows and limits; nothing where nothing was decided. */
export const decidedCounts = ({
  failed,
  steps,
  withoutHold,
  from,
  to,
}: Evaluation): Pick<Sample, "wanted" | "desired"> => {
  if (failed) return {};
  const wanted = steps.find(({ step }) => step === "propose" || step === "combine")?.after;
  const desired = withoutHold?.to ?? to ?? from;
  return { ...(wanted !== undefined && { wanted }), ...(desired !== undefined && { desired }) };
};

const DIGITS = 4;

const metricOf = (metric: MetricOutcome, status: MetricStatus | undefined): SampleMetric => {
  const name = shortMetricName(metric.name);
  if (metric.kind === "failed") return { name };
  const ratio = roundedRatio(metric);
  const average = metric.value.endsWith("%") ? averageIn(status) : undefined;
  return {
    name,
    value: metric.value,
    target: metric.target,
    ...(ratio !== undefined && { ratio }),
    ...(average !== undefined && { average }),
  };
};

const behindOf = (metric: MetricOutcome): Pick<SampleMetric, "pods" | "assumed" | "turns"> => {
  if (metric.kind === "failed") return {};
  const { pods, assumed, turns } = metric;
  return present({ pods, assumed, turns });
};

/** The mean of a pod, which the status of a utilisation has beside the percentage. */
const averageIn = (status: MetricStatus | undefined): string | undefined => {
  const { current } = asObject(status?.["resource"] ?? status?.["containerResource"]);
  return asText(asObject(current)["averageValue"]) || undefined;
};

/** Value ÷ target of a measured metric; of two watermarks the high one counts. */
export const ratioOf = (metric: {
  readonly ratio?: number;
  readonly value: string;
  readonly target: string;
}): number | undefined => metric.ratio ?? shareOfHigh(metric);

/** Two watermarks have no one ratio: the value is compared with the high one. */
const shareOfHigh = ({
  value,
  target,
}: {
  readonly value: string;
  readonly target: string;
}): number | undefined => {
  const [at, high] = [value, target.split("..").at(-1) ?? ""].map((text) =>
    parseQuantity(text.replace("%", "")),
  );
  const bound = high && floatOf(high);
  return at && bound ? floatOf(at) / bound : undefined;
};

/** What held the count, or cut it: the hold, else the last limit that moved it. */
const laneOf = ({ kind, failed, because, steps }: Evaluation): Lane | undefined => {
  const hold = kind === "hold" ? laneOfReason(because.reason) : undefined;
  if (hold) return hold;
  if (failed) return "other";
  const limit = steps.findLast(
    (step) => step.limit !== undefined && step.before !== step.after,
  )?.limit;
  return limit && laneOfReason(limit.reason);
};

const WEIGHT: ReadonlyMap<Lane, number> = new Map(LANES.map(({ lane }, at) => [lane, at]));

const heavier = (one: Lane | undefined, other: Lane | undefined): Lane | undefined => {
  if (one === undefined || other === undefined) return one ?? other;
  return (WEIGHT.get(one) ?? 0) <= (WEIGHT.get(other) ?? 0) ? one : other;
};

/**
 * Two samples of one time: the counts of the later one, the highest load and wanted count, and the
 * fewest pods that count. What
 * held the count and the reason are of one evaluation: the later one, unless the earlier one was
 * held by more.
 */
export const joinedSample = (before: Sample, after: Sample): Sample => {
  const held = heavier(before.held, after.held);
  return {
    ...after,
    reason: held === after.held ? after.reason : before.reason,
    ...highest("load", before, after),
    ...highest("wanted", before, after),
    ...fewestCounted(before, after),
    ...present({ missing: mostOf(before.missing, after.missing) }),
    ...mostUnusual(before, after),
    metrics: after.metrics.map((metric, at) => higher(before.metrics[at], metric)),
    ...(held && { held }),
  };
};

const fewestCounted = ({ counted: before }: Sample, { counted: after }: Sample) =>
  present({
    counted:
      before === undefined || after === undefined ? (before ?? after) : Math.min(before, after),
  });

const higher = (before: SampleMetric | undefined, after: SampleMetric): SampleMetric =>
  before?.ratio !== undefined && before.ratio > (after.ratio ?? 0) ? before : after;

const highest = (field: "load" | "wanted", before: Sample, after: Sample): Partial<Sample> => {
  const values = [before[field], after[field]].filter((value) => value !== undefined);
  return values.length === 0 ? {} : { [field]: Math.max(...values) };
};
