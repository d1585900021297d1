import { decimalText } from "../../../model/quantity.ts";
import type { Marks } from "../../../model/spec-hpa.ts";
import type { Recommender, WatermarkMetric } from "../../../model/spec-watermark.ts";
import type { MetricStatus } from "../../../model/windows.ts";
import { marksText } from "../../shared/metrics/measurement.ts";
import { droppedSeries, measure, readyPods, type MeasuredSpec } from "../metrics/measure.ts";
import type { Counted } from "../metrics/pods.ts";
import { type WatermarkProposal, withinNote } from "../metrics/propose.ts";
import { byKey, proposeFromReply, recommenderName } from "../metrics/recommender.ts";
import {
  condition,
  dropGauge,
  eventNote,
  gauge,
  metricNote,
  type StepNote,
  aboveHigh,
  belowLow,
  failedMetric,
  validMetric,
} from "./sentences.ts";

/**
 * What all metrics together ask for (watermark.md 2.7): the largest proposal, under the name of the
 * first metric that made it.
 */
export interface Combined {
  readonly replicas: number;
  readonly name: string;
  readonly ready: number;
  readonly stable: boolean;
  /** The winning proposal is a zero that is not tolerated. */
  readonly zero: boolean;
  readonly statuses: readonly MetricStatus[];
}

/** What no metric asks for. */
export const NO_COUNT: Combined = {
  replicas: 0,
  name: "",
  ready: 0,
  stable: true,
  zero: false,
  statuses: [],
};

/** One source of proposals: a metric, or the recommender. */
export interface ProposalSource {
  readonly name: string;
  readonly seriesName: string;
  readonly type: "External" | "Resource";
  readonly failedReason: string;
  /** First words of the error that ends the evaluation. */
  readonly failedAs: string;
  readonly propose: () => Counted<WatermarkProposal>;
  readonly status: (utilisation: bigint) => MetricStatus;
  readonly marks: Marks;
}

/** All metrics must work: the first failure fails the sync's evaluation. */
export const combine = (
  sources: readonly ProposalSource[],
): { readonly counted: Counted<Combined>; readonly notes: readonly StepNote[] } => {
  let best: Omit<Combined, "stable"> = NO_COUNT;
  let [above, below, zero] = [false, false, false];
  let details = "";
  const notes: StepNote[] = [];
  for (const source of sources) {
    notes.push(...marksOf(source));
    const proposed = source.propose();
    if (proposed.kind === "failed") {
      notes.push(...(proposed.notes ?? []), ...failureOf(source, proposed.message));
      return {
        counted: { kind: "failed", message: `${source.failedAs}: ${proposed.message}` },
        notes,
      };
    }
    const { value: proposal } = proposed;
    notes.push(...proposal.notes, ...proposalOf(source, proposal));
    above ||= proposal.above;
    below ||= proposal.below;
    zero ||= proposal.zero;
    const statuses = [...best.statuses, source.status(proposal.utilisation)];
    const wins = best.replicas === 0 || proposal.replicas > best.replicas;
    if (wins) details = proposal.details;
    best = wins
      ? {
          replicas: proposal.replicas,
          name: source.name,
          ready: proposal.ready,
          zero: proposal.zero,
          statuses,
        }
      : { ...best, statuses };
  }
  // One metric that is outside its marks, or says nothing, is enough: the others do not make it a
  // band.
  if (above || below || zero) notes.push(withinNote(false));
  notes.push(
    condition(aboveHigh(above)),
    condition(belowLow(below)),
    condition(validMetric(best.name, details)),
  );
  return { counted: { kind: "counted", value: { ...best, stable: !above && !below } }, notes };
};

const failureOf = (
  { name, seriesName, type, failedReason: reason }: ProposalSource,
  message: string,
): readonly StepNote[] => [
  dropGauge("replicas_scaling_proposal", { metric_name: seriesName }),
  eventNote("Warning", reason, message),
  condition(failedMetric(reason, message)),
  metricNote({ name, type, kind: "failed", reason, message }),
];

/**
 * The marks as series, in thousandths; the old misspelt names are still read by dashboards
 * (watermark.md 2.15).
 */
const marksOf = ({ seriesName, marks }: ProposalSource): readonly StepNote[] => [
  ...["high_watermark", "high_watermak"].map((name) =>
    gauge(name, Number(marks.highMilli), { metric_name: seriesName }),
  ),
  ...["low_watermark", "low_watermak"].map((name) =>
    gauge(name, Number(marks.lowMilli), { metric_name: seriesName }),
  ),
];

const proposalOf = (
  { name, seriesName, type, marks }: ProposalSource,
  { replicas, utilisation }: WatermarkProposal,
): readonly StepNote[] => [
  gauge("replicas_scaling_proposal", replicas, { metric_name: seriesName }),
  metricNote({
    name,
    type,
    kind: "measured",
    value: decimalText(utilisation),
    target: marksText(marks),
    proposal: replicas,
  }),
];

/** What a spec asks for a count: its recommender, or its metrics in order. */
export const proposalSources = (subject: MeasuredSpec): readonly ProposalSource[] =>
  subject.spec.recommender === undefined
    ? subject.spec.metrics.map((measured) => metricSource(measured, subject))
    : [recommenderSource(subject.spec.recommender, subject)];

const metricSource = (measured: WatermarkMetric, subject: MeasuredSpec): ProposalSource => ({
  name: metricName(measured),
  seriesName: measured.name,
  type: measured.source,
  failedAs: `failed to compute replicas based on ${measured.source === "External" ? "external" : "resource"} metric ${measured.name}`,
  failedReason:
    measured.source === "External" ? "FailedGetExternalMetric" : "FailedGetResourceMetric",
  propose: () => measure(measured, subject),
  status: (utilisation) =>
    measured.source === "External"
      ? {
          type: "External",
          external: {
            metricName: measured.name,
            metricSelector: measured.selector,
            currentValue: decimalText(utilisation),
          },
        }
      : {
          type: "Resource",
          resource: { name: measured.name, currentAverageValue: decimalText(utilisation) },
        },
  marks: measured,
});

/** `<metric>{map[k:v k2:v2]}`, labels sorted by key. */
export const metricName = ({
  name,
  selector,
}: Pick<WatermarkMetric, "name" | "selector">): string =>
  `${name}{map[${byKey(selector.matchLabels ?? {}).join(" ")}]}`;

const recommenderSource = (recommender: Recommender, subject: MeasuredSpec): ProposalSource => {
  const name = recommenderName(recommender);
  return {
    name,
    seriesName: name,
    type: "Resource",
    failedAs: `failed to get the recommendation from ${recommender.url}`,
    failedReason: "FailedGetResourceMetric",
    propose: () => fromRecommender(name, recommender, subject),
    status: (utilisation) => ({
      type: "Resource",
      external: { metricName: name, currentValue: decimalText(utilisation) },
    }),
    marks: { lowMilli: recommender.lowMilli ?? 0n, highMilli: recommender.highMilli ?? 0n },
  };
};

const fromRecommender = (
  name: string,
  { highMilli, lowMilli }: Recommender,
  subject: MeasuredSpec,
): Counted<WatermarkProposal> => {
  const { spec, scale, observation } = subject;
  // The original crashes here and does nothing for ever; holding with a reason is the same count,
  // said aloud.
  if (highMilli === undefined || lowMilli === undefined)
    return {
      kind: "failed",
      message: "the recommender has no highWatermark or no lowWatermark, holding",
    };
  const ready = readyPods(subject);
  if (ready.kind === "failed") return ready;
  const answer = observation.recommender;
  // Not asked, for want of time or of an answer about the pods: hold, as for any metric that is
  // missing.
  if (!answer) return { kind: "failed", message: "the recommender was not asked" };
  if (answer.kind === "failed")
    return { kind: "failed", message: answer.failure.message, notes: droppedSeries(name) };
  const proposal = proposeFromReply(
    answer.items,
    { current: scale.specReplicas, ready: ready.value },
    spec,
  );
  if (proposal.zero) return { kind: "counted", value: proposal };
  const value = gauge("value", Number(proposal.utilisation), { metric_name: name });
  return { kind: "counted", value: { ...proposal, notes: [...proposal.notes, value] } };
};
