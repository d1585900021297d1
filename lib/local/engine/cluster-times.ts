import { flowingNowMs, type SavedClock } from "../folder/saved-clock.ts";

/**
 * The time of a run and of each of its clusters, in memory that its threads share. While a sync of a cluster is at work the time of this cluster stands still, and that of the run goes on to the syncs of the others:
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
  /** The time of a cluster, by its place among the clusters of the run; without a place that of the run. */
  readonly of: (place: number | undefined) => number;
  /** Holds the time of a cluster at an instant, until what it returns is called. */
  readonly hold: (place: number, atMs: number) => () => void;
}

/** Where the members of a virtual clock are, and the first cluster. An entry of a cluster is 0 while its time is that of the run. */
const AT = { nowMs: 0, wallMs: 1, speed: 2, untilMs: 3, clusters: 4 } as const;

export const timesFor = (clusters: number): ClusterTimes => timesIn(new SharedArrayBuffer((AT.clusters + clusters) * Float64Array.BYTES_PER_ELEMENT));

/** The times of another thread. A clock that is being set there may be read half: the time is then the next instant at most, at which nothing has happened yet. */
export const timesIn = (memory: SharedArrayBuffer, wall: () => number = Date.now): ClusterTimes => {
  const times = new Float64Array(memory);
  const at = (index: number): number => times[index] ?? 0;
  const ofRun = (): number => {
    const [nowMs, wallMs, speed, untilMs] = [at(AT.nowMs), at(AT.wallMs), at(AT.speed), at(AT.untilMs)];
    return flowingNowMs({ kind: "virtual", nowMs, wallMs, speed, untilMs }, wall());
  };
  return {
    memory,
    set: (clock) => {
      if (clock.kind === "real") throw new RangeError("the clock of a run on a real cluster is that of the machine");
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

/** The clusters of a run by their names. Syncs of one cluster follow each other, those of several overlap. */
export interface ClusterLanes {
  readonly timeOf: (cluster: string) => number;
  readonly hold: (cluster: string, atMs: number) => () => void;
}

export const clusterLanes = (names: readonly string[], times: ClusterTimes): ClusterLanes => {
  const places = new Map(names.map((name, place) => [name, place]));
  return {
    timeOf: (cluster) => times.of(places.get(cluster)),
    // A cluster that a command has added is none of the run: no time of it is kept, and its syncs cannot connect.
    hold: (cluster, atMs) => {
      const place = places.get(cluster);
      return place === undefined ? () => {} : times.hold(place, atMs);
    },
  };
};
