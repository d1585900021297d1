import type { AutoscalerRef } from "../../../rules/model/ids.ts";
import { NEW_WINDOWS, type Windows, type RecommendationRun } from "../../../rules/model/windows.ts";
import { askDialect, windowStates } from "../../../rules/policy/dialects.ts";
import { eventsOfAutoscaler } from "../../../stack/store/history/events.ts";
import type { Description } from "../../views/autoscaler.ts";
import type {
  WindowsView,
  FlapView,
  ForbiddenView,
  RateView,
  StabilizationView,
  TimerView,
} from "../../views/windows.ts";
import { loadSnapshot } from "../autoscalers.ts";
import type { QueryContext } from "../context.ts";
import { findAutoscaler } from "../find-autoscaler.ts";
import type { AutoscalerQuery } from "../service.ts";
import type { AutoscalerSnapshot } from "../partitions/partition-data.ts";
import { autoscalerView } from "../views/autoscaler-view.ts";
import { eventView } from "../views/event-view.ts";
import type { EventRecord } from "../../../rules/model/scale-records.ts";
import type { AutoscalerSpec } from "../../../rules/model/spec.ts";
import { pausedUntil } from "../../../rules/policy/override.ts";
import type {
  CountedChange,
  FlapState,
  ForbiddenState,
  Moment,
  RateState,
  StabilizationState,
  TimerState,
} from "../../../rules/policy/shared/window-states.ts";
import { rfc3339, timeText } from "../times.ts";
import { present } from "../../../rules/model/json.ts";

/** Number of newest scale events in a description. */
const SHOWN_EVENTS = 10;

/**
 * Describes one autoscaler. It reads the head, the windows page and the newest journal page once
 * each.
 */
export const describe = async (
  context: QueryContext,
  query: AutoscalerQuery,
): Promise<Description> => {
  const snapshot = await findAutoscaler(context, query);
  const [all, newest] = await Promise.all([
    loadSnapshot(context, snapshot),
    newestEvents(context, snapshot.record),
  ]);
  const view = autoscalerView(all);
  return {
    ...view,
    ...behaviorOf(all.spec),
    windows: windowsAt(all, all.nowMs, view.currentReplicas),
    events: newest.map(eventView).toReversed(),
  };
};

const behaviorOf = (spec: AutoscalerSnapshot["spec"]): Pick<Description, "behavior"> =>
  present({
    behavior:
      spec.kind === "spec"
        ? askDialect(spec.spec, ({ explains }, own) => explains.behavior(own))
        : undefined,
  });

/**
 * The windows of an autoscaler at an instant, when its workload had `count` replicas; empty when
 * the manifest cannot be read.
 */
export const windowsAt = (
  { spec, windows, windowsProblem, cluster, evaluated }: AutoscalerSnapshot,
  atMs: number,
  count: number | undefined,
): WindowsView => {
  if (windowsProblem !== undefined) return { ...NO_WINDOWS, problem: windowsProblem };
  if (spec.kind !== "spec") return NO_WINDOWS;
  const stored = upTo(windows ?? NEW_WINDOWS, atMs);
  // The journal has the conditions of that instant; the page has the conditions of the newest sync.
  const conditions = evaluated?.evaluation.status?.conditions ?? stored.status.conditions;
  return windowsView(
    spec.spec,
    { ...stored, status: { ...stored.status, conditions } },
    present({ settings: cluster.settings, nowMs: atMs, count }),
  );
};

/**
 * Windows without anything later than an instant. Entries that have left every window since then
 * are missing.
 */
const upTo = (
  { memory: { recommendations, scaleUps, scaleDowns }, status }: Windows,
  atMs: number,
): Windows => {
  const { lastScaleMs, ...rest } = status;
  return {
    memory: {
      recommendations:
        recommendations
          ?.filter((run) => run.firstMs <= atMs)
          .map((run) => ({ ...run, lastMs: Math.min(run.lastMs, atMs) })) ?? null,
      scaleUps: scaleUps.filter((change) => change.atMs <= atMs),
      scaleDowns: scaleDowns.filter((change) => change.atMs <= atMs),
    },
    status: { ...rest, ...(lastScaleMs !== undefined && lastScaleMs <= atMs && { lastScaleMs }) },
  };
};

const newestEvents = async (
  context: QueryContext,
  ref: AutoscalerRef,
): Promise<readonly EventRecord[]> => {
  const newest: EventRecord[] = [];
  const stretch = {
    sinceMs: 0,
    untilMs: context.clock(),
    newestFirst: true,
    pageSize: SHOWN_EVENTS,
  };
  for await (const event of eventsOfAutoscaler(context.tables, ref, stretch))
    if (newest.push(event) === SHOWN_EVENTS) break;
  return newest;
};

/** Windows of which nothing is known, or that hold nothing. */
export const NO_WINDOWS: WindowsView = { recommendations: [], stabilization: [], rates: [] };

/**
 * What the windows of an autoscaler hold at an instant, and when each part of it ends, as its
 * dialect says. Times are RFC 3339.
 */
export const windowsView = (
  spec: AutoscalerSpec,
  windows: Windows,
  moment: Moment,
): WindowsView => {
  const { recommendations, stabilization, rates, forbidden, timers, flap } = windowStates(
    spec,
    windows,
    moment,
  );
  const paused = pausedUntil(spec, moment.nowMs);
  return present({
    ...{
      recommendations: rowsOf(recommendations),
      stabilization: stabilization.map(stabilizationView),
      rates: rates.map(rateView),
    },
    ...{
      forbidden: forbidden?.map(forbiddenView),
      timers: timers?.map(timerView),
      flap: flap && flapView(flap),
      pausedUntil: timeText(paused),
    },
  });
};

/**
 * Runs in order of time, because slots of the list are used again (hpa.md 3.8). Recommendations of
 * consecutive syncs are one row. A used slot keeps a recommendation that may be hours old: it is a
 * row of its own, so that no row covers a time in which nothing was recommended.
 */
const rowsOf = (runs: readonly RecommendationRun[]): WindowsView["recommendations"] => {
  const spacing = spacingMs(runs);
  const rows: RecommendationRun[] = [];
  for (const run of runs
    .flatMap((one) => apart(one, spacing))
    .toSorted((a, b) => a.lastMs - b.lastMs || a.firstMs - b.firstMs)) {
    const last = rows.at(-1);
    if (last?.replicas !== run.replicas || run.firstMs - last.lastMs > 2 * spacing) rows.push(run);
    else
      rows[rows.length - 1] = {
        ...last,
        firstMs: Math.min(last.firstMs, run.firstMs),
        lastMs: Math.max(last.lastMs, run.lastMs),
      };
  }
  return rows.map(({ replicas, firstMs, lastMs }) => ({
    replicas,
    first: rfc3339(firstMs),
    last: rfc3339(lastMs),
  }));
};

/** The shortest time between two recommendations: about the sync period. */
const spacingMs = (runs: readonly RecommendationRun[]): number => {
  const byTime = runs.toSorted((a, b) => a.firstMs - b.firstMs);
  const gaps = byTime.flatMap(({ firstMs, stepMs }, at) => [
    firstMs - (byTime[at - 1]?.lastMs ?? Number.NEGATIVE_INFINITY),
    stepMs ?? 0,
  ]);
  return Math.min(...gaps.filter((gapMs) => gapMs > 0));
};

/**
 * The recommendations of a run, each for itself where they are too far apart for consecutive syncs.
 */
const apart = (run: RecommendationRun, spacing: number): readonly RecommendationRun[] => {
  const { replicas, firstMs, lastMs, stepMs = 0 } = run;
  if (stepMs <= 2 * spacing) return [run];
  return Array.from({ length: Math.round((lastMs - firstMs) / stepMs) + 1 }, (_, nth) => {
    const atMs = firstMs + nth * stepMs;
    return { replicas, firstMs: atMs, lastMs: atMs };
  });
};

const stabilizationView = ({
  direction,
  windowMs,
  held,
}: StabilizationState): StabilizationView => ({
  direction,
  windowSeconds: windowMs / 1000,
  ...(held && { held: { replicas: held.replicas, until: rfc3339(held.untilMs) } }),
});

const rateView = ({
  direction,
  type,
  value,
  periodSeconds,
  countedChanges,
  limiting,
  giving,
}: RateState): RateView => {
  const [added, removed] = direction === "scaleUp" ? [limiting, giving] : [giving, limiting];
  const events = [
    ...added.map((change) => eventOf(change, 1)),
    ...removed.map((change) => eventOf(change, -1)),
  ];
  return present({
    ...{
      direction,
      type,
      value,
      periodSeconds,
      countedChanges: countedChanges === "SameDirection" ? countedChanges : undefined,
    },
    ...{
      added: sum(added),
      removed: sum(removed),
      events: events.toSorted((a, b) => a.at.localeCompare(b.at)),
    },
  });
};

const eventOf = (
  { change, atMs, leavesMs, eventId }: CountedChange,
  sign: 1 | -1,
): RateView["events"][number] =>
  present({ change: sign * change, at: rfc3339(atMs), leaves: rfc3339(leavesMs), eventId });

const sum = (changes: readonly CountedChange[]): number =>
  changes.reduce((total, { change }) => total + change, 0);

const forbiddenView = ({ direction, windowMs, untilMs }: ForbiddenState): ForbiddenView =>
  present({ direction, windowSeconds: windowMs / 1000, until: timeText(untilMs) });

const timerView = ({ name, seconds, lasting }: TimerState): TimerView => ({
  name,
  seconds,
  ...(lasting && { since: rfc3339(lasting.sinceMs), until: rfc3339(lasting.untilMs) }),
});

const flapView = ({ untilMs, ...flap }: FlapState): FlapView =>
  present({ ...flap, until: timeText(untilMs) });
