import type {
  ShadowView,
  ShadowDifference,
  ShadowReaction,
  ShadowStretch,
} from "../../views/over-time.ts";
import type { QueryContext } from "../context.ts";
import { findAutoscaler } from "../find-autoscaler.ts";
import { factsBetween } from "../facts/between.ts";
import type { ShadowQuery } from "../service.ts";
import { refuseEmptyRange, rfc3339, timeText } from "../times.ts";
import type { Because } from "../../../rules/model/decision.ts";
import type { Rival } from "../../../rules/model/observation.ts";
import type { Evaluation } from "../../../rules/model/scale-records.ts";
import { rivalView } from "../views/autoscaler-view.ts";
import { present } from "../../../rules/model/json.ts";
import { SECOND_MS, HOUR_MS, DAY_MS } from "../../../rules/model/time-text.ts";

/**
 * Syncs that one answer looks at: some seconds of work for a function, whether it finds another
 * controller in them or none.
 */
const SYNCS_MAX = 3_000;
/**
 * The longest window of an HPA: so long after its creation the windows of an autoscaler may not
 * reach as far back as the windows of the other controller, and the windows of an object that was
 * made anew not as far as its own.
 */
const WINDOWS_FULL_MS = 3_600_000;

/**
 * Compares an autoscaler with the controller beside it, from the journal. The default is the last
 * day. A long time is compared in parts: `next` says where to go on (join-shadow.ts). Throws
 * `service.invalid` for a start in the future, or after the end.
 */
export const shadow = async (
  context: QueryContext,
  { sinceMs, untilMs, ...query }: ShadowQuery,
): Promise<ShadowView> => {
  const nowMs = context.clock();
  refuseEmptyRange(`compare "${query.name}"`, { sinceMs, untilMs }, nowMs);
  const toMs = Math.min(untilMs ?? nowMs, nowMs);
  const fromMs = Math.min(sinceMs ?? nowMs - DAY_MS, toMs);
  const located = await findAutoscaler(context, query);
  const { cluster, namespace, name, uid, createdMs } = located.record;
  const firstMs = Math.max(fromMs, createdMs);
  const endMs = Math.min(toMs, firstMs + SYNCS_MAX * located.cluster.syncPeriodMs);
  const samples = await factsBetween({ context, uid, sampleOf: shadowSample }, located, {
    sinceMs: firstMs,
    untilMs: endMs,
  });
  const part = endMs < toMs ? partOf(samples, firstMs, endMs) : { samples, untilMs: toMs };
  const pace = { periodMs: located.cluster.syncPeriodMs, fullMs: createdMs + WINDOWS_FULL_MS };
  const times = present({
    since: rfc3339(fromMs),
    until: rfc3339(part.untilMs),
    next: timeText(part.nextMs),
  });
  return { cluster, namespace, name, ...times, ...compareShadow(part.samples, part.untilMs, pace) };
};

interface Part {
  readonly samples: readonly ShadowSample[];
  readonly untilMs: number;
  readonly nextMs?: number;
}

/**
 * A part ends where both agreed last, and the next one begins there: so no reaction is cut in two.
 * That sync is the only one of its instant, because it alone is in both parts. Without such a sync
 * a part ends where the reading ended.
 */
const partOf = (samples: readonly ShadowSample[], firstMs: number, endMs: number): Part => {
  const isOnlyOne = ({ atMs }: ShadowSample, at: number): boolean =>
    samples[at - 1]?.atMs !== atMs && samples[at + 1]?.atMs !== atMs;
  const agreed = ({ atMs, own, rival }: ShadowSample): boolean =>
    atMs > firstMs && own !== undefined && own === rival;
  const agreedMs = samples.findLast((sample, at) => agreed(sample) && isOnlyOne(sample, at))?.atMs;
  if (agreedMs === undefined) return { samples, untilMs: endMs, nextMs: endMs + 1 };
  return {
    samples: samples.filter(({ atMs }) => atMs <= agreedMs),
    untilMs: agreedMs,
    nextMs: agreedMs,
  };
};

/** One sync beside another controller. */
export interface ShadowSample {
  readonly atMs: number;
  readonly rivals: readonly Rival[];
  readonly current?: number;
  /** The count that the rules want; absent where they could not decide. */
  readonly own?: number;
  readonly because: Because;
  /** The count that the other controller wants, its last scale and its reason. */
  readonly rival?: number;
  readonly rivalScaledMs?: number;
  readonly rivalBecause?: Because;
}

/** The sample of an evaluation; undefined where no other controller was there. */
export const shadowSample = (
  atMs: number,
  { rivals, failed, from, to, withoutHold, because }: Evaluation,
): ShadowSample | undefined => {
  if (rivals === undefined) return undefined;
  const deciding = rivals.find(({ desiredReplicas }) => desiredReplicas !== undefined);
  const own = failed ? undefined : (withoutHold?.to ?? to ?? from);
  return present({
    ...{ atMs, rivals, because: withoutHold?.because ?? because, current: from, own },
    ...{
      rival: deciding?.desiredReplicas,
      rivalScaledMs: deciding?.lastScaleMs,
      rivalBecause: deciding?.because,
    },
  });
};

/** A longer time without a sync counts as this long: what was wanted in between is not known. */
const GAP_MS = 5 * 60_000;

/** How the syncs of an autoscaler come, and since when its windows are full. */
export interface ShadowPace {
  readonly periodMs: number;
  /** From here on every window of it reaches back as far as its rules look. */
  readonly fullMs: number;
}

type Comparison = Pick<
  ShadowView,
  | "rivals"
  | "syncs"
  | "agreed"
  | "agreedWithinPeriod"
  | "undecided"
  | "replicaHours"
  | "stretches"
  | "reactions"
>;

/** Compares samples in order of time. Each counts until the next, the last one until `untilMs`. */
export const compareShadow = (
  raw: readonly ShadowSample[],
  untilMs: number,
  pace: ShadowPace,
): Comparison => {
  const samples = classed(raw, pace);
  const decided = samples.filter(({ own, rival }) => own !== undefined && rival !== undefined);
  return {
    rivals: (samples.at(-1)?.rivals ?? []).map(rivalView),
    syncs: decided.length,
    agreed: decided.filter(({ own, rival }) => own === rival).length,
    agreedWithinPeriod: decided.filter(
      ({ difference }) => difference === undefined || difference === "phase",
    ).length,
    undecided: samples.length - decided.length,
    replicaHours: hoursOf(samples, untilMs),
    stretches: stretchesOf(samples, untilMs),
    reactions: reactionsOf(samples),
  };
};

interface Classed extends ShadowSample {
  readonly difference?: ShadowDifference;
}

/**
 * Syncs that are further apart than this many periods are no neighbours: what was wanted in between
 * is not known.
 */
const NEIGHBOUR_PERIODS = 1.5;

const classed = (
  samples: readonly ShadowSample[],
  { periodMs, fullMs }: ShadowPace,
): readonly Classed[] => {
  const isMadeAnew = whileMadeAnew(samples);
  return samples.map((sample, at) => {
    const { own, rival, atMs } = sample;
    if (own === undefined || rival === undefined || own === rival) return sample;
    const near = [samples[at - 1], samples[at + 1]].filter(
      (other) => other && Math.abs(other.atMs - atMs) <= NEIGHBOUR_PERIODS * periodMs,
    );
    const isPhase = near.some((other) => other?.rival === own || other?.own === rival);
    return {
      ...sample,
      difference: isPhase ? "phase" : atMs < fullMs || isMadeAnew(sample) ? "young" : "rule",
    };
  });
};

/**
 * True in the first hour of an object that came in the place of another one, as after a handback:
 * its controller begins with empty windows.
 */
const whileMadeAnew = (samples: readonly ShadowSample[]): ((sample: ShadowSample) => boolean) => {
  const decidingUid = ({ rivals }: ShadowSample) =>
    rivals.find(({ desiredReplicas }) => desiredReplicas !== undefined)?.uid;
  const firstMs = new Map<string | undefined, number>();
  for (const sample of samples) {
    const uid = decidingUid(sample);
    // How long the first one was there is not known.
    if (uid !== undefined && !firstMs.has(uid))
      firstMs.set(uid, firstMs.size === 0 ? Number.NEGATIVE_INFINITY : sample.atMs);
  }
  return (sample) =>
    sample.atMs < (firstMs.get(decidingUid(sample)) ?? Number.NEGATIVE_INFINITY) + WINDOWS_FULL_MS;
};

const hoursOf = (samples: readonly ShadowSample[], untilMs: number): ShadowView["replicaHours"] => {
  let [own, rival] = [0, 0];
  for (const [at, sample] of samples.entries()) {
    // Both counts or none: hours of only one could not be compared.
    if (sample.own === undefined || sample.rival === undefined) continue;
    const lastsMs = Math.min(GAP_MS, Math.max(0, (samples[at + 1]?.atMs ?? untilMs) - sample.atMs));
    own += (sample.own * lastsMs) / HOUR_MS;
    rival += (sample.rival * lastsMs) / HOUR_MS;
  }
  return { own: rounded(own), rival: rounded(rival) };
};

const rounded = (hours: number): number => Math.round(hours * 1_000) / 1_000;

/** Equal samples in a row, without a gap. */
const stretchesOf = (samples: readonly Classed[], untilMs: number): readonly ShadowStretch[] => {
  const runs: Classed[][] = [];
  for (const sample of samples) {
    const run = runs.at(-1);
    const before = run?.at(-1);
    if (run && before && isSame(before, sample) && sample.atMs - before.atMs <= GAP_MS)
      run.push(sample);
    else runs.push([sample]);
  }
  return runs.flatMap((run, at) => {
    const [first, last] = [run[0], run.at(-1)];
    if (!first || !last) return [];
    return [
      stretchOf(
        first,
        Math.min(runs[at + 1]?.[0]?.atMs ?? untilMs, last.atMs + GAP_MS),
        run.length,
      ),
    ];
  });
};

const isSame = (one: Classed, other: Classed): boolean =>
  one.own === other.own &&
  one.rival === other.rival &&
  one.current === other.current &&
  one.difference === other.difference &&
  one.because.reason === other.because.reason &&
  one.rivalBecause?.reason === other.rivalBecause?.reason;

const stretchOf = (
  { atMs, current, own, rival, difference, because, rivalBecause }: Classed,
  untilMs: number,
  syncs: number,
): ShadowStretch =>
  present({
    ...{ at: rfc3339(atMs), until: rfc3339(untilMs), syncs, current, own, rival, difference },
    ...{ ...because, rivalReason: rivalBecause?.reason, rivalMessage: rivalBecause?.message },
  });

type Decided = ShadowSample & { readonly own: number; readonly rival: number };

interface OpenReaction {
  readonly atMs: number;
  readonly from: number;
  /** True where the first of them went up. */
  readonly up: boolean;
  ownMs?: number;
  rivalMs?: number;
}

/*
 *  own     4 ── 4 ── 6 ── 6
 *  rival   4 ── 4 ── 4 ── 6
 *              ▲    │    └ rival after its last scale
 *              at   └ own
 */

/**
 * How long each took to leave a count on which both agreed, measured from the last sync in which
 * they did: what made them react came after it. The other controller's own time of its last scale
 * is more exact than the sync that saw it.
 */
const reactionsOf = (samples: readonly ShadowSample[]): readonly ShadowReaction[] => {
  const reactions: ShadowReaction[] = [];
  let agreed: Agreed | undefined;
  let open: OpenReaction | undefined;
  for (const sample of samples.filter(isDecided)) {
    open ??= openedBy(agreed, sample);
    if (open) note(open, sample);
    if (sample.own !== sample.rival) continue;
    if (open) reactions.push(reactionOf(open, sample.own));
    open = undefined;
    agreed = { atMs: sample.atMs, count: sample.own };
  }
  return open ? [...reactions, reactionOf(open, undefined)] : reactions;
};

interface Agreed {
  readonly atMs: number;
  readonly count: number;
}

const openedBy = (
  agreed: Agreed | undefined,
  { own, rival }: Decided,
): OpenReaction | undefined => {
  if (!agreed || (own === agreed.count && rival === agreed.count)) return undefined;
  return {
    atMs: agreed.atMs,
    from: agreed.count,
    up: (own === agreed.count ? rival : own) > agreed.count,
  };
};

const isDecided = (sample: ShadowSample): sample is Decided =>
  sample.own !== undefined && sample.rival !== undefined;

/**
 * A step the other way is no reaction to the same load: one that only went that way did not react.
 */
const note = (open: OpenReaction, { own, rival, atMs, rivalScaledMs }: Decided): void => {
  const went = (count: number): boolean => (open.up ? count > open.from : count < open.from);
  if (went(own)) open.ownMs ??= atMs - open.atMs;
  if (!went(rival)) return;
  const scaledMs =
    rivalScaledMs !== undefined && rivalScaledMs > open.atMs && rivalScaledMs <= atMs
      ? rivalScaledMs
      : atMs;
  open.rivalMs ??= scaledMs - open.atMs;
};

const reactionOf = (
  { atMs, from, ownMs, rivalMs }: OpenReaction,
  to: number | undefined,
): ShadowReaction =>
  present({
    at: rfc3339(atMs),
    from,
    to,
    ownSeconds: secondsOf(ownMs),
    rivalSeconds: secondsOf(rivalMs),
  });

const secondsOf = (ms: number | undefined): number | undefined =>
  ms === undefined ? undefined : ms / SECOND_MS;
