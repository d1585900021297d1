import { setTimeout as sleep } from "node:timers/promises";
import type { SavedClock } from "../folder/saved-clock.ts";

/** The time of a run. */
export interface RunClock {
  readonly now: () => number;
  /** Waits until `nextMs` or until the signal aborts. A real clock may return earlier; the caller then calls it again. */
  readonly until: (nextMs: number, signal: AbortSignal) => Promise<void>;
  readonly pace: () => Pace;
}

export interface Pace {
  /** The speed of the option `--speed`, an upper bound: virtual milliseconds per millisecond of wall time. */
  readonly wanted: number;
  /** The speed of the last seconds. */
  readonly reached: number;
  /** True when the work takes longer than that speed allows. */
  readonly behind: boolean;
}

export interface VirtualClockOptions {
  readonly startMs: number;
  readonly speed: number;
  readonly save: (clock: SavedClock) => void;
  readonly wall?: () => number;
}

/** A longer wait is divided into pieces of this length, and the clock is saved after each: other processes see the time pass, and a run that was killed resumes close to its end. */
const SLICE_MS = 500;
/** The clock catches up at most this much after slow work, so that a pause of the machine does not end in hours of virtual time at once. */
const CATCH_UP_MS = 2_000;

/**
 * A clock of discrete events. It runs only while no work is under way, up to the instant of the next event, and stands still until the work of that event is done. Decisions
 * therefore do not depend on how long any work takes.
 */
export const virtualClock = ({ startMs, speed, save, wall = Date.now }: VirtualClockOptions): RunClock => {
  let anchor: SavedClock & { readonly kind: "virtual" } = { kind: "virtual", nowMs: startMs, wallMs: wall(), speed, untilMs: startMs };
  /** Wall time at which the clock would show its time if no work had ever been too slow. */
  let idealMs: number | undefined;
  const meter = paceMeter(speed);
  const now = () => Math.min(anchor.untilMs, Math.round(anchor.nowMs + Math.max(0, wall() - anchor.wallMs) * speed));
  const moveAnchor = (nowMs: number, untilMs: number) => {
    anchor = { kind: "virtual", nowMs, wallMs: wall(), speed, untilMs };
  };
  const setAnchor = (nowMs: number, untilMs: number) => {
    moveAnchor(nowMs, untilMs);
    save(anchor);
  };
  /** Returns the wall time of the next instant. A run that is behind does not wait, and saves its time only once it is there: each save is a file that replaces another. */
  const letGo = (fromMs: number, nextMs: number): number => {
    moveAnchor(fromMs, nextMs);
    const dueMs = Math.max(idealMs ?? wall(), wall() - CATCH_UP_MS) + (nextMs - fromMs) / speed;
    idealMs = dueMs;
    if (dueMs > wall()) save(anchor);
    return dueMs;
  };
  setAnchor(startMs, startMs);
  return {
    now,
    until: async (nextMs, signal) => {
      const fromMs = anchor.untilMs;
      if (nextMs <= fromMs) return;
      const dueMs = letGo(fromMs, nextMs);
      for (let leftMs = dueMs - wall(); leftMs > 0 && !signal.aborted; leftMs = dueMs - wall()) {
        await pause(Math.min(leftMs, SLICE_MS), signal);
        if (leftMs > SLICE_MS) setAnchor(now(), nextMs);
      }
      // After an abort the clock stays where it is. Otherwise it stands exactly at the instant of the event, however late the timer fired.
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
  pace: () => ({ wanted: 1, reached: 1, behind: false }),
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

/** Measures virtual time against wall time over a sliding span. */
const paceMeter = (wantedPace: number) => {
  const marks: { readonly virtualMs: number; readonly wallMs: number }[] = [];
  return {
    mark: (virtualMs: number, wallMs: number): void => {
      marks.push({ virtualMs, wallMs });
      while (marks.length > 2 && (marks[1]?.wallMs ?? wallMs) < wallMs - METER_SPAN_MS) marks.shift();
    },
    pace: (): Pace => {
      const [first, last] = [marks[0], marks.at(-1)];
      const wallMs = first && last ? last.wallMs - first.wallMs : 0;
      const reached = first && last && wallMs > 0 ? (last.virtualMs - first.virtualMs) / wallMs : wantedPace;
      return { wanted: wantedPace, reached, behind: reached < wantedPace * BEHIND_BELOW };
    },
  };
};
