import type { Marks } from "../../../model/spec-hpa.ts";
import type { WatermarkSpec } from "../../../model/spec-watermark.ts";
import { toI32, toI64, wrapI64 } from "../../shared/arithmetic.ts";
import type { Curve } from "../../shared/metrics/curve.ts";
import type { CountedPods } from "../../shared/metrics/measurement.ts";
import {
  condition,
  gauge,
  type StepNote,
  convergeOutside,
  convergeAllowed,
  convergeBlocked,
  convergeOff,
} from "../steps/sentences.ts";

/**
 * What one metric, or the recommender, asks for. `utilisation` is what the status shows, in
 * thousandths.
 */
export interface WatermarkProposal {
  readonly replicas: number;
  readonly utilisation: bigint;
  readonly ready: number;
  readonly above: boolean;
  readonly below: boolean;
  /** Words of the recommender. */
  readonly details: string;
  /** A zero that is not tolerated: the proposal must not shrink anything. */
  readonly zero: boolean;
  /** What is said of it, in order. */
  readonly notes: readonly StepNote[];
  /** The pods whose samples counted, where the metric is measured by pods. */
  readonly counted?: () => CountedPods;
  /** What another value would propose. */
  readonly curve?: () => Curve;
}

type ProposeRules = Pick<
  WatermarkSpec,
  | "counts"
  | "average"
  | "toleranceMilli"
  | "replicaScalingAbsoluteModulo"
  | "converge"
  | "minReplicas"
  | "maxReplicas"
>;

/**
 * Up to the next multiple, for both directions: the total is a multiple, not the change
 * (watermark.md 2.5).
 */
export const roundUpToModulo = (count: number, modulo: number): number => {
  const rest = count % modulo;
  return rest > 0 ? (count + modulo - rest) | 0 : count;
};

/**
 * A mark moved outwards by the tolerance, in whole thousandths; the division truncates towards
 * zero. The document's marks are doubles (proposals.md §5).
 */
const widened = (
  mark: bigint,
  { toleranceMilli: tolerance, counts }: Pick<ProposeRules, "toleranceMilli" | "counts">,
  outwards: 1n | -1n,
): number => {
  if (counts === "current")
    return Number(mark) + Number(outwards) * (Number(tolerance) / 1000) * Number(mark);
  const part = wrapI64(mark * tolerance) / 1000n;
  return Number(wrapI64(mark + outwards * part));
};

/** Both marks as values are compared with them. */
export const marksOf = (
  { lowMilli, highMilli }: Marks,
  rules: Pick<ProposeRules, "toleranceMilli" | "counts">,
): readonly [low: number, high: number] => [
  widened(lowMilli, rules, -1n),
  widened(highMilli, rules, 1n),
];

/**
 * The proposal of a value (watermark.md 2.5): strictly above the widened high mark the ready count
 * grows by value ÷ high, strictly below the widened low mark it shrinks by value ÷ low, and never
 * across the current count. The order of the float operations is the original's.
 */
export const proposeFromValue = (
  sumMilli: bigint,
  marks: Marks,
  counts: { readonly current: number; readonly ready: number },
  rules: ProposeRules,
): WatermarkProposal => {
  const { current, ready } = counts;
  const usage = Number(sumMilli) / (rules.average ? ready : 1);
  const [low, high] = marksOf(marks, rules);
  const position = { utilisation: toI64(usage), ready, details: "", zero: false };
  if (usage > high) {
    const wanted = roundUpToModulo(
      toI32(Math.ceil((ready * usage) / Number(marks.highMilli))),
      rules.replicaScalingAbsoluteModulo,
    );
    return {
      ...position,
      replicas: Math.max(wanted, current),
      above: true,
      below: false,
      notes: outside("above"),
    };
  }
  if (usage < low) {
    const wanted = Math.max(toI32(Math.floor((ready * usage) / Number(marks.lowMilli))), 1);
    return {
      ...position,
      replicas: Math.min(roundUpToModulo(wanted, rules.replicaScalingAbsoluteModulo), current),
      above: false,
      below: true,
      notes: outside("below"),
    };
  }
  const { replicas, note } = converge(current, predicted(usage, marks, counts, rules), rules);
  return { ...position, replicas, above: false, below: false, notes: [withinNote(true), note] };
};

/**
 * The counts at which the use would meet the high and the low mark, inside the bounds (watermark.md
 * 2.6).
 */
const predicted = (
  usage: number,
  { highMilli, lowMilli }: Marks,
  { current, ready }: { readonly current: number; readonly ready: number },
  { minReplicas, maxReplicas }: ProposeRules,
): { readonly lower: number; readonly upper: number } => {
  const min = minReplicas > 0 ? minReplicas : 1;
  const inside = (count: number): number => Math.max(min, Math.min(count, maxReplicas));
  return {
    lower:
      highMilli === 0n ? current : inside(toI32(Math.ceil((ready / Number(highMilli)) * usage))),
    upper:
      lowMilli === 0n ? current : inside(toI32(Math.floor((ready / Number(lowMilli)) * usage))),
  };
};

export const outside = (side: "above" | "below"): readonly StepNote[] => [
  condition(convergeOutside(side)),
  withinNote(false),
];

/**
 * The original never writes 1 here; both of its documents say to look for it, so it is written
 * (watermark.md 5, row 18). No decision depends on it.
 */
export const withinNote = (within: boolean): StepNote =>
  gauge("restricted_scaling", within ? 1 : 0, { reason: "within_bounds" });

/**
 * Inside the band, one step of the modulo towards the chosen mark, unless the count would pass the
 * one at which the use is predicted to leave the band: the step back could then repeat for ever
 * (watermark.md 2.6).
 */
export const converge = (
  current: number,
  { lower, upper }: { readonly lower: number; readonly upper: number },
  {
    converge: mark,
    replicaScalingAbsoluteModulo: modulo,
  }: Pick<WatermarkSpec, "converge" | "replicaScalingAbsoluteModulo">,
): { readonly replicas: number; readonly note: StepNote } => {
  if (mark === "off") return { replicas: current, note: condition(convergeOff) };
  const wanted =
    mark === "highwatermark" ? Math.max((current - modulo) | 0, 1) : (current + modulo) | 0;
  const unstable = mark === "highwatermark" ? wanted < lower : wanted > upper;
  return unstable
    ? { replicas: current, note: condition(convergeBlocked(mark)) }
    : { replicas: wanted, note: condition(convergeAllowed(mark)) };
};
