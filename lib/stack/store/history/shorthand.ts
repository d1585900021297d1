import type { GaugeWrite, MetricOutcome, MetricPods } from "../../../rules/model/decision.ts";
import type { Evaluation } from "../../../rules/model/scale-records.ts";
import { milliOfText, ordinaryMilli } from "../../../rules/model/quantity.ts";

/**
 * Numbers of an evaluation that nearly follow from others of it, in a few characters: a ratio of 17
 * digits is the exact quotient of two whole numbers, and the value that people read says one of
 * them but for its rounding. What does not follow exactly stays as it is, so that every evaluation
 * comes back as it was.
 *
 *   {"value":"875m","target":"1","ratio":0.8743333333333333,"turns":{"value":"0.87"}}   6 pods
 *   {"value":"875m","target":"1","ratio":"6:4","turns":{"value":"~2"}}     (6 × 875 - 4) ÷ (6 × 1000)
 *
 * A short form takes the place of its number, and never leaves a field out: rows of one shape stand
 * together (shapes.ts).
 */
export const shortened = (evaluation: Evaluation): object => {
  const { metrics, gauges } = evaluation;
  const short = { ...evaluation, metrics: metrics.map((one) => shortMetric(one, evaluation)) };
  return gauges ? { ...short, gauges: mapValues(gauges, metrics, evaluation, shortGauge) } : short;
};

/** An evaluation, or some fields of one, whose short forms are written out. */
export const writtenOut = <Part extends Partial<Evaluation>>(stored: Part): Part => {
  if (!stored.metrics) return stored;
  const metrics = stored.metrics.map(longMetric);
  const { gauges } = stored;
  return gauges
    ? { ...stored, metrics, gauges: mapValues(gauges, metrics, stored, longGauge) }
    : { ...stored, metrics };
};

const shortMetric = (metric: MetricOutcome, evaluation: Evaluation): object => {
  if (metric.kind === "failed") return metric;
  const { ratio, turns, target } = metric;
  const amount = thousandths(metric.value);
  const over = thousandths(target);
  const quotient =
    ratio === undefined || amount === undefined || !over
      ? undefined
      : quotientOf(ratio, { amount, over, pods: metric.pods, from: evaluation.from });
  const short = quotient === undefined ? metric : { ...metric, ratio: quotient };
  const rounded = turns && roundedOf(turns.value, metric.value, exactly(amount, quotient));
  return rounded === undefined ? short : { ...short, turns: { ...turns, value: rounded } };
};

const longMetric = (metric: MetricOutcome): MetricOutcome => {
  if (metric.kind === "failed") return metric;
  const { ratio, turns, value, target } = metric as Stored<typeof metric>;
  const quotient = typeof ratio === "string" ? ratio : undefined;
  const isRounded = turns?.value.startsWith(SHORT) === true;
  if (quotient === undefined && !isRounded) return metric;
  const amount = thousandths(value);
  return {
    ...metric,
    ...(quotient !== undefined && { ratio: dividedBy(quotient, amount, thousandths(target)) }),
    ...(isRounded && {
      turns: { ...turns, value: roundedTo(turns.value, value, exactly(amount, quotient)) },
    }),
  };
};

type Stored<Metric> = Omit<Metric, "ratio"> & { readonly ratio?: number | string };

/** Whole thousandths that a double holds exactly: of "57%" the thousandths of 57. */
const thousandths = (text: string): number | undefined => {
  const quantity = text.endsWith("%") ? text.slice(0, -1) : text;
  const number = ordinaryMilli(quantity) ?? Number(milliOfText(quantity) ?? Number.NaN);
  return Number.isSafeInteger(number) ? number : undefined;
};

/** Between the parts of a quotient and what its value was rounded by. */
const BY = ":";

/** What a number may be the quotient of. */
interface Quotient {
  readonly amount: number;
  readonly over: number;
  readonly pods: MetricPods | undefined;
  readonly from: number | undefined;
}

/**
 * A number as (amount × parts - rest) ÷ (over × parts), where that is this number to the last bit.
 * The parts are mostly the pods that count.
 */
const quotientOf = (number: number, of: Quotient): string | undefined =>
  quotientIn(number, of, of.pods?.counted ?? of.pods?.matched ?? 1) ??
  quotientIn(number, of, of.from ?? 1) ??
  quotientIn(number, of, 1);

const quotientIn = (
  number: number,
  { amount, over }: Quotient,
  parts: number,
): string | undefined => {
  const rest = amount * parts - Math.round(number * over * parts);
  const made = divided(amount, over, parts, rest);
  // JSON has no -0: in full it comes back as 0.
  return made === number && !Object.is(made, -0) ? `${parts}${BY}${rest}` : undefined;
};

const divided = (amount: number, over: number, parts: number, rest: number): number =>
  (amount * parts - rest) / (over * parts);

const dividedBy = (quotient: string, amount = Number.NaN, over = Number.NaN): number => {
  const between = quotient.indexOf(BY);
  const [parts, rest] = [Number(quotient.slice(0, between)), Number(quotient.slice(between + 1))];
  return divided(amount, over, parts, rest);
};

/** Before the digits of a text that is another one with fewer digits. */
const SHORT = "~";
const DIGITS_MAX = 9;

/** How a text follows from a value: it is the same, or has so many digits, rounded down or up. */
const roundedOf = (text: string, value: string, exact: number | undefined): string | undefined => {
  if (text === value) return SHORT;
  const point = text.indexOf(".");
  const digits = point === -1 ? 0 : text.length - 1 - point;
  if (exact === undefined || digits > DIGITS_MAX) return undefined;
  if (rounded(exact, digits, Math.floor) === text) return `${SHORT}${digits}`;
  return rounded(exact, digits, Math.ceil) === text ? `${SHORT}-${digits}` : undefined;
};

const roundedTo = (short: string, value: string, exact: number | undefined): string => {
  if (short === SHORT) return value;
  const digits = Number(short.slice(SHORT.length));
  const isUp = short.startsWith(`${SHORT}-`);
  return rounded(exact ?? Number.NaN, Math.abs(digits), isUp ? Math.ceil : Math.floor);
};

const rounded = (exact: number, digits: number, toWhole: (parts: number) => number): string => {
  const tens = 10 ** digits;
  return `${toWhole((exact * tens) / 1_000) / tens}`;
};

/** The value in thousandths before it was rounded, as its quotient says. */
const exactly = (amount: number | undefined, quotient: string | undefined): number | undefined =>
  quotient === undefined || amount === undefined ? amount : dividedBy(quotient, amount, 1);

/** The series of the value of a metric, which the watermark rules write in thousandths. */
const VALUE = "value";

/** The gauges, of which each series of a value is made anew with the metric that it is of. */
const mapValues = <Place>(
  gauges: readonly GaugeWrite[],
  metrics: readonly MetricOutcome[],
  place: Place,
  make: (gauge: GaugeWrite, amount: number, metric: Measured, place: Place) => GaugeWrite,
): readonly GaugeWrite[] => {
  const measured = metrics.filter((one): one is Measured => one.kind === "measured");
  let at = 0;
  return gauges.map((gauge) => {
    if (gauge.name !== VALUE) return gauge;
    const metric = measured[at++];
    const amount = metric && thousandths(metric.value);
    return metric && amount !== undefined ? make(gauge, amount, metric, place) : gauge;
  });
};

type Measured = MetricOutcome & { readonly kind: "measured" };

const shortGauge = (
  gauge: GaugeWrite,
  amount: number,
  metric: Measured,
  evaluation: Evaluation,
): GaugeWrite => {
  const { value } = gauge as { readonly value?: unknown };
  if (typeof value !== "number") return gauge;
  const short = quotientOf(value, { amount, over: 1, pods: metric.pods, from: evaluation.from });
  return short === undefined ? gauge : ({ ...gauge, value: short } as unknown as GaugeWrite);
};

const longGauge = (gauge: GaugeWrite, amount: number): GaugeWrite => {
  const { value } = gauge as { readonly value?: unknown };
  return typeof value === "string"
    ? ({ ...gauge, value: dividedBy(value, amount, 1) } as GaugeWrite)
    : gauge;
};
