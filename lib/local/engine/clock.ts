import { setTimeout as sleep } from "node:timers/promises";
import type { SavedClock } from "../folder/saved-clock.ts";

/** The time of a run. */
export interface RunClock {
  readonly now: () => number;
  /** Lets time pass until `nextMs`, or until the signal aborts. A real clock may come back earlier, to be asked again. */
  readonly until: (nextMs: number, signal: AbortSignal) => Promise<void>;
  readonly pace: () => Pace;
}

export interface Pace {
  /** Upper bound that was asked for: virtual milliseconds per millisecond of the wall. */
  readonly asked: number;
  /** What was reached over the last seconds. */
  readonly reached: number;
  /** True when the work takes longer than the asked speed leaves for it. */
  readonly behind: boolean;
}

export interface VirtualClockOptions {
  readonly startMs: number;
  readonly speed: number;
  readonly save: (clock: SavedClock) => void;
  readonly wall?: () => number;
}

/** Waiting longer than this is cut into pieces, and the clock saved at each: people in other processes see it flow, and a killed run resumes close by. */
const SLICE_MS = 500;
/** Time lost to slow work is caught up only this far: after a pause of the machine nobody wants to see hours rush by. */
const CATCH_UP_MS = 2_000;

/**
 * A clock of discrete events: it flows only while nothing is being done, up to the next instant at which something happens, and there it stands still until that is
 * done. What is decided therefore does not depend on how long anything took.
 */
export const virtualClock = ({ startMs, speed, save, wall = Date.now }: VirtualClockOptions): RunClock => {
  let anchor: SavedClock & { readonly kind: "virtual" } = { kind: "virtual", nowMs: startMs, wallMs: wall(), speed, untilMs: startMs };
  /** Wall time at which the clock would show its time if nothing had ever taken too long. */
  let idealMs: number | undefined;
  const meter = paceMeter(speed);
  const now = () => Math.min(anchor.untilMs, Math.round(anchor.nowMs + Math.max(0, wall() - anchor.wallMs) * speed));
  const setAnchor = (nowMs: number, untilMs: number) => {
    anchor = { kind: "virtual", nowMs, wallMs: wall(), speed, untilMs };
    save(anchor);
  };
  setAnchor(startMs, startMs);
  return {
    now,
    until: async (nextMs, signal) => {
      const fromMs = anchor.untilMs;
      if (nextMs <= fromMs) return;
      setAnchor(fromMs, nextMs);
      const dueMs = Math.max(idealMs ?? wall(), wall() - CATCH_UP_MS) + (nextMs - fromMs) / speed;
      idealMs = dueMs;
      for (let leftMs = dueMs - wall(); leftMs > 0 && !signal.aborted; leftMs = dueMs - wall()) {
        await pause(Math.min(leftMs, SLICE_MS), signal);
        if (leftMs > SLICE_MS) setAnchor(now(), nextMs);
      }
      // Stopped on the way: the clock stays where it is. Else it stands exactly where something happens, however late the timer came.
      const atMs = signal.aborted ? now() : nextMs;
      setAnchor(atMs, atMs);
      meter.mark(atMs, wall());
    },
    pace: () => meter.pace(),
  };
};

/** How often a run in real time looks whether something is due. SQS delivers no faster. */
const LOOK_MS = 200;

/** The machine's clock, for a run on real clusters. */
export const realClock = (): RunClock => ({
  now: Date.now,
  until: (nextMs, signal) => pause(Math.min(Math.max(0, nextMs - Date.now()), LOOK_MS), signal),
  pace: () => ({ asked: 1, reached: 1, behind: false }),
});

const pause = async (ms: number, signal: AbortSignal): Promise<void> => {
  try {
    await sleep(ms, undefined, { signal });
  } catch (error) {
    if (!signal.aborted) throw error;
  }
};

const METER_SPAN_MS = 5_000;
const BEHIND_BELOW = 0.9;

/** Compares virtual with wall time over a sliding span. */
const paceMeter = (asked: number) => {
  const marks: { readonly virtualMs: number; readonly wallMs: number }[] = [];
  return {
    mark: (virtualMs: number, wallMs: number): void => {
      marks.push({ virtualMs, wallMs });
      while (marks.length > 2 && (marks[1]?.wallMs ?? wallMs) < wallMs - METER_SPAN_MS) marks.shift();
    },
    pace: (): Pace => {
      const [first, last] = [marks[0], marks.at(-1)];
      const wallMs = first && last ? last.wallMs - first.wallMs : 0;
      const reached = first && last && wallMs > 0 ? (last.virtualMs - first.virtualMs) / wallMs : asked;
      return { asked, reached, behind: reached < asked * BEHIND_BELOW };
    },
  };
};
