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
 * How long the pods of a scale take, the fastest first: they do not serve all at once, and a sync in
 * between counts some of them. From the scales that found all pods ready, as far as samples a scrape
 * or two apart show them; pods of one sample are taken to have come evenly since the one before.
 * Empty where this is not seen of enough pods.
 */
export const podStartsOf = ({ samples, scales }: Recorded): readonly number[] => {
  const starts = scales
    .flatMap((scale, at) => startsAfter(samples, scale, scales[at + 1]?.atMs))
    .toSorted((one, other) => one - other);
  if (starts.length < PODS_LEAST) return [];
  const kept = Math.min(KEPT_MOST, starts.length);
  return Array.from({ length: kept }, (_, at) =>
    Math.round(starts[Math.floor(((at + 0.5) / kept) * starts.length)] ?? 0),
  );
};

const startsAfter = (
  samples: Recorded["samples"],
  { atMs, to }: RecordedScale,
  nextScaleMs = Number.POSITIVE_INFINITY,
): readonly number[] => {
  const next = nextAfter(samples, atMs);
  const before = samples[next - 1];
  if (before?.current === undefined || before.ready !== before.current) return [];
  const starts: number[] = [];
  let sinceMs = atMs;
  for (const sample of samples.slice(next, next + MOST_LOOKED_AT)) {
    const isSeen = sample.atMs <= nextScaleMs && sample.atMs - sinceMs <= SEEN_MS;
    if (!isSeen || starts.length >= to - before.current) break;
    const seen = starts.length;
    const come = Math.min(to, sample.ready ?? 0) - before.current - seen;
    for (let one = 0; one < come; one++)
      starts.push(sinceMs - atMs + ((one + 0.5) / come) * (sample.atMs - sinceMs));
    sinceMs = sample.atMs;
  }
  return starts;
};
