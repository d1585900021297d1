/**
 * An amount over time: `values[at]` holds from `times[at]` on until the next time, the last one
 * until `endMs`. NaN stands for what nobody knows. Plain arrays of numbers, so that a thread can be
 * given one.
 */
export interface Series {
  /** At least one; strictly rising. */
  readonly times: Float64Array;
  readonly values: Float64Array;
  readonly endMs: number;
}

/** A series from its steps, in order of time. A step with the value of the one before is left out. */
export const stepSeries = (
  steps: Iterable<readonly [atMs: number, value: number]>,
  endMs: number,
): Series => {
  const times: number[] = [];
  const values: number[] = [];
  for (const [atMs, value] of steps) {
    if (times.length > 0 && Object.is(values.at(-1), value)) continue;
    times.push(atMs);
    values.push(value);
  }
  return { times: Float64Array.from(times), values: Float64Array.from(values), endMs };
};

/** Reads a series forwards: `seek` never goes back. */
export class StepReader {
  readonly #series: Series;
  #at = -1;
  /** The value at the last instant that was sought; NaN where it is unknown. */
  value = Number.NaN;
  /** Until when it holds; infinite once the series is over. */
  untilMs = Number.NEGATIVE_INFINITY;

  constructor(series: Series) {
    this.#series = series;
  }

  seek(atMs: number): number {
    if (atMs < this.untilMs) return this.value;
    const { times, values, endMs } = this.#series;
    while (this.#at + 1 < times.length && (times[this.#at + 1] ?? 0) <= atMs) this.#at++;
    const isOver = atMs >= endMs;
    this.value = isOver || this.#at < 0 ? Number.NaN : (values[this.#at] ?? Number.NaN);
    this.untilMs = isOver
      ? Number.POSITIVE_INFINITY
      : Math.min(endMs, times[this.#at + 1] ?? endMs);
    return this.value;
  }
}

/** What two series are together at each instant of either; unknown where one of them is. */
const joined = (
  one: Series,
  other: Series,
  join: (first: number, second: number) => number,
): Series => {
  const readers = [new StepReader(one), new StepReader(other)] as const;
  const times = Float64Array.from(new Set([...one.times, ...other.times])).sort();
  const steps = [...times].map((atMs) => {
    const [first, second] = readers;
    return [atMs, join(first.seek(atMs), second.seek(atMs))] as const;
  });
  return stepSeries(steps, Math.max(one.endMs, other.endMs));
};

/** The product of two series at each instant of either; unknown where one of them is. */
export const productOf = (one: Series, other: Series): Series =>
  joined(one, other, (first, second) => first * second);

/** The lower of two series at each instant of either; unknown where one of them is. */
export const lowerOf = (one: Series, other: Series): Series =>
  joined(one, other, (first, second) => Math.min(first, second));

/** A series that is the same all the time. */
export const constantSeries = (value: number, { times, endMs }: Series): Series =>
  stepSeries([[times[0] ?? 0, value]], endMs);
