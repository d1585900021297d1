import { setTimeout as sleep } from "node:timers/promises";
import type { FolderLayout } from "../layout.ts";
import { readJsonIfThere, shapeOf, writeWhole } from "../host/whole-file.ts";
import { isObject } from "../../rules/model/json.ts";

/** The time of a run. */
export interface RunClock {
  readonly now: () => number;
  /**
   * Waits until `nextMs` or until the signal aborts. A real clock may return earlier; the caller
   * then calls it again.
   */
  readonly until: (nextMs: number, signal: AbortSignal) => Promise<void>;
  readonly pace: () => Pace;
}

export interface Pace {
  /**
   * The speed of the option `--speed`, an upper bound: virtual milliseconds per millisecond of wall
   * time.
   */
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

/**
 * A longer wait is divided into pieces of this length, and the clock is saved after each: other
 * processes see the time pass, and a run that was killed resumes close to its end.
 */
const SLICE_MS = 500;
/**
 * The clock catches up at most this much after slow work, so that a pause of the machine does not
 * end in hours of virtual time at once.
 */
const CATCH_UP_MS = 2_000;

/**
 * A clock of discrete events. It runs only while no work is under way, up to the instant of the
 * next event, and stands still until the work of that event is done. Decisions therefore do not
 * depend on how long any work takes.
 */
export const virtualClock = ({
  startMs,
  speed,
  save,
  wall = Date.now,
}: VirtualClockOptions): RunClock => {
  let anchor: SavedClock & { readonly kind: "virtual" } = {
    kind: "virtual",
    nowMs: startMs,
    wallMs: wall(),
    speed,
    untilMs: startMs,
  };
  /** Wall time at which the clock would show its time if no work had ever been too slow. */
  let idealMs: number | undefined;
  const meter = paceMeter(speed);
  const now = () =>
    Math.min(
      anchor.untilMs,
      Math.round(anchor.nowMs + Math.max(0, wall() - anchor.wallMs) * speed),
    );
  const moveAnchor = (nowMs: number, untilMs: number) => {
    anchor = { kind: "virtual", nowMs, wallMs: wall(), speed, untilMs };
  };
  const setAnchor = (nowMs: number, untilMs: number) => {
    moveAnchor(nowMs, untilMs);
    save(anchor);
  };
  /**
   * Returns the wall time of the next instant. A run that is behind does not wait, and saves its
   * time only once it is there: each save is a file that replaces another.
   */
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
      // After an abort the clock stays where it is. Otherwise it stands exactly at the instant of
      // the event, however late the timer fired.
      const atMs = signal.aborted ? now() : nextMs;
      // The rest of the way was not gone, so the run is not ahead of itself.
      if (signal.aborted) idealMs = wall();
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
      while (marks.length > 2 && (marks[1]?.wallMs ?? wallMs) < wallMs - METER_SPAN_MS)
        marks.shift();
    },
    pace: (): Pace => {
      const [first, last] = [marks[0], marks.at(-1)];
      const wallMs = first && last ? last.wallMs - first.wallMs : 0;
      const reached =
        first && last && wallMs > 0 ? (last.virtualMs - first.virtualMs) / wallMs : wantedPace;
      return { wanted: wantedPace, reached, behind: reached < wantedPace * BEHIND_BELOW };
    },
  };
};

interface VirtualClock {
  readonly kind: "virtual";
  /** The folder's time when this was written, milliseconds since 1970. */
  readonly nowMs: number;
  /** Wall time of the same moment. */
  readonly wallMs: number;
  /** Virtual milliseconds per millisecond of wall time, until `untilMs`. */
  readonly speed: number;
  /** The instant of the next event, at which the clock stands still. */
  readonly untilMs: number;
}

/** The clock of a folder of a run on a real cluster, whose time is the machine's. */
interface RealClock {
  readonly kind: "real";
  readonly nowMs: number;
}

/** The folder's clock as its last run left it on disk. */
export type SavedClock = VirtualClock | RealClock;

const isSavedClock = (value: unknown): value is SavedClock => {
  if (!isObject(value)) return false;
  const { kind, nowMs, wallMs, speed, untilMs } = value;
  const numbers = kind === "real" ? [nowMs] : [nowMs, wallMs, speed, untilMs];
  return (
    (kind === "real" || kind === "virtual") && numbers.every((each) => typeof each === "number")
  );
};

export const saveClock = (layout: FolderLayout, clock: SavedClock): void =>
  writeWhole(layout.clock, JSON.stringify(clock));

export const readSavedClock = (layout: FolderLayout): SavedClock | undefined =>
  readJsonIfThere(layout.clock, shapeOf(isSavedClock, "clock"));

/**
 * The time of a living run, computed in another process: it advances at the speed of the run, and
 * never past the next event.
 */
export const flowingNowMs = (clock: SavedClock, wallMs: number): number =>
  clock.kind === "real"
    ? wallMs
    : Math.min(
        clock.untilMs,
        Math.round(clock.nowMs + Math.max(0, wallMs - clock.wallMs) * clock.speed),
      );

/** The time of a folder without a run. Virtual time stands still. */
export const restingNowMs = (clock: SavedClock, wallMs: number): number =>
  clock.kind === "real" ? wallMs : clock.nowMs;

/**
 * The time of a run and of each of its clusters, in memory that its threads share. While a sync of
 * a cluster is at work the time of this cluster stops, and the time of the run goes on to the syncs
 * of the others:
 *
 *     run         08:00:01 ─────── :02 ─────── :03
 *     cluster a   08:00:01 ──── sync ────┤
 *     cluster b                    :02 ──── sync ────┤
 *
 * So what a sync decides and writes does not depend on how long it or another one takes.
 */
export interface ClusterTimes {
  readonly memory: SharedArrayBuffer;
  /** What the clock of the run is from now on. */
  readonly set: (clock: SavedClock) => void;
  /**
   * The time of a cluster, by its place among the clusters of the run; without a place the time of
   * the run.
   */
  readonly of: (place: number | undefined) => number;
  /** Holds the time of a cluster at an instant, until what it returns is called. */
  readonly hold: (place: number, atMs: number) => () => void;
}

/**
 * Where the members of a virtual clock are, and the first cluster. An entry of a cluster is 0 while
 * the cluster has the time of the run.
 */
const AT = { nowMs: 0, wallMs: 1, speed: 2, untilMs: 3, clusters: 4 } as const;

export const timesFor = (clusters: number): ClusterTimes =>
  timesIn(new SharedArrayBuffer((AT.clusters + clusters) * Float64Array.BYTES_PER_ELEMENT));

/**
 * The times of another thread. A clock that is being set there may be read half: the time is then
 * the next instant at most, at which nothing has happened yet.
 */
export const timesIn = (memory: SharedArrayBuffer, wall: () => number = Date.now): ClusterTimes => {
  const times = new Float64Array(memory);
  const at = (index: number): number => times[index] ?? 0;
  const ofRun = (): number => {
    const [nowMs, wallMs, speed, untilMs] = [
      at(AT.nowMs),
      at(AT.wallMs),
      at(AT.speed),
      at(AT.untilMs),
    ];
    return flowingNowMs({ kind: "virtual", nowMs, wallMs, speed, untilMs }, wall());
  };
  return {
    memory,
    set: (clock) => {
      if (clock.kind === "real")
        throw new RangeError("a run on a real cluster has the clock of the machine");
      times.set([clock.nowMs, clock.wallMs, clock.speed, clock.untilMs]);
    },
    of: (place) => (place === undefined ? 0 : at(AT.clusters + place)) || ofRun(),
    hold: (place, atMs) => {
      times[AT.clusters + place] = atMs;
      return () => {
        times[AT.clusters + place] = 0;
      };
    },
  };
};

/**
 * The clusters of a run by their names. Syncs of one cluster follow each other, and syncs of
 * several clusters overlap.
 */
export interface ClusterLanes {
  readonly timeOf: (cluster: string) => number;
  readonly hold: (cluster: string, atMs: number) => () => void;
}

export const clusterLanes = (names: readonly string[], times: ClusterTimes): ClusterLanes => {
  const places = new Map(names.map((name, place) => [name, place]));
  return {
    timeOf: (cluster) => times.of(places.get(cluster)),
    // A cluster that a command has added is none of the run: no time of it is kept, and its syncs
    // cannot connect.
    hold: (cluster, atMs) => {
      const place = places.get(cluster);
      return place === undefined ? () => {} : times.hold(place, atMs);
    },
  };
};
