import { SCRAPE_MS } from "./load.ts";
import {
  beganMs,
  countSeries,
  type Recorded,
  type RecordedScale,
  readyOf,
  sampledSeries,
} from "./recorded.ts";
import { type Series, StepReader } from "./series.ts";

/** Which pods a sync saw, by what their metric says. The others of `current` had not started. */
export interface RecordedPods {
  readonly current: number;
  readonly ready: number;
  /** Pods whose samples made the value. */
  readonly counted: number;
  /** Pods that ran and had no sample. */
  readonly missing: number;
  /** Pods that the value of a use is shared by. */
  readonly served: number;
}

const NUMBERS = ["current", "ready", "counted", "missing", "served"] as const;

/** The pods of recorded syncs over time, in plain columns, so that a thread can be given them. */
export interface PodsSeen {
  /** Which row holds when. */
  readonly rows: Series;
  readonly columns: Readonly<Record<(typeof NUMBERS)[number], Float64Array>>;
  /** The count that there was. */
  readonly count: Series;
}

/** What recorded syncs saw of the pods. A row begins where its value begins. */
export const podsSeen = (recorded: Recorded): PodsSeen => {
  const rows: RecordedPods[] = [];
  const rowAt = recorded.samples.map((sample, at) => {
    const { current, counted, missing = 0 } = sample;
    if (current === undefined || counted === undefined) return Number.NaN;
    const served = servedIn(recorded, at);
    const row = { current, ready: readyOf(sample), counted, missing, served };
    const last = rows.at(-1);
    if (!last || NUMBERS.some((name) => last[name] !== row[name])) rows.push(row);
    return rows.length - 1;
  });
  const columnOf = (name: (typeof NUMBERS)[number]): Float64Array =>
    Float64Array.from(rows, (row) => row[name]);
  return {
    rows: sampledSeries(recorded, (_, at) => rowAt[at] ?? Number.NaN, beganMs),
    columns: {
      current: columnOf("current"),
      ready: columnOf("ready"),
      counted: columnOf("counted"),
      missing: columnOf("missing"),
      served: columnOf("served"),
    },
    count: countSeries({ ...recorded, scales: recorded.scales.map(afterItsSync) }),
  };
};

/** A scale comes after what its own sync saw, also where both have the same instant. */
const afterItsSync = (scale: RecordedScale): RecordedScale =>
  scale.isOutside ? scale : { ...scale, atMs: scale.atMs + 1 };

/** A use is the mean between two scrapes, and the newest scrape is as old as one of them at most. */
const LOOK_BACK_MS = 2 * SCRAPE_MS;

/**
 * Pods behind the use of a sample. A use is the mean of some seconds: pods that serve since the
 * sample before may not be in it yet, and pods that were taken away since then are not any more.
 * How many are in it is what the rules counted, where that is stored. Ready pods that gave no value
 * are not counted either, and they serve: of them there were as many before. Where it is not
 * stored, a sample that is longer ago says nothing of these seconds.
 */
export const servedIn = ({ samples }: Pick<Recorded, "samples">, at: number): number => {
  const [sample, before] = [samples[at], samples[at - 1]];
  const ready = sample ? readyOf(sample) : Number.NaN;
  if (!before || !sample) return ready;
  const earlier = Math.min(ready, readyOf(before));
  if (!(earlier > 0)) return ready;
  const { counted } = sample;
  if (counted !== undefined) return Math.min(ready, Math.max(earlier, counted));
  return sample.atMs - before.atMs > LOOK_BACK_MS ? ready : earlier;
};

/** The pods of a replay. */
interface PodsNow {
  readonly count: number;
  readonly ready: number;
  /** The last instant at which one of them came, went, began to run, or began to serve. */
  readonly changedMs: number;
}

/**
 * Says which pods a recorded sync saw, as long as the replay has the pods that there were: it made
 * the scales that were made. When a pod began to run is not recorded, so which pods of a scale give
 * a value can only be read. A replay that had another count has other pods, until those of both
 * serve.
 */
export class InStep {
  readonly #columns: PodsSeen["columns"];
  readonly #rows: StepReader;
  readonly #count: StepReader;
  #isInStep = true;
  #row = Number.NaN;
  #pods: RecordedPods | undefined;

  constructor({ rows, columns, count }: PodsSeen) {
    this.#columns = columns;
    this.#rows = new StepReader(rows);
    this.#count = new StepReader(count);
  }

  /** The same object as long as it holds. */
  at(nowMs: number, pods: PodsNow): RecordedPods | undefined {
    const recorded = this.#recordedAt(nowMs);
    const count = this.#count.seek(nowMs);
    if (Number.isNaN(count)) return undefined;
    if (count !== pods.count) this.#isInStep = false;
    else
      this.#isInStep ||=
        recorded !== undefined &&
        allServe(recorded) &&
        pods.ready === pods.count &&
        pods.changedMs <= nowMs - LOOK_BACK_MS;
    return this.#isInStep && recorded?.current === pods.count ? recorded : undefined;
  }

  #recordedAt(nowMs: number): RecordedPods | undefined {
    const row = this.#rows.seek(nowMs);
    if (Object.is(row, this.#row)) return this.#pods;
    this.#row = row;
    const of = (name: (typeof NUMBERS)[number]): number => this.#columns[name][row] ?? 0;
    this.#pods = Number.isNaN(row)
      ? undefined
      : {
          current: of("current"),
          ready: of("ready"),
          counted: of("counted"),
          missing: of("missing"),
          served: of("served"),
        };
    return this.#pods;
  }
}

const allServe = ({ current, ready, counted }: RecordedPods): boolean =>
  ready === current && counted === current;
