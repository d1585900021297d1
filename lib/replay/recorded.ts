import type { ScopedOverride } from "../rules/model/override.ts";
import type { Calendar } from "../rules/model/schedule.ts";
import type { Sample, SampleMetric } from "../rules/model/scale-records.ts";
import type { AutoscalerSpec } from "../rules/model/spec.ts";
import { MINUTE_MS } from "../rules/model/time-text.ts";
import { effectiveBounds } from "../rules/policy/bounds/effective-bounds.ts";
import { cutByBursts } from "./bursts.ts";
import { SCRAPE_MS } from "./load.ts";
import { lowerOf, type Series, StepReader, stepSeries } from "./series.ts";

/** What history holds of an autoscaler over a time. */
export interface Recorded {
  /** In order of time. */
  readonly samples: readonly Sample[];
  /** Its specs in order of time, each from the sync that followed it. */
  readonly specs: readonly [SpecFrom, ...SpecFrom[]];
  readonly scales: readonly RecordedScale[];
  readonly calendars: readonly Calendar[];
  readonly periodMs: number;
  readonly untilMs: number;
}

export interface SpecFrom {
  readonly fromMs: number;
  readonly spec: AutoscalerSpec;
}

export interface RecordedScale {
  readonly atMs: number;
  readonly to: number;
  /** True for a count that others set. */
  readonly isOutside: boolean;
}

/** Syncs write the record once a minute at least. A longer silence is unknown, and stays so. */
const SILENCE_MS = 5 * MINUTE_MS;
/** How long a sample says something where the next one is missing. */
const CARRIED_MS = MINUTE_MS;
/** Stored evaluations that are further apart are of several minutes together. */
export const BETWEEN_MS = 2 * MINUTE_MS;

/**
 * A series of the samples. A sample holds until the next one; a silence of more than five minutes
 * is unknown from a minute after the last sample on, and nothing is put in its place.
 */
export const sampledSeries = (
  { samples, periodMs, untilMs }: Pick<Recorded, "samples" | "periodMs" | "untilMs">,
  read: (sample: Sample, at: number) => number,
  beginOf: (sample: Sample, before: Sample) => number = ({ atMs }) => atMs,
): Series => {
  const silenceMs = Math.max(SILENCE_MS, 3 * periodMs);
  const steps = samples.flatMap((sample, at): (readonly [number, number])[] => {
    const nextMs = samples[at + 1]?.atMs ?? untilMs;
    const before = samples[at - 1];
    const follows = before !== undefined && sample.atMs - before.atMs <= silenceMs;
    const beginMs = follows ? beginOf(sample, before) : sample.atMs;
    const step = [beginMs, read(sample, at)] as const;
    const isSilent = nextMs - sample.atMs > silenceMs;
    return isSilent ? [step, [sample.atMs + Math.max(CARRIED_MS, periodMs), Number.NaN]] : [step];
  });
  return stepSeries(steps, untilMs);
};

/**
 * When a value began of which nobody stored the begin. A sync that finds another wish is stored, so
 * a value with another wish began at its own sample. One with the same wish, of the same pods, may
 * have begun at any instant since the sample before: half-way is early as often as late. From its
 * own sample on it would always be late, and rises would be seen earlier than falls.
 */
export const beganMs = (sample: Sample, before: Sample): number =>
  sample.atMs - before.atMs <= BETWEEN_MS &&
  sample.wanted === before.wanted &&
  sample.current === before.current &&
  readyOf(sample) === readyOf(before)
    ? (before.atMs + sample.atMs) / 2
    : sample.atMs;

/** 1 while syncs came. */
export const syncedSeries = (recorded: Recorded): Series => sampledSeries(recorded, () => 1);

/** What a policy decides itself, and what it would decide again. */
const OF_THE_POLICY: ReadonlySet<string> = new Set(["PausedBySchedule", "DryRun"]);
const HELD_BY_OTHERS: ReadonlySet<string | undefined> = new Set(["pause", "rival"]);

/** 1 while something outside the policy kept it from writing: a freeze, a pause, a rival. */
export const heldSeries = (recorded: Recorded): Series =>
  sampledSeries(recorded, ({ held, reason }) =>
    HELD_BY_OTHERS.has(held) && !OF_THE_POLICY.has(reason) ? 1 : 0,
  );

/** Above this the load is more than a target tolerates. */
const OVERLOADED = 1.1;

/** From here on pods use all that they ask for, and many may use no more. */
const ALL_OF_REQUEST_PERCENT = 100;

/**
 * 1 while demand was cut off, or may have been: the count was at its maximum and the load above the
 * target, the pods used all that they ask for, or they likely did so in bursts that are shorter
 * than a scrape. What was measured then is a lower bound of what was asked for.
 */
export const cutOffSeries = (recorded: Recorded): Series => {
  const bursts = burstsIn(recorded);
  return sampledSeries(recorded, ({ current, max, load = 0, metrics }, at) => {
    const isAtMax =
      current !== undefined && max !== undefined && current >= max && load > OVERLOADED;
    const isSaturated = metrics.some(
      (metric) => (percentOf(metric) ?? 0) >= ALL_OF_REQUEST_PERCENT,
    );
    return isAtMax || isSaturated || bursts.some((isBurst) => isBurst[at]) ? 1 : 0;
  });
};

/** For each use that was recorded, the samples that bursts cut off. Rare syncs do not show them. */
const burstsIn = ({ samples, periodMs }: Recorded): readonly (readonly boolean[])[] => {
  if (periodMs > SCRAPE_MS) return [];
  const names = new Set(samples.flatMap(({ metrics }) => metrics.map(({ name }) => name)));
  return [...names].map((name) =>
    cutByBursts(
      samples,
      samples.map(({ metrics }) => {
        const metric = metrics.find((each) => each.name === name);
        return metric && percentOf(metric);
      }),
    ),
  );
};

/** Whether bursts that are shorter than a scrape likely cut off demand. */
export const hasBursts = (recorded: Recorded): boolean =>
  burstsIn(recorded).some((isBurst) => isBurst.includes(true));

const percentOf = ({ value = "" }: SampleMetric): number | undefined =>
  value.endsWith("%") ? Number(value.slice(0, -1)) : undefined;

/** The count that there was. A scale counts from its event on, and not from the next sample. */
export const countSeries = (recorded: Recorded): Series => {
  const sampled = sampledSeries(recorded, ({ current = Number.NaN }) => current);
  const ends = recorded.scales.filter(({ atMs }) => atMs < recorded.untilMs);
  const steps = [...sampled.times].map((atMs, at) => [atMs, sampled.values[at] ?? 0] as const);
  const all = [...steps, ...ends.map(({ atMs, to }) => [atMs, to] as const)];
  return stepSeries(
    all.toSorted(([one], [other]) => one - other),
    recorded.untilMs,
  );
};

/** Pods that served; what was asked for where a sample does not say it. */
export const readyOf = ({ ready, current }: Sample): number => ready ?? current ?? Number.NaN;

/** When the pods of a sample began to serve: nobody stored it, so half-way since the one before. */
const servedSinceMs = (sample: Sample, before: Sample): number =>
  readyOf(sample) > readyOf(before) && sample.atMs - before.atMs <= BETWEEN_MS
    ? (before.atMs + sample.atMs) / 2
    : sample.atMs;

/** Pods that served. Those that a scale took away serve no longer, as samples show later. */
export const readySeries = (recorded: Recorded): Series =>
  lowerOf(sampledSeries(recorded, readyOf, servedSinceMs), countSeries(recorded));

/** A count that others set. */
export interface OutsideCount {
  readonly atMs: number;
  readonly to: number;
}

/** Counts that others set. */
export const outsideOf = ({ scales }: Recorded): readonly OutsideCount[] =>
  scales.filter(({ isOutside }) => isOutside).map(({ atMs, to }) => ({ atMs, to }));

/**
 * The bounds that people had set, as overrides of the times in which the recorded bounds were not
 * the ones of the manifest and its schedule. So it does not matter who set them, where, and whether
 * they are there still. `forecasts: false`: a minimum of a time in which the manifest took the
 * advice of forecasts is left out, because the forecast set it.
 */
export const overridesIn = (
  recorded: Recorded,
  { forecasts }: { readonly forecasts: boolean } = { forecasts: true },
): readonly ScopedOverride[] => {
  const overrides: ScopedOverride[] = [];
  for (const [at, sample] of recorded.samples.entries()) {
    const set = setBeside(recorded, sample, forecasts);
    const endMs = recorded.samples[at + 1]?.atMs ?? recorded.untilMs;
    const before = overrides.at(-1);
    const goesOn =
      before?.untilMs === sample.atMs && before.set.min === set.min && before.set.max === set.max;
    if (Object.keys(set).length === 0) continue;
    if (goesOn) overrides[overrides.length - 1] = { ...before, untilMs: endMs };
    else overrides.push(overrideOf(set, sample.atMs, endMs));
  }
  return overrides;
};

/** What of the recorded bounds is neither of the manifest nor of its schedule. */
const setBeside = (
  { specs, calendars }: Recorded,
  { atMs, min, max }: Sample,
  forecasts: boolean,
): ScopedOverride["set"] => {
  const { spec } = specs.findLast(({ fromMs }) => fromMs <= atMs) ?? specs[0];
  const own = effectiveBounds(spec, { overrides: [], calendars }, atMs);
  return {
    ...(min !== undefined &&
      min !== own.min.replicas &&
      (forecasts || spec.advice === undefined) && { min }),
    ...(max !== undefined && max !== own.max.replicas && { max }),
  };
};

const overrideOf = (
  set: ScopedOverride["set"],
  fromMs: number,
  untilMs: number,
): ScopedOverride => ({
  id: `recorded:${fromMs}`,
  scope: "autoscaler",
  set,
  fromMs,
  untilMs,
  reason: "as recorded",
  by: "",
  atMs: fromMs,
});

/** What a load is where demand was cut off: so many times as much. */
export const raisedWhere = (cutOff: Series, factor: number): Series => {
  const reader = new StepReader(cutOff);
  const steps = [...cutOff.times].map(
    (atMs) => [atMs, reader.seek(atMs) === 1 ? factor : 1] as const,
  );
  return stepSeries(steps, cutOff.endMs);
};
