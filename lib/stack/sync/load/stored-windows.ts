import { isDeepStrictEqual } from "node:util";
import { epochOfIntent } from "../../../rules/model/ids.ts";
import type { KnownRivals } from "../../../rules/model/observation.ts";
import {
  type Condition,
  extendedTo,
  type KeptAnswer,
  newestRunAt,
  type RecommendationRun,
  type ScaleChange,
  type Windows,
} from "../../../rules/model/windows.ts";
import type {
  ScaleTotals,
  StoredWindows,
  UncountedScale,
} from "../../../rules/model/scale-records.ts";

/** The run of the latest recommendation. */
export const newestRun = ({ memory }: Windows): RecommendationRun | undefined => {
  const runs = memory.recommendations ?? [];
  return runs[newestRunAt(runs)];
};

/** Windows at the start of a sync: an open run reaches to the last completed sync. */
export const windowsNow = ({ windows, open }: StoredWindows, evaluatedMs: number): Windows => {
  const { recommendations } = windows.memory;
  if (!open || !recommendations) return windows;
  return {
    ...windows,
    memory: { ...windows.memory, recommendations: extendedTo(recommendations, evaluatedMs) },
  };
};

/** True when the newest run reaches to this sync. It stays open until a sync does not extend it. */
export const isOpenAt = (windows: Windows, nowMs: number): boolean =>
  newestRun(windows)?.lastMs === nowMs;

type Counted = Pick<UncountedScale, "id" | "from" | "to" | "outcome">;

/*
 *  page: 5 added, epoch 7 ── release ✗ (died) ─ ─ ─ claim 8 ── settles scale :7 again ── page: still 5 added
 */

/**
 * Totals with a scale whose event is stored. Counting the same scale again changes nothing. Scales
 * of one autoscaler come in the order of their epochs.
 */
export const withCounted = (
  totals: ScaleTotals | undefined,
  { id, from, to, outcome }: Counted,
): ScaleTotals | undefined => {
  const epoch = epochOfIntent(id);
  if (outcome === "refused" || from === to || (totals && epoch <= totals.epoch)) return totals;
  const { ups, added, downs, removed } = totals ?? { ups: 0, added: 0, downs: 0, removed: 0 };
  return to > from
    ? { ups: ups + 1, added: added + to - from, downs, removed, epoch }
    : { ups, added, downs: downs + 1, removed: removed + from - to, epoch };
};

/**
 * True when the page need not be written for this autoscaler: either nothing but the end of its
 * open run changed, which the head stores, or nothing changed while its run is closed. Metric
 * values and the observed count are not compared: the journal has them, and the page keeps the
 * values of its last write.
 */
export const needsNoWrite = (
  { open, windows: stored, rivals, totals, seen, outside }: StoredWindows,
  {
    open: isOpen,
    windows: after,
    rivals: rivalsAfter,
    totals: totalsAfter,
    seen: seenAfter,
    outside: outsideAfter,
  }: StoredWindows,
): boolean =>
  open === isOpen &&
  seen?.replicas === seenAfter?.replicas &&
  seen?.of === seenAfter?.of &&
  seen?.sinceMs === seenAfter?.sinceMs &&
  sameKnown(rivals, rivalsAfter) &&
  totals?.epoch === totalsAfter?.epoch &&
  outside?.lastMs === outsideAfter?.lastMs &&
  sameRuns(stored.memory.recommendations, after.memory.recommendations, open) &&
  same(stored.memory.scaleUps, after.memory.scaleUps, sameChange) &&
  same(stored.memory.scaleDowns, after.memory.scaleDowns, sameChange) &&
  stored.memory.selector === after.memory.selector &&
  same(stored.memory.answers ?? [], after.memory.answers ?? [], sameAnswer) &&
  same(stored.status.conditions, after.status.conditions, sameCondition) &&
  stored.status.desiredReplicas === after.status.desiredReplicas &&
  stored.status.lastScaleMs === after.status.lastScaleMs;

const sameKnown = (one: KnownRivals | undefined, other: KnownRivals | undefined): boolean =>
  one === other || isDeepStrictEqual(one, other);

const same = <Item>(
  some: readonly Item[],
  others: readonly Item[],
  isSame: (one: Item, other: Item | undefined) => boolean,
): boolean =>
  some === others ||
  (some.length === others.length && some.every((one, at) => isSame(one, others[at])));

type Runs = readonly RecommendationRun[] | null;

/**
 * Compares all of a list but the end of an open newest run. `null` (none was ever recorded) differs
 * from an empty list.
 */
const sameRuns = (some: Runs, others: Runs, open: boolean): boolean => {
  if (some === null || others === null) return some === others;
  const newest = open ? newestRunAt(some) : -1;
  if (open && newestRunAt(others) !== newest) return false;
  return (
    some.length === others.length &&
    some.every((one, at) => sameRun(one, others[at], at !== newest))
  );
};

const sameRun = (
  one: RecommendationRun,
  other: RecommendationRun | undefined,
  withEnd: boolean,
): boolean =>
  one.replicas === other?.replicas &&
  one.firstMs === other.firstMs &&
  (!withEnd || one.lastMs === other.lastMs) &&
  one.stepMs === other.stepMs &&
  one.windowMs === other.windowMs;

const sameChange = (one: ScaleChange, other: ScaleChange | undefined): boolean =>
  one.change === other?.change &&
  one.atMs === other.atMs &&
  one.earliestMs === other.earliestMs &&
  one.outdated === other.outdated &&
  one.eventId === other.eventId;

/** An answer that is not stored would be asked for again in each sync, and paid for. */
const sameAnswer = (one: KeptAnswer, other: KeptAnswer | undefined): boolean =>
  one.id === other?.id &&
  one.askedMs === other.askedMs &&
  one.milli === other.milli &&
  one.sampleMs === other.sampleMs;

/**
 * The watermark rules set these conditions again in every sync, as the original controller does.
 * Their transition time is the time of the sync, and no decision reads it (watermark.md 2.3).
 * Storing it would cost a page and a journal page in each sync; the journal has it.
 */
const SET_ANEW: ReadonlySet<string> = new Set(["ScalingActive", "AbleToScale"]);

const sameCondition = (one: Condition, other: Condition | undefined): boolean =>
  one.type === other?.type &&
  one.status === other.status &&
  one.reason === other.reason &&
  one.message === other.message &&
  (one.transitionMs === other.transitionMs || SET_ANEW.has(one.type));
