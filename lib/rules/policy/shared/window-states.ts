import type { ControllerSettings } from "../../model/spec-common.ts";
import type { CountedChanges, ScalingRules } from "../../model/spec-hpa.ts";
import type { FlapBudget, NativePolicy } from "../../model/spec-native.ts";
import {
  type Memory,
  newestRunAt,
  type RecommendationRun,
  type ScaleChange,
} from "../../model/windows.ts";
import type { Lasting } from "./steps.ts";
import type { ForbiddenWindows } from "./forbidden.ts";
import { countedEvents, surelyWithin, within } from "./recorded-scales.ts";
import type { StabilizationHold, StabilizationWindows } from "./stabilization.ts";

/**
 * What each window of an autoscaler holds at an instant, and until when. The functions behind it
 * are those by which the steps decide.
 */
export interface WindowStates {
  readonly recommendations: readonly RecommendationRun[];
  readonly stabilization: readonly StabilizationState[];
  readonly rates: readonly RateState[];
  /** Windows that any scale closes; absent for rules without them. */
  readonly forbidden?: readonly ForbiddenState[];
  /** What must last before it counts. */
  readonly timers?: readonly TimerState[];
  readonly flap?: FlapState;
}

/** The instant that is looked at. */
export interface Moment {
  readonly settings: ControllerSettings;
  readonly nowMs: number;
  /** Replicas of the workload, when they are known. */
  readonly count?: number;
}

export type Direction = "scaleUp" | "scaleDown";

export interface StabilizationState {
  readonly direction: Direction;
  readonly windowMs: number;
  /** The recommendation that holds the count back; absent while nothing is held. */
  readonly held?: StabilizationHold;
}

export interface RateState {
  readonly direction: Direction;
  readonly type: NativePolicy["type"];
  readonly value: number;
  readonly periodSeconds: number;
  readonly countedChanges: CountedChanges | undefined;
  /**
   * Scales that count now: a scale in the direction of the limit uses it up, a scale in the other
   * one gives room.
   */
  readonly limiting: readonly CountedChange[];
  readonly giving: readonly CountedChange[];
}

export interface CountedChange extends ScaleChange {
  /** When it leaves the period. */
  readonly leavesMs: number;
}

export interface ForbiddenState {
  readonly direction: Direction;
  readonly windowMs: number;
  /** When it opens again; absent while it is open. */
  readonly untilMs?: number;
}

export interface TimerState {
  /** What is timed: "Scale up sustain". */
  readonly name: string;
  readonly seconds: number;
  /** Absent while there is nothing to time. */
  readonly lasting?: Lasting;
}

export interface FlapState extends FlapBudget {
  /** Reversals inside the period. */
  readonly made: number;
  /**
   * Earliest time at which a scale down, and one up after it, fit, if none is made before; absent
   * while they fit.
   */
  readonly untilMs?: number;
}

const DIRECTION: Readonly<Record<StabilizationHold["direction"], Direction>> = {
  up: "scaleUp",
  down: "scaleDown",
};

/** Lengths of the windows; a direction without a window is left out. */
type Lengths = Partial<StabilizationWindows>;

/**
 * What each window holds of the newest recommendation. A workload whose count is not known is taken
 * to be where it was recommended.
 */
export const stabilizationStates = (
  { upMs, downMs }: Lengths,
  { recommendations }: Memory,
  current: number | undefined,
  held: (
    runs: readonly RecommendationRun[],
    counts: { readonly current: number; readonly count: number },
  ) => StabilizationHold | undefined,
): readonly StabilizationState[] => {
  const runs = recommendations ?? [];
  const newest = runs[newestRunAt(runs)]?.replicas;
  const hold =
    newest === undefined ? undefined : held(runs, { current: current ?? newest, count: newest });
  const stateOf = (
    direction: Direction,
    windowMs: number | undefined,
  ): readonly StabilizationState[] => {
    if (windowMs === undefined) return [];
    return [
      {
        direction,
        windowMs,
        ...(hold && DIRECTION[hold.direction] === direction && { held: hold }),
      },
    ];
  };
  return [...stateOf("scaleUp", upMs), ...stateOf("scaleDown", downMs)];
};

interface Rules {
  readonly selectPolicy: ScalingRules["selectPolicy"];
  readonly countedChanges?: CountedChanges;
  readonly policies: readonly Pick<RateState, "type" | "value" | "periodSeconds">[];
}

/**
 * What counts for each policy: changes of the other direction give room, where they count at all
 * (hpa.md 3.8.4, proposals.md §3). A disabled direction has no rate.
 */
export const rateStates = (
  direction: Direction,
  rules: Rules | undefined,
  memory: Memory,
  nowMs: number,
): readonly RateState[] => {
  if (!rules || rules.selectPolicy === "Disabled") return [];
  const { scaleUps, scaleDowns } = countedEvents(direction, rules.countedChanges, memory);
  const [own, other] = direction === "scaleUp" ? [scaleUps, scaleDowns] : [scaleDowns, scaleUps];
  return rules.policies.map(({ type, value, periodSeconds }) => {
    const periodMs = periodSeconds * 1000;
    return {
      direction,
      type,
      value,
      periodSeconds,
      countedChanges: rules.countedChanges,
      limiting: within(own, periodMs, nowMs).map((change) => ({
        ...change,
        leavesMs: change.atMs + periodMs,
      })),
      giving: surelyWithin(other, periodMs, nowMs).map((change) => ({
        ...change,
        leavesMs: (change.earliestMs ?? change.atMs) + periodMs,
      })),
    };
  });
};

/** One scale of either direction closes both; a window of no length is left out. */
export const forbiddenStates = ({ up, down }: ForbiddenWindows): readonly ForbiddenState[] =>
  [{ direction: "scaleUp", ...up } as const, { direction: "scaleDown", ...down } as const].flatMap(
    ({ untilMs, ...window }) =>
      window.windowMs > 0 ? [{ ...window, ...(untilMs !== undefined && { untilMs }) }] : [],
  );

/** The states of several windows as one. */
export const joinedStates = (parts: readonly Partial<WindowStates>[]): WindowStates => {
  const timers = parts.flatMap((part) => part.timers ?? []);
  return {
    ...Object.assign({}, ...parts),
    recommendations: parts.flatMap(({ recommendations = [] }) => recommendations),
    stabilization: parts.flatMap(({ stabilization = [] }) => stabilization),
    rates: parts.flatMap(({ rates = [] }) => rates),
    timers,
  };
};

/** 0 s means no delay. */
export const timerState = (
  name: string,
  seconds: number,
  lasting: Lasting | undefined,
): readonly TimerState[] => (seconds === 0 ? [] : [{ name, seconds, ...(lasting && { lasting }) }]);
