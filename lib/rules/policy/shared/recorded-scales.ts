import type { Behavior, CountedChanges, ScalingRules } from "../../model/spec-hpa.ts";
import type { Memory, ScaleChange, Status, Windows } from "../../model/windows.ts";
import { addI32 } from "./arithmetic.ts";
import type { ControllerEvent, GaugeWrite, Scale, WriteOutcome } from "../../model/decision.ts";
import type { AutoscalerSpec } from "../../model/spec.ts";
import { type ConditionReport, setCondition, warningEvent } from "./steps.ts";

type Changes = readonly ScaleChange[];

/**
 * True for an event of the last `periodMs`; one exactly that old has left. The outdated mark is not
 * looked at (hpa.md 3.8.4).
 */
const isInside = ({ atMs }: ScaleChange, periodMs: number, nowMs: number): boolean =>
  atMs > nowMs - periodMs;

/**
 * The same for the limits of the other direction: only what surely happened inside the period gives
 * room there.
 */
const isSurelyInside = (
  { atMs, earliestMs = atMs }: ScaleChange,
  periodMs: number,
  nowMs: number,
): boolean => earliestMs > nowMs - periodMs;

/** Pods added (or removed) by the events of the last `periodMs`. */
export const changedWithin = (events: Changes, periodMs: number, nowMs: number): number =>
  events.reduce(
    (sum, event) => (isInside(event, periodMs, nowMs) ? addI32(sum, event.change) : sum),
    0,
  );

export const surelyChangedWithin = (events: Changes, periodMs: number, nowMs: number): number =>
  events.reduce(
    (sum, event) => (isSurelyInside(event, periodMs, nowMs) ? addI32(sum, event.change) : sum),
    0,
  );

/** The events that make up these sums. */
export const within = (events: Changes, periodMs: number, nowMs: number): Changes =>
  events.filter((event) => isInside(event, periodMs, nowMs));

export const surelyWithin = (events: Changes, periodMs: number, nowMs: number): Changes =>
  events.filter((event) => isSurelyInside(event, periodMs, nowMs));

export type Events = Pick<Memory, "scaleUps" | "scaleDowns">;

export interface DecisionTimes {
  /**
   * Read before the cluster was asked. A limit counts what was done until then: nothing leaves a
   * period early.
   */
  readonly nowMs: number;
  /**
   * Read when the last answer had come; `nowMs` where nothing was waited for. A source that is slow
   * to answer must not give room that has expired.
   */
  readonly answeredMs?: number;
}

/** The events that the policies of one direction look at. */
export const countedEvents = (
  direction: "scaleUp" | "scaleDown",
  countedChanges: CountedChanges | undefined,
  events: Events,
): Events => {
  if (countedChanges !== "SameDirection") return events;
  return direction === "scaleUp"
    ? { scaleUps: events.scaleUps, scaleDowns: [] }
    : { scaleUps: [], scaleDowns: events.scaleDowns };
};

/**
 * The count at the beginning of the period, as far as the given events say: what they changed since
 * is taken back. Of the direction that is limited everything counts that may have happened; of the
 * other one, which gives room, only what surely did, and is inside the period still when the
 * answers have come.
 */
export const startForUp = (
  current: number,
  periodMs: number,
  { scaleUps, scaleDowns }: Events,
  times: DecisionTimes,
): number =>
  addI32(
    addI32(current, -changedWithin(scaleUps, periodMs, times.nowMs)),
    surelyChangedWithin(scaleDowns, periodMs, answeredMsOf(times)),
  );

export const startForDown = (
  current: number,
  periodMs: number,
  { scaleUps, scaleDowns }: Events,
  times: DecisionTimes,
): number =>
  addI32(
    addI32(current, -surelyChangedWithin(scaleUps, periodMs, answeredMsOf(times))),
    changedWithin(scaleDowns, periodMs, times.nowMs),
  );

const answeredMsOf = ({ nowMs, answeredMs = nowMs }: DecisionTimes): number => answeredMs;

export interface Change {
  readonly from: number;
  readonly to: number;
  /** See Scale.ruled. */
  readonly ruled?: number | undefined;
  readonly atMs: number;
  /** See ScaleChange. */
  readonly earliestMs?: number | undefined;
  readonly eventId?: string | undefined;
}

/**
 * A change of the count that Tidemark did not make. It limits its own direction from when it was
 * seen, and gives the other one no room, because its time is not known.
 */
export interface OutsideChange extends Change {
  /**
   * True where another controller scales the workload too, or may: it counts as one of the imitated
   * controller's own. A person's change does not, since the controllers record only their own.
   */
  readonly beside: boolean;
}

/** Forbidden windows and cool-downs go by this time, which never moves back. */
export const lastScaledAt = (status: Status, atMs: number): Status => ({
  ...status,
  lastScaleMs: Math.max(status.lastScaleMs ?? atMs, atMs),
});

/**
 * hpa.md 3.9: the event of a change that was, or may have been, made. Nothing is kept without
 * behavior. The same event id twice changes nothing, so that a sync that settles again what its
 * predecessor had settled counts it once.
 */
export const withScaleEvent = (
  memory: Memory,
  behavior: Behavior | undefined,
  change: Change,
): Memory => {
  if (!behavior) return memory;
  return change.to > change.from
    ? { ...memory, scaleUps: stored(memory.scaleUps, behavior.scaleUp, change) }
    : { ...memory, scaleDowns: stored(memory.scaleDowns, behavior.scaleDown, change) };
};

const stored = (
  events: readonly ScaleChange[],
  { policies }: ScalingRules,
  { from, to, atMs, earliestMs, eventId }: Change,
): readonly ScaleChange[] => {
  if (eventId !== undefined && events.some((event) => event.eventId === eventId)) return events;
  const longestMs = Math.max(0, ...policies.map(({ periodSeconds }) => periodSeconds * 1000));
  const marked = events.map((event) =>
    event.atMs < atMs - longestMs && !event.outdated ? { ...event, outdated: true } : event,
  );
  // Beyond 32 bits it wraps, as the controller's own subtraction does.
  const change = to > from ? addI32(to, -from) : addI32(from, -to);
  const fresh: ScaleChange = {
    change,
    atMs,
    ...(earliestMs !== undefined && { earliestMs }),
    ...(eventId !== undefined && { eventId }),
  };
  // The last outdated place is used again, though another direction's longer period may still count
  // what stands there: the controller's own rule.
  const outdatedAt = marked.findLastIndex(({ outdated }) => outdated === true);
  return outdatedAt < 0 ? bounded([...marked, fresh], longestMs) : marked.with(outdatedAt, fresh);
};

/**
 * The syncs of an hour at the shortest sync period, 5 s; an hour is the longest period of a flap
 * budget.
 */
const EVENTS_MAX = 722;
/** Events of the last hour stay as they are, because a flap budget looks at each of them. */
const SINGLE_MS = 3_600_000;
/** Parts of a longer period, when there are more. */
const PARTS = 240;

/**
 * Above `EVENTS_MAX` events, older ones of one part of the period become one event. Where it limits
 * it counts from the youngest time, where it gives room from the earliest (ScaleChange.earliestMs).
 * So the error is on the careful side, and less than a part, which is six minutes of a day.
 */
const bounded = (events: readonly ScaleChange[], periodMs: number): readonly ScaleChange[] => {
  if (events.length <= EVENTS_MAX) return events;
  const inOrder = events.toSorted((one, other) => one.atMs - other.atMs);
  const sinceMs = Math.max(...events.map(({ atMs }) => atMs)) - SINGLE_MS;
  const parts = Map.groupBy(inOrder, ({ atMs }, index) =>
    atMs > sinceMs ? `event ${index}` : Math.floor((atMs * PARTS) / periodMs),
  );
  return [...parts.values()].map((part) => part.reduce(joined));
};

const joined = (older: ScaleChange, younger: ScaleChange): ScaleChange => ({
  ...younger,
  change: addI32(older.change, younger.change),
  earliestMs: Math.min(...[older, younger].map((event) => event.earliestMs ?? event.atMs)),
});

export interface AnsweredWrite {
  readonly decision: Scale;
  readonly outcome: WriteOutcome;
  /** From a clock reading after the answer. */
  readonly atMs: number;
  /** From a clock reading before the write. */
  readonly earliestMs?: number;
  readonly eventId?: string;
}

export interface WriteReport extends AnsweredWrite {
  readonly spec: AutoscalerSpec;
}

/** What to store and to report after the PUT: the decision's own events and series come first. */
export interface Written {
  readonly windows: Windows;
  readonly events: readonly ControllerEvent[];
  readonly gauges?: readonly GaugeWrite[];
}

/**
 * After an answered write, for the HPA controller's rules and the native ones. A write whose
 * outcome is unknown counts as applied: a limit counts what may have happened.
 */
export const afterRescale = (
  { decision, outcome, atMs, earliestMs, eventId }: AnsweredWrite,
  refusal: (error: string) => ConditionReport,
  scaled: (windows: Windows, change: Change) => Windows,
): Written => {
  const { windows, events, from, to, trigger, gauges } = decision;
  const series = gauges && { gauges };
  if (outcome.kind === "refused") {
    const conditions = setCondition(windows.status.conditions, refusal(outcome.message), atMs);
    const event = warningEvent(
      "FailedRescale",
      `New size: ${to}; reason: ${trigger}; error: ${outcome.message}`,
    );
    return {
      windows: { ...windows, status: { ...windows.status, conditions } },
      events: [...events, event],
      ...series,
    };
  }
  const event = {
    type: "Normal",
    reason: "SuccessfulRescale",
    message: `New size: ${to}; reason: ${trigger}`,
  } as const;
  return {
    windows: scaled(windows, { from, to, atMs, earliestMs, eventId }),
    events: [...events, event],
    ...series,
  };
};
