import type { CountedChanges, ScalingRules } from "../model/spec-hpa.ts";
import type { Memory, RecommendationRun, ScaleChange, Status } from "../model/windows.ts";
import { countedEvents, type Events } from "../policy/scale-events.ts";
import { timeText } from "./time-text.ts";
import type { Direction, ForbiddenView, RateView, StabilizationView, WindowsView } from "./window-views.ts";

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

type Window = Pick<StabilizationView, "direction" | "windowSeconds">;

/** With behavior it is the current count that a window holds, so that nothing is held which already is where it was recommended (hpa.md 3.8.3). */
export const stabilization = (view: Window, runs: readonly RecommendationRun[], nowMs: number, count: number | undefined): StabilizationView => {
  const { direction, windowSeconds } = view;
  const latest = latestOf(runs);
  if (!latest || (count !== undefined && !beyond(direction, count, latest.replicas))) return view;
  const holding = runs.filter(({ lastMs, replicas }) => lastMs > nowMs - windowSeconds * 1000 && beyond(direction, replicas, latest.replicas));
  const bound = holding.reduce<RecommendationRun | undefined>((worst, run) => (worst && !stronger(direction, run, worst) ? worst : run), undefined);
  return bound ? { ...view, held: { replicas: bound.replicas, until: timeText(bound.lastMs + windowSeconds * 1000) } } : view;
};

/** On the way up a window holds with fewer replicas, on the way down with more. */
const beyond = (direction: Direction, replicas: number, than: number): boolean => (direction === "scaleUp" ? replicas < than : replicas > than);

const stronger = (direction: Direction, run: RecommendationRun, than: RecommendationRun): boolean =>
  run.replicas === than.replicas ? run.lastMs > than.lastMs : beyond(direction, run.replicas, than.replicas);

const latestOf = (runs: readonly RecommendationRun[]): RecommendationRun | undefined =>
  runs.reduce<RecommendationRun | undefined>((latest, run) => (latest && latest.lastMs >= run.lastMs ? latest : run), undefined);

type Policy = Pick<RateView, "type" | "value" | "periodSeconds">;

/** The changes that count for the limit: those of the other direction give room, where they count at all (hpa.md 3.8.4, proposals.md §3). */
export const rate = (direction: Direction, policy: Policy, counted: CountedChanges | undefined, memory: Events, nowMs: number): RateView => {
  const periodMs = policy.periodSeconds * 1000;
  const inside = (changes: readonly ScaleChange[]): readonly ScaleChange[] => changes.filter((change) => change.atMs > nowMs - periodMs);
  const { scaleUps, scaleDowns } = countedEvents(direction, counted, memory);
  const ups = inside(scaleUps);
  const downs = inside(scaleDowns);
  const view = (change: ScaleChange, sign: 1 | -1) => ({
    change: sign * change.change,
    at: timeText(change.atMs),
    leaves: timeText(change.atMs + periodMs),
    ...(change.eventId === undefined ? {} : { eventId: change.eventId }),
  });
  return {
    direction,
    type: policy.type,
    value: policy.value,
    periodSeconds: policy.periodSeconds,
    ...(counted === "SameDirection" && { countedChanges: counted }),
    added: sum(ups),
    removed: sum(downs),
    events: [...ups.map((change) => view(change, 1)), ...downs.map((change) => view(change, -1))].toSorted((a, b) => a.at.localeCompare(b.at)),
  };
};

const sum = (changes: readonly ScaleChange[]): number => changes.reduce((total, change) => total + change.change, 0);

/** Seconds that a direction is closed for. */
export type Forbidden = Readonly<Record<Direction, number>>;

/** One scale of either direction closes both (watermark.md 2.9); a window of no length is none. */
export const forbidden = (windows: Forbidden, { lastScaleMs }: Status, nowMs: number): readonly ForbiddenView[] =>
  (["scaleUp", "scaleDown"] as const)
    .filter((direction) => windows[direction] > 0)
    .map((direction) => {
      const windowSeconds = windows[direction];
      const endMs = lastScaleMs === undefined ? undefined : lastScaleMs + windowSeconds * 1000;
      return { direction, windowSeconds, ...(endMs !== undefined && endMs > nowMs && { until: timeText(endMs) }) };
    });
