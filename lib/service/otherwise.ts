import type { MetricOutcome, StepOutcome } from "../model/decision.ts";
import type { Evaluation } from "../model/records.ts";
import type { ControllerSettings } from "../model/settings.ts";
import type { AutoscalerSpec } from "../model/spec.ts";
import type { Band } from "../model/spec-native.ts";
import { isHeld } from "./autoscaler-view.ts";
import { timesTarget } from "./metric-targets.ts";
import { timeText } from "./time-text.ts";
import type { Direction, WindowsView } from "./windows-view.ts";

type Measured = Extract<MetricOutcome, { readonly kind: "measured" }>;

export interface Circumstances {
  readonly evaluation: Evaluation;
  readonly spec?: AutoscalerSpec;
  readonly settings: ControllerSettings;
  readonly windows: WindowsView;
}

/** What would have to change for another outcome: metrics first, then each limit that bit, in the order of the pipeline. One sentence each. */
export const otherwise = (seen: Circumstances): readonly string[] => {
  const sentences = [
    ...holds(seen.evaluation),
    ...failures(seen.evaluation),
    ...leadingMetric(seen),
    ...seen.evaluation.steps.flatMap((step) => limitSentence(step, seen)),
  ];
  return sentences.length > 0 ? sentences : ["Nothing was measured and no limit bit: another count or another spec would have to be found"];
};

/** What kept the count although the rules wanted another one comes first: nothing else matters until it is gone. */
const holds = (evaluation: Evaluation): readonly string[] => {
  const { because, from, steps } = evaluation;
  if (isHeld(evaluation)) return [`Held, because ${because.message}: without that the count would be ${steps.at(-1)?.after}`];
  return from === undefined ? [`Nothing is decided while this holds: ${because.message}`] : [];
};

/** A metric that cannot be read never shrinks a workload (hpa.md 2.5). */
const failures = ({ metrics }: Evaluation): readonly string[] => {
  const failed = metrics.filter((metric) => metric.kind === "failed");
  if (failed.length === 0) return [];
  const names = failed.map(({ name }) => name).join(", ");
  return failed.length === metrics.length
    ? [`Nothing is decided until a metric can be read: ${names}`]
    : [`The count cannot fall while a metric cannot be read: ${names}`];
};

const leadingMetric = ({ evaluation, spec, settings }: Circumstances): readonly string[] => {
  const { from } = evaluation;
  const leading = evaluation.metrics
    .filter((metric): metric is Measured => metric.kind === "measured")
    .reduce<Measured | undefined>((most, metric) => (most && most.proposal >= metric.proposal ? most : metric), undefined);
  if (!leading || from === undefined) return [];
  const width = marksWidth(spec, leading.name);
  if (width !== undefined) return [betweenTheMarks(leading, width, from)];
  const own = tolerances(spec, leading.name);
  const up = 1 + (own.up ?? settings.tolerance);
  const down = 1 - (own.down ?? settings.tolerance);
  const { name, value, target, proposal } = leading;
  const leads = evaluation.metrics.length > 1 ? `${name} decides, because it asks for most; it` : name;
  const measured = `${leads} is at ${value} against ${target}`;
  if (proposal === from)
    return [`${measured}: above ${timesTarget(target, up)} it would ask for more than ${from}, below ${timesTarget(target, down)} for fewer`];
  return proposal > from
    ? [`${measured} and asks for ${proposal}: at or below ${timesTarget(target, up)} it would ask for no more than ${from}`]
    : [`${measured} and asks for ${proposal}: at or above ${timesTarget(target, down)} it would ask for no fewer than ${from}`];
};

type Spec = Circumstances["spec"];

const bandOf = (spec: Spec, metric: string): Band | undefined =>
  spec?.dialect === "tidemark" ? spec.metrics.find(({ name }) => name === metric)?.band : undefined;

/** How the marks of a metric are to be read; `undefined` where it has a target. */
const marksWidth = (spec: Spec, metric: string): string | undefined => {
  if (spec?.dialect === "watermark") return `widened by ${Number(spec.toleranceMilli) / 10} %`;
  return bandOf(spec, metric)?.kind === "watermarks" ? "both included" : undefined;
};

const tolerances = (spec: Spec, metric: string): { readonly up?: number | undefined; readonly down?: number | undefined } => {
  if (spec?.dialect === "hpa") return { up: spec.behavior?.scaleUp.tolerance, down: spec.behavior?.scaleDown.tolerance };
  const band = bandOf(spec, metric);
  return band?.kind === "target" ? { up: band.toleranceUp, down: band.toleranceDown } : {};
};

const betweenTheMarks = ({ name, value, target, proposal }: Measured, width: string, from: number): string => {
  const wants = proposal === from ? "asks for no change" : `asks for ${proposal}`;
  return `${name} is at ${value} and ${wants}: between its marks ${target}, ${width}, the count would stay at ${from}`;
};

const limitSentence = ({ step, before, after, limit }: StepOutcome, { windows }: Circumstances): readonly string[] => {
  if (!limit) return [];
  const until = limit.untilMs === undefined ? "" : ` until ${timeText(limit.untilMs)}`;
  switch (limit.reason) {
    case "TooManyReplicas":
      return [`maxReplicas is ${limit.value}: with ${before} or more, ${before} would be allowed`];
    case "TooFewReplicas":
      return [`minReplicas is ${limit.value}: with ${before} or fewer, ${before} would be allowed`];
    case "ScaleUpLimit":
      return [`Scaling up is limited to ${after} in this sync, ${before} was wanted${nextRoom("scaleUp", windows)}`];
    case "ScaleDownLimit":
      return [`Scaling down is limited to ${after} in this sync, ${before} was wanted${nextRoom("scaleDown", windows)}`];
    case "ScaleUpStabilized":
    case "ScaleDownStabilized":
      return [`Stabilization holds ${after}${until || heldUntil(limit.reason, windows)}: then ${before}, if the recommendations stay as they are`];
    default:
      return [`${step}: ${limit.message}${until}; without it the count would be ${before} instead of ${after}`];
  }
};

const nextRoom = (direction: Direction, { rates }: WindowsView): string => {
  const leaving = rates
    .filter((rate) => rate.direction === direction)
    .flatMap(({ events }) => events.map(({ leaves }) => leaves))
    .sort()[0];
  return leaving === undefined ? "" : `: the next scale event leaves its period at ${leaving}`;
};

const heldUntil = (reason: "ScaleUpStabilized" | "ScaleDownStabilized", { stabilization }: WindowsView): string => {
  const direction: Direction = reason === "ScaleUpStabilized" ? "scaleUp" : "scaleDown";
  const held = stabilization.find((window) => window.direction === direction)?.held;
  return held ? ` until ${held.until}` : "";
};
