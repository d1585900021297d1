import { rfc3339 } from "../views/rfc3339.ts";
import type { ShadowReaction } from "../views/shadow-view.ts";
import type { ShadowSample } from "./shadow-sample.ts";

const SECOND_MS = 1_000;

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
 * How long each took to leave a count on which both agreed, measured from the last sync in which they did: what made them react came after it. The other controller's own time of its
 * last scale is more exact than the sync that saw it.
 */
export const reactionsOf = (samples: readonly ShadowSample[]): readonly ShadowReaction[] => {
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

const openedBy = (agreed: Agreed | undefined, { own, rival }: Decided): OpenReaction | undefined => {
  if (!agreed || (own === agreed.count && rival === agreed.count)) return undefined;
  return { atMs: agreed.atMs, from: agreed.count, up: (own === agreed.count ? rival : own) > agreed.count };
};

const isDecided = (sample: ShadowSample): sample is Decided => sample.own !== undefined && sample.rival !== undefined;

/** A step the other way is no reaction to the same load: one that only went that way did not react. */
const note = (open: OpenReaction, { own, rival, atMs, rivalScaledMs }: Decided): void => {
  const went = (count: number): boolean => (open.up ? count > open.from : count < open.from);
  if (went(own)) open.ownMs ??= atMs - open.atMs;
  if (!went(rival)) return;
  const scaledMs = rivalScaledMs !== undefined && rivalScaledMs > open.atMs && rivalScaledMs <= atMs ? rivalScaledMs : atMs;
  open.rivalMs ??= scaledMs - open.atMs;
};

const reactionOf = ({ atMs, from, ownMs, rivalMs }: OpenReaction, to: number | undefined): ShadowReaction => ({
  at: rfc3339(atMs),
  from,
  ...(to !== undefined && { to }),
  ...(ownMs !== undefined && { ownSeconds: ownMs / SECOND_MS }),
  ...(rivalMs !== undefined && { rivalSeconds: rivalMs / SECOND_MS }),
});
