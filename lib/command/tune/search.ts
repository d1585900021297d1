import { uniformFloat64 } from "pure-rand/distribution/uniformFloat64";
import { xoroshiro128plus } from "pure-rand/generator/xoroshiro128plus";
import { type Figures, figuresOf, type TimeSpan } from "../../replay/figures.ts";
import type { Minutes } from "../../replay/minutes.ts";
import type { ReplayJob } from "../../replay/replay.ts";
import { largestCount, worstHour } from "../../replay/tune/guards.ts";
import { latinHypercube, type Random } from "../../replay/tune/latin-hypercube.ts";
import { offspring, survivors } from "../../replay/tune/nsga2.ts";
import { amountsOf, type TunedPoint } from "../../replay/tune/points.ts";
import {
  genesNow,
  searchedOf,
  type SettingRanges,
  type Settings,
  settingsAt,
  settingsNow,
} from "../../replay/tune/settings.ts";
import { HOUR_MS, MINUTE_MS } from "../../rules/model/time-text.ts";
import type { ReplayThreads } from "../replay/replay-threads.ts";
import type { TuneSubject } from "./subject.ts";
import { type Guards, rangesOf, tunedDocument, usable } from "./tuned-manifest.ts";

/** How much is replayed. The same for each machine, so that the same seed gives the same answer. */
export interface SearchSize {
  /** Points of the Latin hypercube, with a sync a minute. */
  readonly points: number;
  /** Generations with a sync a minute, each of a third of the points. */
  readonly coarse: number;
  /** Settings of a generation, with the syncs of the policy. */
  readonly population: number;
  readonly generations: number;
}

export const WHOLE_SEARCH: SearchSize = { points: 96, coarse: 6, population: 24, generations: 6 };
/** Of one autoscaler among many. */
export const SHORT_SEARCH: SearchSize = { points: 24, coarse: 2, population: 8, generations: 1 };

export interface SearchOptions {
  readonly size: SearchSize;
  readonly seed: number;
  readonly kept: ReadonlySet<keyof Settings>;
  readonly onProgress: (done: number, all: number) => void;
}

/** What a search found on the days that it tuned on. */
export interface SearchFound {
  readonly ranges: SettingRanges;
  readonly guards: Guards;
  readonly kept: ReadonlySet<keyof Settings>;
  /** Everything that was replayed with the syncs of the policy. */
  readonly points: readonly TunedPoint[];
  readonly now: Minutes;
}

/**
 * Looks for better numbers: first over the whole of them with a sync a minute, then around the best
 * third of these with the syncs of the policy.
 */
export const searched = async (
  subject: TuneSubject,
  threads: ReplayThreads,
  { size, seed, kept, onProgress }: SearchOptions,
): Promise<SearchFound> => {
  const { tuned, now, document } = subject;
  const coarseMs = Math.max(MINUTE_MS, now.span.periodMs);
  const unchanged = await threads.replay(jobWithin(now, tuned));
  const figuresNow = figuresOf(unchanged, tuned);
  const guards = await guardsOf(subject, threads, largestCount(unchanged, tuned), coarseMs);
  const ranges = rangesOf(document, subject.spec, guards);
  const names = searchedOf(ranges, kept);
  const random = randomBy(seed);
  const third = Math.ceil(size.points / 3);
  const all = size.points + third * size.coarse + size.population * (size.generations + 1);
  const known = new Map<string, Promise<TunedPoint>>();
  let done = 0;
  const pointsOf = async (
    cube: readonly (readonly number[])[],
    periodMs: number,
    beside: Figures,
  ): Promise<readonly TunedPoint[]> =>
    Promise.all(
      cube.map(async (genes): Promise<TunedPoint> => {
        const settings = usable(subject.spec, settingsAt(ranges, names, genes));
        const key = JSON.stringify([settings, periodMs]);
        const found =
          known.get(key) ??
          replayedPoint(subject, threads, { settings, ranges, periodMs, now: beside });
        known.set(key, found);
        const { figures, amounts } = await found;
        onProgress(++done, all);
        return { genes, settings, figures, amounts };
      }),
    );
  const bred = async (
    first: readonly TunedPoint[],
    generations: number,
    breed: { readonly size: number; readonly periodMs: number; readonly beside: Figures },
  ): Promise<readonly (readonly TunedPoint[])[]> => {
    const born = [first];
    let population = first;
    for (let generation = 0; generation < generations; generation++) {
      const genes = offspring(population, breed.size, random);
      const children = await pointsOf(genes, breed.periodMs, breed.beside);
      born.push(children);
      population = survivors([...population, ...children], breed.size);
    }
    return [...born, population];
  };
  const own = genesNow(ranges, names);
  const cube = [own, ...latinHypercube(size.points - 1, names.length, random)];
  const coarseNow = figuresOf(await threads.replay(jobWithin(now, tuned, coarseMs)), tuned);
  const coarse = await bred(
    survivors(await pointsOf(cube, coarseMs, coarseNow), third),
    size.coarse,
    { size: third, periodMs: coarseMs, beside: coarseNow },
  );
  const parents = survivors(coarse.at(-1) ?? [], size.population - 1).map(({ genes }) => genes);
  const { periodMs } = now.span;
  const fine = await bred(
    await pointsOf([own, ...parents], periodMs, figuresNow),
    size.generations,
    { size: size.population, periodMs, beside: figuresNow },
  );
  const archive = fine.flat();
  return { ranges, guards, kept, points: distinct(archive), now: unchanged };
};

const randomBy = (seed: number): Random => {
  const generator = xoroshiro128plus(seed);
  return () => uniformFloat64(generator);
};

/** Each settings once, in the order in which they were found. */
const distinct = (points: readonly TunedPoint[]): readonly TunedPoint[] => [
  ...new Map(points.map((point) => [JSON.stringify(point.settings), point])).values(),
];

/** A job of a part of the time, with an hour before it that fills the windows. */
export const jobWithin = (
  { policy, workload, span }: ReplayJob,
  { fromMs, untilMs }: TimeSpan,
  periodMs: number = span.periodMs,
): ReplayJob => {
  const beginMs = Math.max(span.fromMs, fromMs - HOUR_MS);
  const { outside } = workload;
  return {
    policy,
    workload: {
      ...workload,
      ...(outside && { outside: outside.filter(({ atMs }) => atMs >= beginMs) }),
    },
    span: { ...span, fromMs: beginMs, untilMs, periodMs },
  };
};

const replayedPoint = async (
  { jobWith, document, tuned }: TuneSubject,
  threads: ReplayThreads,
  {
    settings,
    ranges,
    periodMs,
    now,
  }: {
    readonly settings: Settings;
    readonly ranges: SettingRanges;
    readonly periodMs: number;
    readonly now: Figures;
  },
): Promise<TunedPoint> => {
  const job = jobWith("tuned", tunedDocument(document, ranges, settings));
  const figures = figuresOf(await threads.replay(jobWithin(job, tuned, periodMs)), tuned);
  return { genes: [], settings, figures, amounts: amountsOf(figures, now) };
};

const guardsOf = async (
  { jobWith, document, spec, tuned, cutOff }: TuneSubject,
  threads: ReplayThreads,
  largest: number,
  periodMs: number,
): Promise<Guards> => {
  const open = { leastMin: 1, largestCount: largest, isCutOff: cutOff > 0 };
  const ranges = rangesOf(document, spec, open);
  const leastMin = await leastMinimum(spec.minReplicas, async (minReplicas) => {
    const changed = tunedDocument(document, ranges, { ...settingsNow(ranges), minReplicas });
    const job = jobWithin(jobWith("with another minimum", changed), tuned, periodMs);
    return worstHour(await threads.replay(job), tuned);
  });
  return { ...open, leastMin };
};

/** Pods × time that differ by less are the same. */
const SAME_PODS = 0.001;

/**
 * The least minimum that serves the worst hour as well as the minimum of now does. Looked for by
 * halves: a lower minimum never serves it better.
 */
const leastMinimum = async (
  now: number,
  worstWith: (minReplicas: number) => Promise<number>,
): Promise<number> => {
  const most = (await worstWith(now)) + SAME_PODS;
  let [tooFew, enough] = [0, now];
  while (enough - tooFew > 1) {
    const middle = Math.floor((enough + tooFew) / 2);
    if ((await worstWith(middle)) <= most) enough = middle;
    else tooFew = middle;
  }
  return enough;
};
