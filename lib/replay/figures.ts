import { DAY_MS, HOUR_MS, MINUTE_MS } from "../rules/model/time-text.ts";
import type { Minutes, ReplayedScale } from "./minutes.ts";

/** What a replay comes to, over a time. Shares are of the time that is known; NaN without any. */
export interface Figures {
  readonly replicaHours: number;
  /** Share of the time in which the pods that serve are fewer than the target asks for. */
  readonly aboveTarget: number;
  /** Load ÷ target that a minute in twenty exceeds. Infinite where no pod served. */
  readonly loadP95: number;
  /** Share of the load beyond what the pods can serve. Absent where that is not known. */
  readonly unserved?: number;
  readonly scales: number;
  /** Scales in the other direction than the one before. */
  readonly reversals: number;
  readonly largestStep: number;
  /** How long the pods were too few, each time that they were. Absent where they never were. */
  readonly reaction?: {
    readonly times: number;
    readonly medianMs: number;
    readonly p95Ms: number;
    readonly worstMs: number;
  };
  readonly minutesAtMax: number;
  /** Share of the time that is known, and the share of that in which demand was cut off. */
  readonly coverage: number;
  readonly cutOff: number;
}

export interface TimeSpan {
  readonly fromMs: number;
  readonly untilMs: number;
}

const HIGH_QUANTILE = 0.95;

/** The figures of a stretch, in whole minutes. */
export const figuresOf = (minutes: Minutes, { fromMs, untilMs }: TimeSpan): Figures => {
  const from = Math.max(0, Math.ceil((fromMs - minutes.fromMs) / MINUTE_MS));
  const until = Math.min(minutes.length, Math.ceil((untilMs - minutes.fromMs) / MINUTE_MS));
  const sum = (column: Float64Array): number => sumOf(column, from, until);
  const known = sum(minutes.knownMs);
  const load = sum(minutes.loadMs);
  const inside = ({ atMs }: { readonly atMs: number }): boolean => atMs >= fromMs && atMs < untilMs;
  const scales = minutes.scales.filter(inside);
  const reaction = reactionOf(reactionsIn(minutes, { fromMs, untilMs }));
  return {
    replicaHours: sum(minutes.podMs) / HOUR_MS,
    aboveTarget: sum(minutes.aboveMs) / known,
    loadP95: quantileOf(loadsOf(minutes, from, until), HIGH_QUANTILE),
    ...(load > 0 && { unserved: sum(minutes.unservedMs) / load }),
    scales: scales.length,
    reversals: reversalsOf(scales),
    largestStep: Math.max(0, ...scales.map((scale) => Math.abs(scale.to - scale.from))),
    ...(reaction && { reaction }),
    minutesAtMax: sum(minutes.atMaxMs) / MINUTE_MS,
    coverage: known / ((until - from) * MINUTE_MS),
    cutOff: sum(minutes.cutOffMs) / known,
  };
};

/**
 * How long the pods were too few, each time that this began in a stretch. Where it never did, the
 * time that had begun before and went on into it.
 */
const reactionsIn = (
  { reactions }: Pick<Minutes, "reactions">,
  { fromMs, untilMs }: TimeSpan,
): readonly number[] => {
  const begun = reactions.filter(({ atMs }) => atMs >= fromMs && atMs < untilMs);
  const underWay = reactions.filter(
    ({ atMs, lastedMs }) => atMs < fromMs && atMs + lastedMs > fromMs,
  );
  return (begun.length > 0 ? begun : underWay).map(({ lastedMs }) => lastedMs);
};

/** The days of a stretch by UTC, each as far as it is in it. */
export const daysWithin = ({ fromMs, untilMs }: TimeSpan): readonly TimeSpan[] => {
  const days: TimeSpan[] = [];
  for (let dayMs = Math.floor(fromMs / DAY_MS) * DAY_MS; dayMs < untilMs; dayMs += DAY_MS)
    days.push({ fromMs: Math.max(fromMs, dayMs), untilMs: Math.min(untilMs, dayMs + DAY_MS) });
  return days;
};

const sumOf = (column: Float64Array, from: number, until: number): number => {
  let sum = 0;
  for (let at = from; at < until; at++) sum += column[at] ?? 0;
  return sum;
};

/** Load ÷ target of each minute that is known. */
const loadsOf = (minutes: Minutes, from: number, until: number): readonly number[] => {
  const loads: number[] = [];
  for (let at = from; at < until; at++) {
    const needed = minutes.neededMs[at] ?? 0;
    if ((minutes.knownMs[at] ?? 0) > 0)
      loads.push(needed === 0 ? 0 : needed / (minutes.knownReadyMs[at] ?? 0));
  }
  return loads;
};

/** The smallest value that is not exceeded by this share of them; NaN of none. */
export const quantileOf = (values: readonly number[], share: number): number => {
  const sorted = Float64Array.from(values).sort();
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN;
};

const reversalsOf = (scales: readonly ReplayedScale[]): number =>
  scales.filter((scale, at) => {
    const before = scales[at - 1];
    return before !== undefined && scale.to > scale.from !== before.to > before.from;
  }).length;

const reactionOf = (lasted: readonly number[]): Figures["reaction"] =>
  lasted.length === 0
    ? undefined
    : {
        times: lasted.length,
        medianMs: quantileOf(lasted, 0.5),
        p95Ms: quantileOf(lasted, HIGH_QUANTILE),
        worstMs: Math.max(...lasted),
      };
