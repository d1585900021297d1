import type { CountedChanges, ScalingRules } from "../../model/spec-hpa.ts";
import { type Memory, newestRunAt, type RecommendationRun, type ScaleChange, type Status } from "../../model/windows.ts";
import { countedEvents, type Events, surelyWithin, within } from "../../policy/shared/scale-events.ts";
import type { Held } from "../../policy/shared/stabilization.ts";
import { timeText } from "../views/time-text.ts";
import type { Direction, ForbiddenView, RateView, StabilizationView, WindowsView } from "../views/windows.ts";

/** Places of the list are used again, so that it is not in order of time (hpa.md 3.8). */
export const inOrder = ({ recommendations }: Memory): readonly RecommendationRun[] =>
  (recommendations ?? []).toSorted((a, b) => a.lastMs - b.lastMs || a.firstMs - b.firstMs);

export const rowsOf = (runs: readonly RecommendationRun[]): WindowsView["recommendations"] =>
  inRows(runs).map((run) => ({ replicas: run.replicas, first: timeText(run.firstMs), last: timeText(run.lastMs) }));

/** Runs with nothing else between them are one row for people, however many places of the list they take. */
const inRows = (runs: readonly RecommendationRun[]): readonly RecommendationRun[] =>
  runs.reduce<RecommendationRun[]>((rows, run) => {
    const last = rows.at(-1);
    if (last?.replicas !== run.replicas) rows.push(run);
    else rows[rows.length - 1] = { ...last, firstMs: Math.min(last.firstMs, run.firstMs), lastMs: Math.max(last.lastMs, run.lastMs) };
    return rows;
  }, []);

export const policiesOf = <Policy>(
  rules: { readonly selectPolicy: ScalingRules["selectPolicy"]; readonly policies: readonly Policy[] } | undefined,
): readonly Policy[] => (rules && rules.selectPolicy !== "Disabled" ? rules.policies : []);

/** The windows of a dialect in seconds, and what they make of a count: the function of the policy that decides. */
export interface Stabilization {
  readonly windows: readonly Pick<StabilizationView, "direction" | "windowSeconds">[];
  readonly held: (counts: { readonly current: number; readonly count: number }) => Held | undefined;
}

const DIRECTION: Readonly<Record<Held["direction"], Direction>> = { up: "scaleUp", down: "scaleDown" };

/** What each window holds of the newest recommendation. A workload whose count is not known is taken to be where it was recommended. */
export const stabilization = (
  { windows, held }: Stabilization,
  runs: readonly RecommendationRun[],
  current?: number,
): readonly StabilizationView[] => {
  const newest = runs[newestRunAt(runs)]?.replicas;
  const hold = newest === undefined ? undefined : held({ current: current ?? newest, count: newest });
  return windows.map((window) =>
    hold && DIRECTION[hold.direction] === window.direction ? { ...window, held: { replicas: hold.replicas, until: timeText(hold.untilMs) } } : window,
  );
};

type Policy = Pick<RateView, "type" | "value" | "periodSeconds">;

/** The changes that count for the limit: those of the other direction give room, where they count at all (hpa.md 3.8.4, proposals.md §3). */
export const rate = (direction: Direction, policy: Policy, counted: CountedChanges | undefined, memory: Events, nowMs: number): RateView => {
  const periodMs = policy.periodSeconds * 1000;
  const up = direction === "scaleUp";
  const { scaleUps, scaleDowns } = countedEvents(direction, counted, memory);
  // What limits counts as soon as it may have happened, what gives room only when it surely did.
  const added = inside(scaleUps, up, periodMs, nowMs);
  const removed = inside(scaleDowns, !up, periodMs, nowMs);
  return {
    direction,
    type: policy.type,
    value: policy.value,
    periodSeconds: policy.periodSeconds,
    ...(counted === "SameDirection" && { countedChanges: counted }),
    added: sum(added),
    removed: sum(removed),
    events: [...added.map((change) => eventOf(change, 1)), ...removed.map((change) => eventOf(change, -1))].toSorted((a, b) =>
      a.at.localeCompare(b.at),
    ),
  };
};

interface Inside extends ScaleChange {
  readonly leavesMs: number;
}

const inside = (changes: readonly ScaleChange[], limits: boolean, periodMs: number, nowMs: number): readonly Inside[] =>
  (limits ? within : surelyWithin)(changes, periodMs, nowMs).map((change) => ({
    ...change,
    leavesMs: (limits ? change.atMs : (change.earliestMs ?? change.atMs)) + periodMs,
  }));

const eventOf = ({ change, atMs, leavesMs, eventId }: Inside, sign: 1 | -1): RateView["events"][number] => ({
  change: sign * change,
  at: timeText(atMs),
  leaves: timeText(leavesMs),
  ...(eventId === undefined ? {} : { eventId }),
});

const sum = (changes: readonly ScaleChange[]): number => changes.reduce((total, change) => total + change.change, 0);

/** Seconds that a direction is closed for. */
export type Forbidden = Readonly<Record<Direction, number>>;

/** Until when a window is closed, by the dialect's own rule for its end. */
type ClosedUntil = (lastScaleMs: number | undefined, windowMs: number, nowMs: number) => number | undefined;

/** One scale of either direction closes both (watermark.md 2.9); a window of no length is none. */
export const forbidden = (windows: Forbidden, { lastScaleMs }: Status, nowMs: number, closedUntil: ClosedUntil): readonly ForbiddenView[] =>
  (["scaleUp", "scaleDown"] as const)
    .filter((direction) => windows[direction] > 0)
    .map((direction) => {
      const windowSeconds = windows[direction];
      const endMs = closedUntil(lastScaleMs, windowSeconds * 1000, nowMs);
      return { direction, windowSeconds, ...(endMs !== undefined && { until: timeText(endMs) }) };
    });
