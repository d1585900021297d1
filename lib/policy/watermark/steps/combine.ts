import { decimalText } from "../../../model/quantity.ts";
import type { WatermarkMetric } from "../../../model/spec-watermark.ts";
import type { MetricStatus } from "../../../model/windows.ts";
import { dropSeries, measure, readyPods, type Subject } from "../metrics/measure.ts";
import type { Counted } from "../metrics/pods.ts";
import { type Marks, type Proposal, withinBounds } from "../metrics/propose.ts";
import { proposeFromReply, recommenderName } from "../metrics/recommender.ts";
import type { Recorder } from "./recorder.ts";
import { aboveHigh, belowLow, failedMetric, validMetric } from "./sentences.ts";

/** What all metrics together ask for (watermark.md 2.7): the largest proposal, under the name of the first metric that made it. */
export interface Combined {
  readonly replicas: number;
  readonly name: string;
  readonly ready: number;
  readonly stable: boolean;
  /** The winning proposal is a zero that is not tolerated. */
  readonly zero: boolean;
  readonly statuses: readonly MetricStatus[];
}

/** One source of proposals: a metric, or the recommender. */
export interface Source {
  readonly name: string;
  readonly seriesName: string;
  readonly type: "External" | "Resource";
  readonly failedReason: string;
  /** First words of the error that ends the evaluation. */
  readonly failedAs: string;
  readonly propose: () => Counted<Proposal>;
  readonly status: (utilisation: bigint) => MetricStatus;
  readonly marks: Marks;
}

/** All metrics must work: the first failure fails the sync's evaluation. */
export const combine = (sources: readonly Source[], record: Recorder): Counted<Combined> => {
  let best: Omit<Combined, "stable"> = { replicas: 0, name: "", ready: 0, zero: false, statuses: [] };
  let above = false;
  let below = false;
  let zero = false;
  let details = "";
  for (const source of sources) {
    reportMarks(source, record);
    const proposed = source.propose();
    if (proposed.kind === "failed") return failed(source, proposed.message, record);
    const { value: proposal } = proposed;
    report(source, proposal, record);
    above ||= proposal.above;
    below ||= proposal.below;
    zero ||= proposal.zero;
    const statuses = [...best.statuses, source.status(proposal.utilisation)];
    const wins = best.replicas === 0 || proposal.replicas > best.replicas;
    if (wins) details = proposal.details;
    best = wins
      ? { ...best, replicas: proposal.replicas, name: source.name, ready: proposal.ready, zero: proposal.zero, statuses }
      : { ...best, statuses };
  }
  // One metric that is outside its marks, or says nothing, is enough: the others do not make it a band.
  if (above || below || zero) withinBounds(record, false);
  record.condition(aboveHigh(above));
  record.condition(belowLow(below));
  record.condition(validMetric(best.name, details));
  return { kind: "counted", value: { ...best, stable: !above && !below } };
};

const failed = (source: Source, message: string, record: Recorder): Counted<Combined> => {
  record.dropGauge("replicas_scaling_proposal", { metric_name: source.seriesName });
  record.event("Warning", source.failedReason, message);
  record.condition(failedMetric(source.failedReason, message));
  record.metric({ name: source.name, type: source.type, kind: "failed", reason: source.failedReason, message });
  return { kind: "failed", message: `${source.failedAs}: ${message}` };
};

/** The marks as series, in thousandths; the old misspelt names are still read by dashboards (watermark.md 2.15). */
const reportMarks = ({ seriesName, marks }: Source, record: Recorder): void => {
  for (const name of ["high_watermark", "high_watermak"]) record.gauge(name, Number(marks.highMilli), { metric_name: seriesName });
  for (const name of ["low_watermark", "low_watermak"]) record.gauge(name, Number(marks.lowMilli), { metric_name: seriesName });
};

const report = (source: Source, proposal: Proposal, record: Recorder): void => {
  record.gauge("replicas_scaling_proposal", proposal.replicas, { metric_name: source.seriesName });
  record.metric({
    name: source.name,
    type: source.type,
    kind: "measured",
    value: decimalText(proposal.utilisation),
    target: `${decimalText(source.marks.lowMilli)}..${decimalText(source.marks.highMilli)}`,
    proposal: proposal.replicas,
  });
};

/** What a spec asks for a count: its recommender, or its metrics in order. */
export const sourcesOf = (subject: Subject, record: Recorder): readonly Source[] =>
  subject.spec.recommender === undefined
    ? subject.spec.metrics.map((metric) => metricSource(metric, subject, record))
    : [recommenderSource(subject.spec.recommender, subject, record)];

const metricSource = (metric: WatermarkMetric, subject: Subject, record: Recorder): Source => ({
  name: metricName(metric),
  seriesName: metric.name,
  type: metric.source,
  failedAs: `failed to compute replicas based on ${metric.source === "External" ? "external" : "resource"} metric ${metric.name}`,
  failedReason: metric.source === "External" ? "FailedGetExternalMetric" : "FailedGetResourceMetric",
  propose: () => measure(metric, subject, record),
  status: (utilisation) =>
    metric.source === "External"
      ? { type: "External", external: { metricName: metric.name, metricSelector: metric.selector, currentValue: decimalText(utilisation) } }
      : { type: "Resource", resource: { name: metric.name, currentAverageValue: decimalText(utilisation) } },
  marks: metric,
});

/** `<metric>{map[k:v k2:v2]}`, labels sorted by key. */
export const metricName = ({ name, selector }: Pick<WatermarkMetric, "name" | "selector">): string =>
  `${name}{map[${Object.entries(selector.matchLabels ?? {})
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([key, value]) => `${key}:${value}`)
    .join(" ")}]}`;

const recommenderSource = (recommender: NonNullable<Subject["spec"]["recommender"]>, subject: Subject, record: Recorder): Source => {
  const name = recommenderName(recommender);
  return {
    name,
    seriesName: name,
    type: "Resource",
    failedAs: `failed to get the recommendation from ${recommender.url}`,
    failedReason: "FailedGetResourceMetric",
    propose: () => fromRecommender(name, subject, record),
    status: (utilisation) => ({ type: "Resource", external: { metricName: name, currentValue: decimalText(utilisation) } }),
    marks: { lowMilli: recommender.lowMilli ?? 0n, highMilli: recommender.highMilli ?? 0n },
  };
};

const fromRecommender = (name: string, subject: Subject, record: Recorder): Counted<Proposal> => {
  const { spec, scale, observation } = subject;
  // The original crashes here and does nothing for ever; holding with a reason is the same count, said aloud.
  if (spec.recommender?.highMilli === undefined || spec.recommender.lowMilli === undefined)
    return { kind: "failed", message: "the recommender has no highWatermark or no lowWatermark, holding" };
  const ready = readyPods(subject, record);
  if (ready.kind === "failed") return ready;
  const answer = observation.answers.recommender;
  // Not asked, for want of time or of an answer about the pods: hold, as for any metric that is missing.
  if (!answer) return { kind: "failed", message: "the recommender was not asked" };
  if (answer.kind === "failed") {
    dropSeries(name, record);
    return { kind: "failed", message: answer.failure.message };
  }
  const proposal = proposeFromReply(answer.items, { current: scale.specReplicas, ready: ready.value }, spec, record);
  if (!proposal.zero) record.gauge("value", Number(proposal.utilisation), { metric_name: name });
  return { kind: "counted", value: proposal };
};
