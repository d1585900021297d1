import type { HistoryPoint } from "../../../lib/answers/views/over-time.ts";
import { MINUTE_MS } from "../../../lib/rules/model/time-text.ts";
import { JOURNAL_EVERY_MS } from "../../../lib/stack/sync/keep/store-pages.ts";
import { type Judging, timeOf } from "./observed.ts";
import type { Observation } from "./observed.ts";
import type { WeekViolation } from "./shown.ts";
import { BEHIND_MS } from "./replicas.ts";
import type { Evaluated, WeekTruth } from "./truth.ts";

const STEP_MS = 5 * MINUTE_MS;
/** A sync lives for a minute, and by then it has stored what it will store. */
export const SETTLED_MS = 2 * MINUTE_MS;

type History = Extract<Observation, { kind: "history" }>;

const binOf = (ms: number): number => Math.floor(ms / STEP_MS);

/** What a person compares of a step; its time to a second, as it is kept for months. */
const wordsOf = ({ at, current, wanted, desired, min, max, reason }: HistoryPoint): string =>
  JSON.stringify({ at: at.slice(0, 19), current, wanted, desired, min, max, reason });

/**
 * Steps of five minutes have the last decision of each, of the autoscaler that is there now. A step
 * in which a sync has decided is there. What was shown of a step that had ended stays as it was,
 * whether the journal or what is made of six hours of it has answered.
 */
export const judgeHistory: Judging = (truth) => {
  const shownBefore = new Map<string, { readonly words: string; readonly seenMs: number }>();
  return (seen) => {
    if (seen.kind !== "history") return undefined;
    return stepsFault(truth, seen) ?? changedFault(truth, seen, shownBefore);
  };
};

/** By path and step: what completed syncs have decided. */
const bins = new WeakMap<WeekTruth, ReadonlyMap<string, readonly Evaluated[]>>();
const binsOf = (truth: WeekTruth): ReadonlyMap<string, readonly Evaluated[]> => {
  const known =
    bins.get(truth) ?? Map.groupBy(truth.evaluated, ({ path, nowMs }) => `${path} ${binOf(nowMs)}`);
  bins.set(truth, known);
  return known;
};

const stepsFault = (truth: WeekTruth, seen: History): WeekViolation | undefined => {
  const createdMs = createdOf(truth, seen.path, seen.answeredMs);
  const isLost = (atMs: number): boolean =>
    truth.restored.some(
      (one) => atMs > one.thenMs && atMs < one.atMs + SETTLED_MS && seen.answeredMs >= one.atMs,
    );
  const mustBeThere = ({ atMs, nowMs }: Evaluated): boolean =>
    atMs < seen.askedMs - BEHIND_MS && nowMs > createdMs + SETTLED_MS && !isLost(atMs);
  const shown = new Map(seen.history.points.map((point) => [binOf(Date.parse(point.at)), point]));
  for (let bin = binOf(seen.sinceMs); bin < binOf(seen.untilMs); bin++) {
    const decided = binsOf(truth).get(`${seen.path} ${bin}`) ?? [];
    const must = decided.filter(mustBeThere);
    const why = stepFault(shown.get(bin), must, decided.length === must.length);
    if (why !== undefined)
      return fault(`the step of "${seen.path}" at ${timeOf(bin * STEP_MS)} ${why}`);
  }
  return undefined;
};

/** `isAll`: nothing else can have been shown. */
const stepFault = (
  point: HistoryPoint | undefined,
  must: readonly Evaluated[],
  isAll: boolean,
): string | undefined => {
  const last = must.at(-1);
  if (!last) return undefined;
  if (!point) return `is missing, and ${must.length} syncs have decided then`;
  if (!isAll) return undefined;
  const atMs = Date.parse(point.at);
  // What has not changed is kept once a minute.
  if (atMs < last.nowMs - JOURNAL_EVERY_MS - 1_000)
    return `ends with ${point.at}, and the last decision was at ${timeOf(last.nowMs)}`;
  const own = must.find(({ nowMs }) => Math.abs(atMs - nowMs) < 1_000);
  return own && point.current !== own.from
    ? `has ${point.current} replicas, and a sync has seen ${own.from}`
    : undefined;
};

const fault = (message: string): WeekViolation => ({
  invariant: "every step of a history is what a sync has decided",
  message,
});

/** Another autoscaler of the name has another history. */
export const createdOf = ({ edits }: WeekTruth, path: string, answeredMs: number): number =>
  edits
    .filter((edit) => edit.path === path && edit.verb === "delete" && edit.begunMs <= answeredMs)
    .reduce((last, { doneMs }) => {
      const created = edits.find(
        (edit) => edit.path === path && edit.verb === "apply" && edit.begunMs >= doneMs,
      );
      return Math.max(last, created?.doneMs ?? doneMs);
    }, 0);

const changedFault = (
  truth: WeekTruth,
  seen: History,
  before: Map<string, { readonly words: string; readonly seenMs: number }>,
): WeekViolation | undefined => {
  for (const point of seen.history.points) {
    const endMs = (binOf(Date.parse(point.at)) + 1) * STEP_MS;
    const key = `${seen.path} ${seen.history.uid} ${binOf(Date.parse(point.at))}`;
    const known = before.get(key);
    const words = wordsOf(point);
    const wentBack = truth.restored.some(
      ({ thenMs, atMs }) =>
        endMs + SETTLED_MS > thenMs && (known?.seenMs ?? 0) < atMs + BEHIND_MS + SETTLED_MS,
    );
    if (known && known.words !== words && !wentBack)
      return {
        invariant: "what was shown once is shown until it expires",
        message: `a step of "${seen.path}" was shown at ${timeOf(known.seenMs)} as ${known.words}, and is now ${words}`,
      };
    if (!known && endMs + SETTLED_MS < seen.askedMs)
      before.set(key, { words, seenMs: seen.answeredMs });
  }
  return undefined;
};
