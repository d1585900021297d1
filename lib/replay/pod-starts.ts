import { MINUTE_MS, SECOND_MS } from "../rules/model/time-text.ts";
import { SCRAPE_MS } from "./load.ts";
import { BETWEEN_MS, type Recorded, type RecordedScale } from "./recorded.ts";

/**
 * How long pods took to serve: for each scale up, half-way between the last sample in which fewer
 * than half of the new pods were ready and the first with half of them. The last of many pods is
 * later than most. The median; undefined where no scale shows it, because the samples are minutes
 * apart.
 */
export const podStartOf = ({ samples, scales }: Recorded): number | undefined => {
  const lengths = scales.flatMap(({ atMs, to }) => {
    const next = nextAfter(samples, atMs);
    const before = samples[next - 1];
    if (before?.current === undefined || before.current >= to) return [];
    const after = samples.slice(next, nextAfter(samples, atMs + LONGEST_MS));
    const half = before.current + Math.ceil((to - before.current) / 2);
    const enough = after.findIndex(({ ready = 0 }) => ready >= half);
    const first = after[enough];
    if (first === undefined) return [];
    const fewerMs = Math.max(atMs, after[enough - 1]?.atMs ?? atMs);
    return first.atMs - fewerMs > BETWEEN_MS ? [] : [(first.atMs + fewerMs) / 2 - atMs];
  });
  if (lengths.length === 0) return undefined;
  const sorted = lengths.toSorted((one, other) => one - other);
  return Math.round((sorted[Math.floor((sorted.length - 1) / 2)] ?? 0) / SECOND_MS) * SECOND_MS;
};

const LONGEST_MS = 15 * MINUTE_MS;

/** Where the first sample after an instant stands. */
const nextAfter = (samples: Recorded["samples"], atMs: number): number => {
  let [low, high] = [0, samples.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((samples[middle]?.atMs ?? 0) <= atMs) low = middle + 1;
    else high = middle;
  }
  return low;
};

/** Samples that are further apart do not say when a pod began to serve. */
const SEEN_MS = 2 * SCRAPE_MS;
/** So many samples after a scale are looked at: some minutes of them. */
const MOST_LOOKED_AT = 60;
/** Fewer pods do not show how they differ. */
const PODS_LEAST = 5;
/** So many values of all are kept, because each replay is given them. */
const KEPT_MOST = 20;

/**
 * How long the pods of scales took, the fastest first. Arrays of numbers, because each thread that
 * replays is given them.
 */
export interface PodStarts {
  /** Of any scale. Empty where this is not seen of enough pods. */
  readonly usualMs: Float64Array;
  /** The scales of which every pod was seen, in order of time. */
  readonly scaleMs: Float64Array;
  /** The pods of scale `at` end at `scaleEnds[at]`, and begin where the ones before end. */
  readonly scaleEnds: Float64Array;
  readonly scaleStartsMs: Float64Array;
}

/**
 * How long pods take from a scale until they serve: they do not serve all at once, and a sync in
 * between counts some of them. As far as samples a scrape or two apart show it; pods of one sample
 * are taken to have come evenly since the one before.
 */
export const podStartsOf = ({ samples, scales }: Recorded): PodStarts => {
  const seen = scales.map((scale, at) =>
    startsAfter(samples, scale, scales.slice(at + 1, at + 1 + MOST_LOOKED_AT)),
  );
  const all = Float64Array.from(seen.flatMap(({ startsMs }) => startsMs)).sort();
  const kept = all.length < PODS_LEAST ? 0 : Math.min(KEPT_MOST, all.length);
  const whole = seen.filter(({ isWhole }) => isWhole);
  let end = 0;
  return {
    usualMs: Float64Array.from({ length: kept }, (_, at) => startAt(all, at, kept)),
    scaleMs: Float64Array.from(whole, ({ atMs }) => atMs),
    scaleEnds: Float64Array.from(whole, ({ startsMs }) => (end += startsMs.length)),
    scaleStartsMs: Float64Array.from(whole.flatMap(({ startsMs }) => startsMs)),
  };
};

/** How long the pod `at` of so many takes, where these are the times of some number of pods. */
export const startAt = (startsMs: Float64Array, at: number, of: number): number =>
  startsMs[Math.floor(((at + 0.5) / of) * startsMs.length)] ?? 0;

interface ScaleStarts {
  readonly atMs: number;
  readonly startsMs: readonly number[];
  readonly isWhole: boolean;
}

/** Pods of earlier scales serve first, so that a number of ready pods says which ones they are. */
const startsAfter = (
  samples: Recorded["samples"],
  { atMs, to }: RecordedScale,
  later: readonly RecordedScale[],
): ScaleStarts => {
  const next = nextAfter(samples, atMs);
  const from = samples[next - 1]?.current ?? to;
  const fewerMs = later.find((scale) => scale.to < to)?.atMs ?? Number.POSITIVE_INFINITY;
  const startsMs: number[] = [];
  let sinceMs = atMs;
  for (const { atMs: seenMs, ready = 0 } of samples.slice(next, next + MOST_LOOKED_AT)) {
    const come = Math.min(to, ready) - from - startsMs.length;
    const isVague = come > 0 && seenMs - sinceMs > SEEN_MS;
    if (isVague || seenMs > fewerMs || from + startsMs.length >= to) break;
    startsMs.push(...evenly(come, sinceMs - atMs, seenMs - atMs));
    sinceMs = seenMs;
  }
  return { atMs, startsMs, isWhole: to > from && startsMs.length === to - from };
};

const evenly = (count: number, fromMs: number, toMs: number): readonly number[] =>
  Array.from({ length: Math.max(0, count) }, (_, one) =>
    Math.round(fromMs + ((one + 0.5) / count) * (toMs - fromMs)),
  );
