import type { MetricOutcome } from "../../../rules/model/decision.ts";
import { floatOf, parseQuantity } from "../../../rules/model/quantity.ts";
import type { ControllerSettings } from "../../../rules/model/spec-common.ts";
import type { AutoscalerSpec } from "../../../rules/model/spec.ts";
import { askDialect } from "../../../rules/policy/dialects.ts";
import type { MetricBand } from "../../../rules/policy/explanations.ts";
import type { Evaluation } from "../../../rules/model/scale-records.ts";

type Measured = Extract<MetricOutcome, { readonly kind: "measured" }>;
type Watermarks = Extract<MetricBand, { readonly kind: "watermarks" }>;

export interface Measurements {
  readonly evaluation: Evaluation;
  readonly spec?: AutoscalerSpec;
  readonly settings: ControllerSettings;
}

/** What the rules say of the measured metrics. */
interface Rules {
  /** False for a workload at rest: only its activation levels decide. */
  readonly decides: boolean;
  readonly combination: "Max" | "Min" | "Mean";
  /** The metrics that have a say in the count; all of them where none has. */
  readonly voices: readonly Measured[];
  readonly combined: number;
  readonly bandOf: (metric: Measured) => MetricBand;
}

/** Which metric decides, and at which value it would ask for another count. */
export const leadingMetric = (seen: Measurements): readonly string[] => {
  const { from, metrics } = seen.evaluation;
  const measured = metrics.filter((metric) => metric.kind === "measured");
  if (from === undefined || measured.length === 0) return [];
  const rules = rulesOf(seen, measured, from);
  if (!rules.decides) return [];
  if (rules.combination === "Mean" && measured.length > 1) return [mean(rules)];
  const leading = leadingOf(rules);
  if (!leading) return [];
  const decides = `${leading.name} decides, because it asks for ${rules.combination === "Min" ? "least" : "most"}; it`;
  return [
    sentence(
      `${measured.length > 1 ? decides : leading.name} is at ${leading.value}`,
      leading,
      from,
      rules.bandOf(leading),
    ),
  ];
};

/**
 * Without a manifest that can be read, the rules are taken to be as of most autoscalers: the
 * largest proposal wins, within the tolerance of the cluster.
 */
const rulesOf = (
  { spec, settings }: Measurements,
  measured: readonly Measured[],
  from: number,
): Rules => {
  const { tolerance } = settings;
  const bandOf = (): MetricBand => ({ kind: "target", up: tolerance, down: tolerance });
  if (!spec) return { decides: true, combination: "Max", voices: measured, combined: from, bandOf };
  return askDialect(spec, ({ explains }, own) => {
    const voices = measured.filter((metric) => explains.takesPart(own, metric, from));
    const proposals = voices.map(({ proposal }) => proposal);
    return {
      decides: explains.rest(own, from) === undefined,
      combination: explains.combination(own),
      voices: voices.length > 0 ? voices : measured,
      combined: voices.length > 0 ? explains.combined(own, proposals) : from,
      bandOf: (metric) => explains.band(own, metric, settings),
    };
  });
};

const leadingOf = ({ voices, combination }: Rules): Measured | undefined =>
  voices.reduce<Measured | undefined>((first, metric) => {
    if (!first) return metric;
    return (
      combination === "Min"
        ? metric.proposal < first.proposal
        : metric.proposal > first.proposal
    )
      ? metric
      : first;
  }, undefined);

const mean = ({ voices, combined }: Rules): string => {
  const counts = voices.map(({ name, proposal }) => `${name} for ${proposal}`).join(", ");
  return `The mean decides: ${counts} make ${combined}, rounded up; another count needs another value of any of them`;
};

const sentence = (measured: string, metric: Measured, from: number, band: MetricBand): string =>
  band.kind === "watermarks"
    ? betweenWatermarks(measured, metric, from, band)
    : aroundTarget(measured, metric, from, band);

const aroundTarget = (
  measured: string,
  { target, proposal }: Measured,
  from: number,
  band: MetricBand,
): string => {
  const up = timesTarget(target, 1 + band.up);
  const down = timesTarget(target, 1 - band.down);
  const against = `${measured} against ${target}`;
  if (proposal === from)
    return `${against}: above ${up} it would ask for more than ${from}, below ${down} for fewer`;
  return proposal > from
    ? `${against} and asks for ${proposal}: at or below ${up} it would ask for no more than ${from}`
    : `${against} and asks for ${proposal}: at or above ${down} it would ask for no fewer than ${from}`;
};

const betweenWatermarks = (
  measured: string,
  { target, proposal, value }: Measured,
  from: number,
  band: Watermarks,
): string => {
  const side = sideOf(value, target, band);
  const marks = `its marks ${target}, ${band.widened ? widenedBy(band) : "both inclusive"}`;
  if (proposal === from && side !== "between")
    return `${measured}, ${side} ${marks}: ${noOther(value, side, from, band)}`;
  if (proposal === from)
    return `${measured}, between ${marks}: above them it would ask for more than ${from}, below them for fewer`;
  const inside = band.converges ? "it would converge from" : "it would ask for";
  return `${measured} and asks for ${proposal}: between ${marks}, ${inside} ${from}`;
};

const percent = (share: number): string => `${Number((share * 100).toFixed(2))} %`;
const widenedBy = ({ up, down }: Watermarks): string =>
  up === down
    ? `widened by ${percent(up)}`
    : `widened by ${percent(up)} above and ${percent(down)} below`;

type Side = "above" | "below" | "between";

/** Compares the texts that people read; "between" for a text that is not an amount. */
const sideOf = (value: string, target: string, { up, down }: Watermarks): Side => {
  const [at, low, high] = [value, ...target.split("..")].map(amountOf);
  if (at !== undefined && high !== undefined && at > high * (1 + up)) return "above";
  return at !== undefined && low !== undefined && at < low * (1 - down) ? "below" : "between";
};

const amountOf = (text: string): number | undefined => {
  const quantity = parseQuantity(text.replace("%", ""));
  return quantity && floatOf(quantity);
};

/** Why a value outside the watermarks asks for the current count. */
const noOther = (
  value: string,
  side: "above" | "below",
  from: number,
  band: Watermarks,
): string => {
  if (value === "0" && band.ignoresZero) return "a value of 0 only counts with tolerateZero: true";
  const share = `the share of ${from} that it asks for rounds to no ${side === "above" ? "more" : "fewer"}`;
  return band.needsEverySample && side === "below"
    ? `${share}, or a running pod gave no sample`
    : share;
};

const AMOUNT = /^(\d+(?:\.\d+)?)(%|[A-Za-z]*)$/;

/**
 * A target text times a factor, in its own unit: "60%" by 1.1 is "66%", "1Gi" is "1.1Gi". A target
 * that is no amount keeps the factor in words.
 */
export const timesTarget = (target: string, factor: number): string => {
  const [, amount, unit] = AMOUNT.exec(target) ?? [];
  return amount === undefined
    ? `${rounded(factor)} times its target`
    : `${rounded(Number(amount) * factor)}${unit}`;
};

/** Rounds, because tolerances are doubles: 66, not 66.00000000000001. */
const rounded = (value: number): number => Number(value.toFixed(2));
