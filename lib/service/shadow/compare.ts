import { rivalView } from "../views/autoscaler-of.ts";
import { rfc3339 } from "../views/rfc3339.ts";
import type { ShadowStretch, ShadowView } from "../views/shadow-view.ts";
import { reactionsOf } from "./reactions.ts";
import type { ShadowSample } from "./shadow-sample.ts";

const HOUR_MS = 3_600_000;
/** A longer time without a sync counts as this long: what was wanted in between is not known. */
const GAP_MS = 5 * 60_000;

type Comparison = Pick<ShadowView, "rivals" | "syncs" | "agreed" | "undecided" | "replicaHours" | "stretches" | "reactions">;

/** Compares samples in order of time. Each counts until the next, the last one until `untilMs`. */
export const compareShadow = (samples: readonly ShadowSample[], untilMs: number): Comparison => {
  const decided = samples.filter(({ own, rival }) => own !== undefined && rival !== undefined);
  return {
    rivals: (samples.at(-1)?.rivals ?? []).map(rivalView),
    syncs: decided.length,
    agreed: decided.filter(({ own, rival }) => own === rival).length,
    undecided: samples.length - decided.length,
    replicaHours: hoursOf(samples, untilMs),
    stretches: stretchesOf(samples, untilMs),
    reactions: reactionsOf(samples),
  };
};

const hoursOf = (samples: readonly ShadowSample[], untilMs: number): ShadowView["replicaHours"] => {
  let [own, rival] = [0, 0];
  for (const [at, sample] of samples.entries()) {
    // Both counts or none: hours of one alone could not be compared.
    if (sample.own === undefined || sample.rival === undefined) continue;
    const lastsMs = Math.min(GAP_MS, Math.max(0, (samples[at + 1]?.atMs ?? untilMs) - sample.atMs));
    own += (sample.own * lastsMs) / HOUR_MS;
    rival += (sample.rival * lastsMs) / HOUR_MS;
  }
  return { own: rounded(own), rival: rounded(rival) };
};

const rounded = (hours: number): number => Math.round(hours * 1_000) / 1_000;

/** Equal samples in a row, without a gap. */
const stretchesOf = (samples: readonly ShadowSample[], untilMs: number): readonly ShadowStretch[] => {
  const runs: ShadowSample[][] = [];
  for (const sample of samples) {
    const run = runs.at(-1);
    const before = run?.at(-1);
    if (run && before && isSame(before, sample) && sample.atMs - before.atMs <= GAP_MS) run.push(sample);
    else runs.push([sample]);
  }
  return runs.flatMap((run, at) => {
    const [first, last] = [run[0], run.at(-1)];
    if (!first || !last) return [];
    return [stretchOf(first, Math.min(runs[at + 1]?.[0]?.atMs ?? untilMs, last.atMs + GAP_MS), run.length)];
  });
};

const isSame = (one: ShadowSample, other: ShadowSample): boolean =>
  one.own === other.own &&
  one.rival === other.rival &&
  one.current === other.current &&
  one.because.reason === other.because.reason &&
  one.rivalBecause?.reason === other.rivalBecause?.reason;

const stretchOf = ({ atMs, current, own, rival, because, rivalBecause }: ShadowSample, untilMs: number, syncs: number): ShadowStretch => ({
  at: rfc3339(atMs),
  until: rfc3339(untilMs),
  syncs,
  ...(current !== undefined && { current }),
  ...(own !== undefined && { own }),
  ...(rival !== undefined && { rival }),
  ...because,
  ...(rivalBecause && { rivalReason: rivalBecause.reason, rivalMessage: rivalBecause.message }),
});
