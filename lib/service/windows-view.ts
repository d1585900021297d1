import type { ControllerSettings } from "../model/settings.ts";
import type { AutoscalerSpec } from "../model/spec.ts";
import type { HpaSpec, ScalingRules } from "../model/spec-hpa.ts";
import type { NativePolicy, NativeSpec } from "../model/spec-native.ts";
import type { WatermarkSpec } from "../model/spec-watermark.ts";
import type { Memory, RecommendationRun, ScaleChange, Status, Windows } from "../model/windows.ts";
import { timeText } from "./time-text.ts";

export interface WindowsView {
  /** Why nothing is known of them: then the autoscaler stands still, and the rest is empty. */
  readonly problem?: string;
  /** Runs of equal recommendations, oldest first. */
  readonly recommendations: readonly { readonly replicas: number; readonly first: string; readonly last: string }[];
  readonly stabilization: readonly StabilizationView[];
  readonly rates: readonly RateView[];
  /** Windows that any scale closes, for dialects that have them. */
  readonly forbidden?: readonly ForbiddenView[];
}

export interface ForbiddenView {
  readonly direction: Direction;
  readonly windowSeconds: number;
  /** When it opens again; absent while it is open. */
  readonly until?: string;
}

export interface StabilizationView {
  readonly direction: Direction;
  readonly windowSeconds: number;
  /** The recommendation inside the window that holds the count back, and when it leaves; absent while nothing is held. */
  readonly held?: { readonly replicas: number; readonly until: string };
}

export interface RateView {
  readonly direction: Direction;
  readonly type: NativePolicy["type"];
  readonly value: number;
  readonly periodSeconds: number;
  /** Pods added and removed inside the period, by the scale events below. */
  readonly added: number;
  readonly removed: number;
  readonly events: readonly { readonly change: number; readonly at: string; readonly leaves: string; readonly eventId?: string }[];
}

export type Direction = "scaleUp" | "scaleDown";

/** The instant that is looked at. */
export interface Moment {
  readonly settings: ControllerSettings;
  readonly nowMs: number;
  /** Replicas of the workload, when they are known. */
  readonly count?: number;
}

/** What the windows of an autoscaler hold at an instant, and when each part of it ends (hpa.md 2.6, 3.8, 3.9). Times are RFC 3339. */
export const windowsView = (spec: AutoscalerSpec, { memory, status }: Windows, moment: Moment): WindowsView => {
  switch (spec.dialect) {
    case "hpa":
      return hpaView(spec, memory, moment);
    case "watermark":
      return { ...NO_WINDOWS, forbidden: forbidden(watermarkWindows(spec), status, moment.nowMs) };
    case "tidemark":
      return nativeView(spec, { memory, status }, moment);
  }
};

const watermarkWindows = (spec: WatermarkSpec): Forbidden => ({
  scaleUp: spec.upscaleForbiddenWindowSeconds,
  scaleDown: spec.downscaleForbiddenWindowSeconds,
});

/** Seconds a direction is closed for. */
type Forbidden = Readonly<Record<Direction, number>>;

/** One scale of either direction closes both (watermark.md 2.9). */
const forbidden = (windows: Forbidden, { lastScaleMs }: Status, nowMs: number): readonly ForbiddenView[] =>
  (["scaleUp", "scaleDown"] as const).map((direction) => {
    const windowSeconds = windows[direction];
    const endMs = lastScaleMs === undefined ? undefined : lastScaleMs + windowSeconds * 1000;
    return { direction, windowSeconds, ...(endMs !== undefined && endMs > nowMs && { until: timeText(endMs) }) };
  });

const nativeView = (spec: NativeSpec, { memory, status }: Windows, { nowMs, count }: Moment): WindowsView => {
  const runs = inOrder(memory);
  return {
    recommendations: rowsOf(runs),
    stabilization: DIRECTIONS.map((direction) =>
      stabilization({ direction, windowSeconds: spec[direction].stabilizationWindowSeconds }, runs, nowMs, count),
    ),
    rates: DIRECTIONS.flatMap((direction) =>
      policiesOf(spec[direction]).map(({ valueMilli, ...policy }) => rate(direction, { ...policy, value: valueMilli / 1000 }, memory, nowMs)),
    ),
    forbidden: forbidden({ scaleUp: spec.scaleUp.forbiddenAfterEventSeconds, scaleDown: spec.scaleDown.forbiddenAfterEventSeconds }, status, nowMs),
  };
};

const DIRECTIONS = ["scaleUp", "scaleDown"] as const;

/** Places of the list are used again, so that it is not in order of time (hpa.md 3.8). */
const inOrder = ({ recommendations }: Memory): readonly RecommendationRun[] =>
  (recommendations ?? []).toSorted((a, b) => a.lastMs - b.lastMs || a.firstMs - b.firstMs);

const rowsOf = (runs: readonly RecommendationRun[]): WindowsView["recommendations"] =>
  inRows(runs).map((run) => ({ replicas: run.replicas, first: timeText(run.firstMs), last: timeText(run.lastMs) }));

const hpaView = (spec: HpaSpec, memory: Memory, { settings, nowMs, count }: Moment): WindowsView => {
  const runs = inOrder(memory);
  return {
    recommendations: rowsOf(runs),
    stabilization: windowsOf(spec, settings).map((window) => stabilization(window, runs, nowMs, spec.behavior ? count : undefined)),
    rates: (["scaleUp", "scaleDown"] as const).flatMap((direction) =>
      policiesOf(spec.behavior?.[direction]).map((policy) => rate(direction, policy, memory, nowMs)),
    ),
  };
};

/** Runs with nothing else between them are one row for people, however many places of the list they take. */
const inRows = (runs: readonly RecommendationRun[]): readonly RecommendationRun[] =>
  runs.reduce<RecommendationRun[]>((rows, run) => {
    const last = rows.at(-1);
    if (last?.replicas !== run.replicas) rows.push(run);
    else rows[rows.length - 1] = { ...last, firstMs: Math.min(last.firstMs, run.firstMs), lastMs: Math.max(last.lastMs, run.lastMs) };
    return rows;
  }, []);

/** Without behavior only the way down is stabilized, over the cluster's own window (hpa.md 2.6.1). */
const windowsOf = (spec: HpaSpec, settings: ControllerSettings): readonly Window[] => {
  const fallbackSeconds = settings.downscaleStabilizationMs / 1000;
  const { behavior } = spec;
  if (!behavior) return [{ direction: "scaleDown", windowSeconds: fallbackSeconds }];
  return [
    { direction: "scaleUp", windowSeconds: behavior.scaleUp.stabilizationWindowSeconds ?? 0 },
    { direction: "scaleDown", windowSeconds: behavior.scaleDown.stabilizationWindowSeconds ?? fallbackSeconds },
  ];
};

const policiesOf = <Policy>(
  rules: { readonly selectPolicy: ScalingRules["selectPolicy"]; readonly policies: readonly Policy[] } | undefined,
): readonly Policy[] => (rules && rules.selectPolicy !== "Disabled" ? rules.policies : []);

type Window = Pick<StabilizationView, "direction" | "windowSeconds">;

/** With behavior it is the current count that a window holds, so that nothing is held which already is where it was recommended (hpa.md 3.8.3). */
const stabilization = (view: Window, runs: readonly RecommendationRun[], nowMs: number, count: number | undefined): StabilizationView => {
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

/** Changes of both directions count against the limit of either: what was taken away may be added again (hpa.md 3.8.4). */
const rate = (direction: Direction, policy: Policy, memory: Memory, nowMs: number): RateView => {
  const periodMs = policy.periodSeconds * 1000;
  const inside = (changes: readonly ScaleChange[]): readonly ScaleChange[] => changes.filter((change) => change.atMs > nowMs - periodMs);
  const ups = inside(memory.scaleUps);
  const downs = inside(memory.scaleDowns);
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
    added: sum(ups),
    removed: sum(downs),
    events: [...ups.map((change) => view(change, 1)), ...downs.map((change) => view(change, -1))].toSorted((a, b) => a.at.localeCompare(b.at)),
  };
};

const sum = (changes: readonly ScaleChange[]): number => changes.reduce((total, change) => total + change.change, 0);

export const NO_WINDOWS: WindowsView = { recommendations: [], stabilization: [], rates: [] };
