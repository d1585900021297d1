import type { MetricOutcome } from "../../model/decision.ts";
import { floatOf, parseQuantity } from "../../model/quantity.ts";
import type { Evaluation } from "../../model/records.ts";
import type { ControllerSettings } from "../../model/settings.ts";
import type { AutoscalerSpec } from "../../model/spec.ts";
import type { Band, NativeSpec } from "../../model/spec-native.ts";
import { timesTarget } from "../views/metric-targets.ts";

type Measured = Extract<MetricOutcome, { readonly kind: "measured" }>;

export interface Measurements {
  readonly evaluation: Evaluation;
  readonly spec?: AutoscalerSpec;
  readonly settings: ControllerSettings;
}

/** Which metric has the word, and at which value it would ask for another count. */
export const leadingMetric = ({ evaluation, spec, settings }: Measurements): readonly string[] => {
  const { from } = evaluation;
  const measured = evaluation.metrics.filter((metric): metric is Measured => metric.kind === "measured");
  if (from === undefined || measured.length === 0 || isResting(spec, from)) return [];
  if (spec?.dialect === "native" && spec.combine === "Mean" && measured.length > 1) return [mean(spec, measured, from)];
  const leading = leadingOf(spec, measured, from);
  if (!leading) return [];
  const leads = measured.length > 1 ? `${leading.name} decides, because it asks for ${isLeast(spec) ? "least" : "most"}; it` : leading.name;
  return [sentence(`${leads} is at ${leading.value}`, leading, from, { spec, settings })];
};

/** At rest the activation alone counts. */
const isResting = (spec: AutoscalerSpec | undefined, from: number): boolean => spec?.dialect === "native" && from < spec.minReplicas;

const isLeast = (spec: AutoscalerSpec | undefined): boolean => spec?.dialect === "native" && spec.combine === "Min";

/** Metrics that may only scale up take part when they do. */
const voicesOf = (spec: NativeSpec, measured: readonly Measured[], from: number): readonly Measured[] =>
  measured.filter(({ name, proposal }) => proposal > from || !spec.metrics.find((metric) => metric.name === name)?.scaleUpOnly);

const leadingOf = (spec: AutoscalerSpec | undefined, measured: readonly Measured[], from: number): Measured | undefined => {
  const voices = spec?.dialect === "native" ? voicesOf(spec, measured, from) : measured;
  const all = voices.length > 0 ? voices : measured;
  const least = isLeast(spec);
  return all.reduce<Measured | undefined>((first, metric) => {
    if (!first) return metric;
    return (least ? metric.proposal < first.proposal : metric.proposal > first.proposal) ? metric : first;
  }, undefined);
};

const mean = (spec: NativeSpec, measured: readonly Measured[], from: number): string => {
  const voices = voicesOf(spec, measured, from);
  const counts = voices.map(({ name, proposal }) => `${name} for ${proposal}`).join(", ");
  const combined = Math.ceil(voices.reduce((sum, { proposal }) => sum + proposal, 0) / Math.max(1, voices.length));
  return `The mean decides: ${counts} make ${combined}, rounded up; another count needs another value of any of them`;
};

type Rules = Pick<Measurements, "settings"> & { readonly spec: AutoscalerSpec | undefined };

const sentence = (measured: string, { name, target, proposal, value }: Measured, from: number, { spec, settings }: Rules): string => {
  const marks = marksOf(spec, name, target);
  if (marks !== undefined) {
    const side = sideOf(value, target, marks.tolerance);
    return proposal === from && side !== "between"
      ? `${measured}, ${side} ${marks.text}: ${noOther(value, side, from, spec)}`
      : betweenTheMarks(measured, proposal, from, marks);
  }
  const own = tolerances(spec, name);
  const up = timesTarget(target, 1 + (own.up ?? settings.tolerance));
  const down = timesTarget(target, 1 - (own.down ?? settings.tolerance));
  const against = `${measured} against ${target}`;
  if (proposal === from) return `${against}: above ${up} it would ask for more than ${from}, below ${down} for fewer`;
  return proposal > from
    ? `${against} and asks for ${proposal}: at or below ${up} it would ask for no more than ${from}`
    : `${against} and asks for ${proposal}: at or above ${down} it would ask for no fewer than ${from}`;
};

const bandOf = (spec: AutoscalerSpec | undefined, metric: string): Band | undefined =>
  spec?.dialect === "native" ? spec.metrics.find(({ name }) => name === metric)?.band : undefined;

/** The marks of a metric, and what happens between them; `undefined` where it has a target. */
const marksOf = (spec: AutoscalerSpec | undefined, metric: string, target: string): Marks | undefined => {
  if (spec?.dialect === "watermark") {
    const share = Number(spec.toleranceMilli) / 1000;
    return { text: `its marks ${target}, ${widenedBy(share, share)}`, converges: spec.converge !== "off", tolerance: { up: share, down: share } };
  }
  if (spec?.dialect === "hpa" && spec.thresholds && target.includes("..")) {
    const { tolerance: both } = spec.thresholds;
    const up = spec.behavior?.scaleUp.tolerance ?? both;
    const down = spec.behavior?.scaleDown.tolerance ?? both;
    return { text: `its marks ${target}, ${widenedBy(up, down)}`, converges: false, tolerance: { up, down } };
  }
  return bandOf(spec, metric)?.kind === "watermarks"
    ? { text: `its marks ${target}, both included`, converges: false, tolerance: { up: 0, down: 0 } }
    : undefined;
};

const percent = (share: number): string => `${Number((share * 100).toFixed(2))} %`;
const widenedBy = (up: number, down: number): string =>
  up === down ? `widened by ${percent(up)}` : `widened by ${percent(up)} above and ${percent(down)} below`;

interface Marks {
  readonly text: string;
  /** Between them the count still moves, a step at a time. */
  readonly converges: boolean;
  /** Share of each mark by which it is widened. */
  readonly tolerance: { readonly up: number; readonly down: number };
}

type Side = "above" | "below" | "between";

/** Where a value is, by the texts that people read; between the marks where a text is no amount. */
const sideOf = (value: string, target: string, { up, down }: Marks["tolerance"]): Side => {
  const [at, low, high] = [value, ...target.split("..")].map(amountOf);
  if (at !== undefined && high !== undefined && at > high * (1 + up)) return "above";
  return at !== undefined && low !== undefined && at < low * (1 - down) ? "below" : "between";
};

const amountOf = (text: string): number | undefined => {
  const quantity = parseQuantity(text.replace("%", ""));
  return quantity && floatOf(quantity);
};

/** Why a value outside the marks asks for the count that there is. */
const noOther = (value: string, side: "above" | "below", from: number, spec: AutoscalerSpec | undefined): string => {
  const ignoresZero = spec?.dialect === "watermark" && spec.counts === "ready" && !spec.tolerateZero;
  if (value === "0" && ignoresZero) return "a value of 0 is acted upon with tolerateZero: true alone";
  const share = `the share of ${from} that it asks for rounds to no ${side === "above" ? "more" : "fewer"}`;
  return spec?.dialect === "hpa" && side === "below" ? `${share}, or a running pod gave no sample` : share;
};

/** Of the first design, whatever the cluster tolerates (proposals.md §1). */
const ORIGINAL_TOLERANCE = 0.1;

const tolerances = (spec: AutoscalerSpec | undefined, metric: string): { readonly up?: number | undefined; readonly down?: number | undefined } => {
  if (spec?.dialect === "hpa" && spec.rules === "original") return { up: ORIGINAL_TOLERANCE, down: ORIGINAL_TOLERANCE };
  if (spec?.dialect === "hpa") {
    const both = spec.thresholds?.tolerance;
    return { up: spec.behavior?.scaleUp.tolerance ?? both, down: spec.behavior?.scaleDown.tolerance ?? both };
  }
  const band = bandOf(spec, metric);
  return band?.kind === "target" ? { up: band.toleranceUp, down: band.toleranceDown } : {};
};

const betweenTheMarks = (measured: string, proposal: number, from: number, { text, converges }: Marks): string => {
  if (proposal === from) return `${measured}, between ${text}: above them it would ask for more than ${from}, below them for fewer`;
  const inside = converges ? "it would converge from" : "it would ask for";
  return `${measured} and asks for ${proposal}: between ${text}, ${inside} ${from}`;
};
