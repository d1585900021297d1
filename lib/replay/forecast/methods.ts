import { FORECAST_STEP_MS, type ForecastMethod } from "../../rules/model/forecast.ts";
import { DAY_MS } from "../../rules/model/time-text.ts";

/** Steps of a day and of a week. The seasons are of UTC: 24 hours, whatever a clock on a wall does. */
export const DAY_STEPS = DAY_MS / FORECAST_STEP_MS;
export const WEEK_STEPS = 7 * DAY_STEPS;

/** One way to forecast a demand, which has seen its past step by step. */
export interface Forecaster {
  /** The demand of the next step; NaN where nobody knows it. */
  see(demand: number): void;
  /** So many steps after the last one that was seen, from 1 on; NaN where the past is too short. */
  ahead(steps: number): number;
}

/** The value that was known last. */
class LastValue implements Forecaster {
  #last = Number.NaN;

  see(demand: number): void {
    if (!Number.isNaN(demand)) this.#last = demand;
  }

  ahead(): number {
    return this.#last;
  }
}

/** What was there one season before. A season that is not known is taken from the one before it. */
class SameTime implements Forecaster {
  readonly #season: Float64Array;
  #at = 0;

  constructor(steps: number) {
    this.#season = new Float64Array(steps).fill(Number.NaN);
  }

  see(demand: number): void {
    const slot = this.#at % this.#season.length;
    if (!Number.isNaN(demand)) this.#season[slot] = demand;
    this.#at += 1;
  }

  ahead(steps: number): number {
    return this.#season[(this.#at + steps - 1) % this.#season.length] ?? Number.NaN;
  }
}

/** How much of each new demand goes into the level, the trend and the season of its time. */
const LEVEL = 0.2;
const TREND = 0.01;
const SEASON = 0.15;
/** A trend fades by so much in each step, so that a morning is not drawn out into the night. */
const FADES = 0.95;

/** Additive Holt-Winters with a season of a day and a trend that fades. Its first day is its start. */
class HoltWinters implements Forecaster {
  readonly #season = new Float64Array(DAY_STEPS).fill(Number.NaN);
  #level = Number.NaN;
  #trend = 0;
  #at = 0;

  see(demand: number): void {
    const slot = this.#at % DAY_STEPS;
    if (this.#at < DAY_STEPS) {
      this.#season[slot] = demand;
      if (slot === DAY_STEPS - 1) this.#begin();
    } else this.#smooth(demand, slot);
    this.#at += 1;
  }

  ahead(steps: number): number {
    const season = this.#season[(this.#at + steps - 1) % DAY_STEPS] ?? Number.NaN;
    const faded = (this.#trend * FADES * (1 - FADES ** steps)) / (1 - FADES);
    return Math.max(0, this.#level + faded + season);
  }

  /** The level is the mean of the first day; a time of it that is not known is an average one. */
  #begin(): void {
    const known = this.#season.filter((value) => !Number.isNaN(value));
    this.#level = known.reduce((sum, value) => sum + value, 0) / known.length;
    for (const [at, value] of this.#season.entries())
      this.#season[at] = Number.isNaN(value) ? 0 : value - this.#level;
  }

  #smooth(demand: number, slot: number): void {
    const [level, season] = [this.#level, this.#season[slot] ?? 0];
    if (Number.isNaN(demand)) return;
    if (Number.isNaN(level)) {
      this.#level = demand;
      return;
    }
    const carried = level + FADES * this.#trend;
    this.#level = carried + LEVEL * (demand - season - carried);
    this.#trend = FADES * this.#trend + TREND * (this.#level - level - FADES * this.#trend);
    this.#season[slot] = season + SEASON * (demand - this.#level - season);
  }
}

/** A forecaster of each method that has seen nothing yet. */
export const newForecaster = (method: ForecastMethod): Forecaster => {
  switch (method) {
    case "last value":
      return new LastValue();
    case "yesterday":
      return new SameTime(DAY_STEPS);
    case "last week":
      return new SameTime(WEEK_STEPS);
    case "Holt-Winters":
      return new HoltWinters();
  }
};
