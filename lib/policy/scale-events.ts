import type { Behavior, ScalingRules } from "../model/spec-hpa.ts";
import type { Memory, ScaleChange } from "../model/windows.ts";
import { addI32 } from "./arithmetic.ts";

/** Pods added (or removed) by the events of the last `periodMs`; an event exactly that old has left. The outdated mark is not looked at (hpa.md 3.8.4). */
export const changedWithin = (events: readonly ScaleChange[], periodMs: number, nowMs: number): number =>
  events.reduce((sum, { change, atMs }) => (atMs > nowMs - periodMs ? addI32(sum, change) : sum), 0);

/** The same for the limits of the other direction: only what surely happened inside the period gives room there. */
export const surelyChangedWithin = (events: readonly ScaleChange[], periodMs: number, nowMs: number): number =>
  events.reduce((sum, { change, atMs, earliestMs = atMs }) => (earliestMs > nowMs - periodMs ? addI32(sum, change) : sum), 0);

export interface Change {
  readonly from: number;
  readonly to: number;
  readonly atMs: number;
  /** See ScaleChange. */
  readonly earliestMs?: number | undefined;
  readonly eventId?: string | undefined;
}

/**
 * hpa.md 3.9: the event of a change that was, or may have been, made. Nothing is kept without behavior. The same event id twice changes nothing, so that a sync that
 * settles again what its predecessor had settled counts it once.
 */
export const withScaleEvent = (memory: Memory, behavior: Behavior | undefined, change: Change): Memory => {
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
  const marked = events.map((event) => (event.atMs < atMs - longestMs && !event.outdated ? { ...event, outdated: true } : event));
  const change = Math.abs(to - from);
  const fresh: ScaleChange = { change, atMs, ...(earliestMs !== undefined && { earliestMs }), ...(eventId !== undefined && { eventId }) };
  // The last outdated place is used again, though another direction's longer period may still count what stands there: the controller's own rule.
  const place = marked.findLastIndex(({ outdated }) => outdated === true);
  return place < 0 ? [...marked, fresh] : marked.with(place, fresh);
};
