import { isDeepStrictEqual } from "node:util";
import type { ShadowStretch, ShadowView } from "../../views/over-time.ts";
import type { QueryService, ShadowQuery } from "../service.ts";
import { HOUR_MS } from "../../../rules/model/time-text.ts";

/** The whole comparison of a time, part by part. */
export const wholeShadow = async (
  service: Pick<QueryService, "shadow">,
  query: ShadowQuery,
): Promise<ShadowView> => {
  let whole = await service.shadow(query);
  while (whole.next !== undefined)
    whole = joined(whole, await service.shadow({ ...query, sinceMs: Date.parse(whole.next) }));
  return whole;
};

/*
 *  first    ── 4=4 ── 4≠6 ── 6=6            the sync at the border is in both parts,
 *  second                    6=6 ── 6≠4     so that a reaction after it is measured from it
 */

/**
 * Two parts in a row as one. Where the second begins with the last sync of the first, that sync
 * counts once.
 */
const joined = (first: ShadowView, second: ShadowView): ShadowView => {
  const { next: _next, ...rest } = first;
  const shared = first.until === second.since ? 1 : 0;
  return {
    ...rest,
    until: second.until,
    ...(second.next !== undefined && { next: second.next }),
    rivals: second.stretches.length > 0 ? second.rivals : first.rivals,
    syncs: first.syncs + second.syncs - shared,
    agreed: first.agreed + second.agreed - shared,
    agreedWithinPeriod: first.agreedWithinPeriod + second.agreedWithinPeriod - shared,
    undecided: first.undecided + second.undecided,
    replicaHours: {
      own: sum(first.replicaHours.own, second.replicaHours.own),
      rival: sum(first.replicaHours.rival, second.replicaHours.rival),
    },
    stretches: joinedStretches(first.stretches, second.stretches, shared),
    reactions: [...first.reactions, ...second.reactions],
  };
};

const THOUSANDTHS = 1_000;
const sum = (one: number, other: number): number =>
  Math.round((one + other) * THOUSANDTHS) / THOUSANDTHS;

const joinedStretches = (
  first: readonly ShadowStretch[],
  second: readonly ShadowStretch[],
  shared: 0 | 1,
): readonly ShadowStretch[] => {
  const [last, next] = [first.at(-1), second[0]];
  if (!last || !next || last.until !== next.at || !isSame(last, next)) return [...first, ...second];
  return [
    ...first.slice(0, -1),
    { ...last, until: next.until, syncs: last.syncs + next.syncs - shared },
    ...second.slice(1),
  ];
};

/** The messages may differ within a stretch: it has the messages of its first sync. */
const isSame = (one: ShadowStretch, other: ShadowStretch): boolean =>
  isDeepStrictEqual(known(one), known(other));
const known = ({ current, own, rival, difference, reason, rivalReason }: ShadowStretch) => ({
  current,
  own,
  rival,
  difference,
  reason,
  rivalReason,
});

/**
 * `ready`: a takeover changes nothing that is not said here. `look at`: a person should see why
 * they differ. `too early`: too little was compared.
 */
export const VERDICTS = ["ready", "look at", "too early"] as const;

export interface TakeoverVerdict {
  readonly verdict: (typeof VERDICTS)[number];
  /** Absent where it is ready. */
  readonly why?: string;
}

/**
 * Share of syncs that may differ by a rule: two that measure a moving load at different instants
 * keep different peaks in their windows now and then.
 */
const RULE_SHARE_MAX = 0.01;
const UNDECIDED_SHARE_MAX = 0.05;

/**
 * Whether an autoscaler can be taken over by what a comparison has seen. On doubt, `look at`; below
 * an hour, `too early`.
 */
export const verdictOf = ({
  stretches,
  syncs,
  undecided,
}: Pick<ShadowView, "stretches" | "syncs" | "undecided">): TakeoverVerdict => {
  const byRule = stretches
    .filter(({ difference }) => difference === "rule")
    .reduce((total, stretch) => total + stretch.syncs, 0);
  if (byRule > RULE_SHARE_MAX * syncs)
    return { verdict: "look at", why: `${byRule} of ${syncs} syncs differ by a rule` };
  const bothDecided = ({ own, rival, difference }: ShadowStretch) =>
    own !== undefined && rival !== undefined && difference !== "young";
  // The first syncs after an import often find no metric yet: an hour shows whether that lasts.
  if (undecided > UNDECIDED_SHARE_MAX * (syncs + undecided) && lengthMs(stretches) >= HOUR_MS)
    return {
      verdict: "look at",
      why: `in ${undecided} of ${syncs + undecided} syncs one of them did not decide`,
    };
  if (lengthMs(stretches.filter(bothDecided)) < HOUR_MS)
    return { verdict: "too early", why: "less than an hour was compared" };
  return { verdict: "ready" };
};

const lengthMs = (stretches: readonly ShadowStretch[]): number =>
  stretches.reduce((total, { at, until }) => total + Date.parse(until) - Date.parse(at), 0);
