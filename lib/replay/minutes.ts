import { MINUTE_MS } from "../rules/model/time-text.ts";

/**
 * What a replay was like, minute by minute. Each column has one number a minute; a share of a
 * minute is in milliseconds.
 */
export interface Minutes {
  /** Of the first minute. */
  readonly fromMs: number;
  readonly length: number;
  /** The count at the end of the minute. */
  readonly count: Float64Array;
  readonly min: Float64Array;
  readonly max: Float64Array;
  /** Pods × ms: that were asked for while the load was known, and that served. */
  readonly podMs: Float64Array;
  readonly readyMs: Float64Array;
  /** How much of the minute is known. All that follows is of that time only. */
  readonly knownMs: Float64Array;
  /** Pods × ms that would have been exactly at the target. */
  readonly neededMs: Float64Array;
  readonly knownReadyMs: Float64Array;
  readonly aboveMs: Float64Array;
  readonly atMaxMs: Float64Array;
  /** Time in which what was asked for was cut off when it was recorded: a lower bound. */
  readonly cutOffMs: Float64Array;
  /** Load × ms, and the part of it beyond what the pods can serve. */
  readonly loadMs: Float64Array;
  readonly unservedMs: Float64Array;
  /** The reason of the last decision of the minute. */
  readonly reasons: readonly string[];
  readonly scales: readonly ReplayedScale[];
  readonly reactions: readonly Reaction[];
}

export interface ReplayedScale {
  readonly atMs: number;
  readonly from: number;
  readonly to: number;
  readonly reason: string;
}

/** From the instant at which the pods were too few to the one at which enough of them served. */
export interface Reaction {
  readonly atMs: number;
  readonly lastedMs: number;
}

/** A time in which nothing changed. */
export interface SteadySpan {
  readonly count: number;
  readonly ready: number;
  /** Pods that would be exactly at the target; NaN where it is unknown. */
  readonly needed: number;
  /** Nobody knows the load: its pods are in no sum. Also false where no number of pods is right. */
  readonly isUnknown: boolean;
  readonly isCutOff: boolean;
  readonly load: number;
  readonly unserved: number;
}

/** Load is too high for the pods from here on: the tolerance that a target has. */
const TOO_FEW = 1.1;

const NUMBERS = [
  ...["count", "min", "max", "podMs", "readyMs", "knownMs", "neededMs", "knownReadyMs"],
  ...["aboveMs", "atMaxMs", "cutOffMs", "loadMs", "unservedMs"],
] as const;
type Column = Exclude<keyof Minutes, "fromMs" | "length" | "reasons" | "scales" | "reactions">;

/** Writes minutes while they pass. */
export class MinuteRecord {
  readonly #fromMs: number;
  readonly #columns: Readonly<Record<Column, Float64Array>>;
  readonly #reasons: string[];
  readonly #scales: ReplayedScale[] = [];
  readonly #reactions: Reaction[] = [];
  #tooFewSinceMs: number | undefined;
  #passedMs: number;
  #max = Number.POSITIVE_INFINITY;

  constructor(fromMs: number, untilMs: number) {
    this.#passedMs = fromMs;
    this.#fromMs = Math.floor(fromMs / MINUTE_MS) * MINUTE_MS;
    const length = Math.ceil((untilMs - this.#fromMs) / MINUTE_MS);
    this.#columns = Object.fromEntries(
      NUMBERS.map((name) => [name, new Float64Array(length)]),
    ) as unknown as Readonly<Record<Column, Float64Array>>;
    this.#reasons = new Array<string>(length).fill("");
  }

  decided(
    atMs: number,
    reason: string,
    bounds: { readonly min: number; readonly max: number },
  ): void {
    const at = this.#at(atMs);
    this.#max = bounds.max;
    this.#reasons[at] = reason;
    this.#columns.min[at] = bounds.min;
    this.#columns.max[at] = bounds.max;
  }

  scaled(scale: ReplayedScale): void {
    this.#scales.push(scale);
  }

  pass(fromMs: number, toMs: number, segment: SteadySpan): void {
    this.#react(fromMs, segment);
    this.#passedMs = toMs;
    for (let sinceMs = fromMs; sinceMs < toMs; ) {
      const at = this.#at(sinceMs);
      const untilMs = Math.min(toMs, this.#fromMs + (at + 1) * MINUTE_MS);
      this.#add(at, untilMs - sinceMs, segment);
      sinceMs = untilMs;
    }
  }

  /** Pods that are too few at the end were so for as long as is known. */
  minutes(): Minutes {
    const { length } = this.#reasons;
    const sinceMs = this.#tooFewSinceMs;
    const last =
      sinceMs === undefined ? [] : [{ atMs: sinceMs, lastedMs: this.#passedMs - sinceMs }];
    return {
      fromMs: this.#fromMs,
      length,
      ...this.#columns,
      reasons: this.#reasons,
      scales: this.#scales,
      reactions: [...this.#reactions, ...last],
    };
  }

  #at(ms: number): number {
    return Math.floor((ms - this.#fromMs) / MINUTE_MS);
  }

  #add(at: number, forMs: number, segment: SteadySpan): void {
    const { count, ready, needed, isUnknown, isCutOff, load, unserved } = segment;
    const columns = this.#columns;
    columns.count[at] = count;
    if (!isUnknown) add(columns.podMs, at, count * forMs);
    add(columns.readyMs, at, ready * forMs);
    if (Number.isNaN(needed)) return;
    add(columns.knownMs, at, forMs);
    add(columns.neededMs, at, needed * forMs);
    add(columns.knownReadyMs, at, ready * forMs);
    if (needed > ready) add(columns.aboveMs, at, forMs);
    if (count >= this.#max) add(columns.atMaxMs, at, forMs);
    if (isCutOff) add(columns.cutOffMs, at, forMs);
    add(columns.loadMs, at, load * forMs);
    add(columns.unservedMs, at, unserved * forMs);
  }

  /** A count at its maximum can react no more; an unknown time ends without a reaction. */
  #react(fromMs: number, { needed, ready }: SteadySpan): void {
    const isTooFew = needed > ready * TOO_FEW && ready < this.#max;
    if (isTooFew) this.#tooFewSinceMs ??= fromMs;
    else {
      if (this.#tooFewSinceMs !== undefined && !Number.isNaN(needed))
        this.#reactions.push({ atMs: this.#tooFewSinceMs, lastedMs: fromMs - this.#tooFewSinceMs });
      this.#tooFewSinceMs = undefined;
    }
  }
}

const add = (column: Float64Array, at: number, amount: number): void => {
  column[at] = (column[at] ?? 0) + amount;
};
