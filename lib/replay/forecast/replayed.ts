import { type Forecast, FORECAST_EVERY_MS } from "../../rules/model/forecast.ts";
import { MINUTE_MS } from "../../rules/model/time-text.ts";
import type { ReplayedMetric } from "../load.ts";
import { forecastBy, type PlayedDemand, playedOutlooks } from "./outlook.ts";

/** So long after the end of six hours a stack has made the forecast. */
const MADE_MS = 10 * MINUTE_MS;

/** The forecasts that a stack would have stored while a load was played. */
export class ReplayedForecasts {
  readonly #metrics: readonly ReplayedMetric[];
  readonly #played: Omit<PlayedDemand, "untilMs"> & { readonly namespace: string };
  #newest: Forecast | undefined;

  constructor(
    metrics: readonly ReplayedMetric[],
    played: Omit<PlayedDemand, "untilMs"> & { readonly namespace: string },
  ) {
    this.#metrics = metrics;
    this.#played = played;
  }

  /** The newest one at an instant. It knows nothing of what comes later. */
  at(nowMs: number): Forecast {
    const fromMs = Math.floor((nowMs - MADE_MS) / FORECAST_EVERY_MS) * FORECAST_EVERY_MS;
    const { namespace, pods, cutOff } = this.#played;
    if (this.#newest?.fromMs !== fromMs)
      this.#newest = forecastBy(playedOutlooks(this.#metrics, { pods, cutOff, untilMs: fromMs }), {
        namespace,
        fromMs,
      });
    return this.#newest;
  }
}
