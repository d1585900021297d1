import { SECOND_MS } from "../../../lib/rules/model/time-text.ts";
import { STALE_PERIODS } from "../../../lib/stack/plan/message.ts";
import { JOURNAL_EVERY_MS } from "../../../lib/stack/sync/keep/store-pages.ts";
import { decidedThen, isThere } from "./decided-then.ts";
import { isSeen } from "./judge-events.ts";
import { isJustRestored } from "./judge-rows.ts";
import { type Judging, type Observation, timeOf } from "./observed.ts";
import { BEHIND_MS } from "./replicas.ts";
import type { Shown, WeekViolation } from "./shown.ts";
import { PERIOD_MS } from "./stage.ts";
import { type Place, pathOf, PLACES } from "./places.ts";
import type { WeekTruth } from "./truth.ts";

type Lines = Extract<Observation, { kind: "sparklines" }>;
type Line = Lines["lines"]["lines"][number];
type Series = Extract<Observation, { kind: "series" }>;

const CLOCKS_MS = 4_000;
const NEVER: Shown = "no reader is shown what was true at no moment since its request";
const DECIDED: Shown = "what one autoscaler is said to have decided, a sync has decided";

/** The last hour drawn small, and the series, are of syncs that were made and not lost. */
export const judgeLines: Judging = (truth) => (seen) => {
  if (seen.kind === "series") return seriesFault(truth, seen);
  if (seen.kind !== "sparklines") return undefined;
  for (const place of PLACES) {
    const line = seen.lines.lines.find((one) => pathOf(one) === pathOf(place));
    const found = line ? lineFault(truth, seen, place, line) : missingFault(truth, seen, place);
    if (found) return found;
  }
  return undefined;
};

const wrong = (place: Place, why: string, invariant: Shown = NEVER): WeekViolation => ({
  invariant,
  message: `"${pathOf(place)}": ${why}`,
});

const missingFault = (truth: WeekTruth, seen: Lines, place: Place): WeekViolation | undefined => {
  const fromMs = Date.parse(seen.lines.since);
  const { must } = decidedThen(truth, place, seen, { fromMs, toMs: seen.askedMs });
  return must.length > 0 && isSeen(truth, place, seen) && isThere(truth, place, seen)
    ? wrong(place, `it has no line, and ${must.length} syncs have decided`, DECIDED)
    : undefined;
};

const lineFault = (
  truth: WeekTruth,
  seen: Lines,
  place: Place,
  { current, load }: Line,
): WeekViolation | undefined => {
  if (isSeen(truth, place, seen) === false)
    return wrong(place, "its line is shown to a tenant who may not see it");
  if (isThere(truth, place, seen) === false && !isJustRestored(truth, seen))
    return wrong(place, "it has a line, and there is none");
  const stepMs = seen.lines.stepSeconds * SECOND_MS;
  for (const [at, count] of current.entries()) {
    const fromMs = Date.parse(seen.lines.since) + at * stepMs;
    const why = stepFault(truth, seen, place, {
      ...{ fromMs, toMs: fromMs + stepMs - 1, count, load: load[at] ?? null },
    });
    if (why !== undefined) return wrong(place, `the step of ${timeOf(fromMs)} ${why}`, DECIDED);
  }
  return undefined;
};

interface ShownStep {
  readonly fromMs: number;
  readonly toMs: number;
  readonly count: number | null;
  readonly load: number | null;
}

const stepFault = (
  truth: WeekTruth,
  seen: Lines,
  place: Place,
  { count, load, ...then }: ShownStep,
): string | undefined => {
  const { may, must } = decidedThen(truth, place, seen, then);
  if (count === null)
    // A step shows its first evaluation, which may have read no count.
    return must.length > 0 && may.every(({ from }) => from !== undefined)
      ? `is empty, and ${must.length} syncs have decided`
      : undefined;
  if (!may.some(({ from }) => from === count))
    return `has ${count} replicas, and ${may.map(({ from }) => from).join(", ")} were decided on`;
  const loads = loadsThen(truth, place, then);
  return load === null || loads.some((one) => isNear(one, load * count))
    ? undefined
    : `has a load of ${load} at ${count}, and it was ${loads.join(", ")}`;
};

/** A load is shown to some digits. */
const isNear = (one: number, other: number): boolean => Math.abs(one - other) < 0.05;

/** A load holds until the next one; at first it is 2. */
const loadsThen = (
  { loads }: WeekTruth,
  place: Place,
  { fromMs, toMs }: { readonly fromMs: number; readonly toMs: number },
): readonly number[] => {
  const all = [{ atMs: 0, load: 2 }, ...(loads.get(pathOf(place)) ?? [])];
  return all.flatMap(({ atMs, load }, at) =>
    atMs <= toMs + CLOCKS_MS &&
    (all[at + 1]?.atMs ?? Number.POSITIVE_INFINITY) >= fromMs - CLOCKS_MS
      ? [load]
      : [],
  );
};

const STALE_MS = STALE_PERIODS * PERIOD_MS + JOURNAL_EVERY_MS;

const seriesFault = (truth: WeekTruth, seen: Series): WeekViolation | undefined => {
  if (isJustRestored(truth, seen)) return undefined;
  for (const place of PLACES) {
    const found = countsFault(truth, seen, place);
    if (found) return found;
  }
  return undefined;
};

const countsFault = (truth: WeekTruth, seen: Series, place: Place): WeekViolation | undefined => {
  const shown = seen.series.find(
    ({ name, labels }) =>
      name === "tidemark_current_replicas" &&
      labels["cluster"] === place.cluster &&
      labels["namespace"] === place.namespace &&
      labels["name"] === place.name,
  );
  const fromMs = seen.askedMs - STALE_MS - 2 * CLOCKS_MS;
  const { may, must } = decidedThen(truth, place, seen, {
    fromMs,
    toMs: seen.answeredMs + CLOCKS_MS,
  });
  if (!shown) {
    const last = must.at(-1);
    const isFresh = last !== undefined && last.nowMs > seen.askedMs - PERIOD_MS;
    return isFresh &&
      last.from !== undefined &&
      isSeen(truth, place, seen) &&
      isThere(truth, place, seen)
      ? wrong(place, `it has no series, and a sync decided at ${timeOf(last.nowMs)}`, DECIDED)
      : undefined;
  }
  if (isSeen(truth, place, seen) === false)
    return wrong(place, "its series are shown to a tenant who may not see it");
  if (may.length === 0)
    return wrong(place, `it is shown with ${shown.value} replicas, and no sync has decided lately`);
  const counts = truth.counts.get(pathOf(place)) ?? [];
  const had = counts.flatMap(({ atMs, replicas }, at) =>
    atMs <= seen.answeredMs + BEHIND_MS &&
    (counts[at + 1]?.atMs ?? Number.POSITIVE_INFINITY) >= fromMs
      ? [replicas]
      : [],
  );
  return had.includes(shown.value)
    ? undefined
    : wrong(place, `it is shown with ${shown.value} replicas, and had ${had.join(", ")}`);
};
