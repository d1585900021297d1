import {
  type DemandForecast,
  type Forecast,
  FORECAST_QUANTILES,
  type Margins,
  type NoForecast,
} from "../../../rules/model/forecast.ts";
import type { AutoscalerUid, PartitionRef } from "../../../rules/model/ids.ts";
import { DAY_MS } from "../../../rules/model/time-text.ts";
import { compress, readIfKnown } from "../table/compressed.ts";
import { forecastsKey, forecastsPk, sortableMs } from "../table/keys.ts";
import { readAll } from "../table/read-many.ts";
import type { Tables } from "../table/tables.ts";
import { ttlOf } from "./events.ts";
import { type HistoryItem, historyItemOf, LAST, unexpiredBetween } from "./item.ts";

const VERSION = 1;
/** Older ones say nothing to anybody. */
const FORECAST_DAYS_KEPT = 2;
/** A forecast is not better than this. */
const DIGITS = 4;

type StoredDemand = readonly [
  metric: string,
  measures: string,
  points: readonly number[],
  margins: readonly (readonly number[])[],
];
type StoredForecast = readonly [
  uid: AutoscalerUid,
  demands: readonly StoredDemand[],
  without: readonly (readonly [metric: string, why: NoForecast])[],
];

/** The forecasts of some autoscalers of a partition, from the demand until an instant. */
export const forecastsItem = (
  partition: PartitionRef,
  { fromMs, part }: { readonly fromMs: number; readonly part: string },
  forecasts: ReadonlyMap<AutoscalerUid, Forecast>,
): HistoryItem => ({
  ...forecastsKey(partition, fromMs, part),
  body: compress(
    VERSION,
    [...forecasts].map(
      ([uid, { demands, without }]): StoredForecast => [
        uid,
        demands.map(storedDemand),
        without.map(({ metric, why }) => [metric, why]),
      ],
    ),
  ),
  ttlSeconds: ttlOf(fromMs, FORECAST_DAYS_KEPT),
});

const rounded = (value: number): number => Number(value.toPrecision(DIGITS));

const storedDemand = ({ metric, measures, points, margins }: DemandForecast): StoredDemand => [
  metric,
  measures,
  points.map(rounded),
  FORECAST_QUANTILES.map((quantile) => margins[quantile].map(rounded)),
];

/**
 * The newest forecast of each autoscaler of a partition in the last day, so that one that is too
 * old is known to be. An item that cannot be read is passed over: its autoscalers are decided as
 * without a forecast.
 */
export const storedForecasts = async (
  tables: Tables,
  partition: PartitionRef,
  nowMs: number,
): Promise<ReadonlyMap<AutoscalerUid, Forecast>> => {
  const range = [sortableMs(Math.max(0, nowMs - DAY_MS)), LAST] as const;
  const params = unexpiredBetween(tables.historyTable, forecastsPk(partition), range, nowMs);
  const action = `read the forecasts of "${partition.cluster}/${partition.partition}"`;
  const found = new Map<AutoscalerUid, Forecast>();
  // Items come in order of time, so that the newest one of an autoscaler stays.
  for await (const item of readAll(tables, action, params)) {
    const { sk, body } = historyItemOf(item);
    const fromMs = Number(sk.split("#")[0]);
    for (const [uid, forecast] of forecastsIn(body, fromMs)) found.set(uid, forecast);
  }
  return found;
};

const forecastsIn = (
  body: HistoryItem["body"],
  fromMs: number,
): readonly (readonly [AutoscalerUid, Forecast])[] =>
  readIfKnown(Buffer.from(body), VERSION, (value) =>
    (value as readonly StoredForecast[]).map(
      ([uid, demands, without]) =>
        [
          uid,
          {
            fromMs,
            demands: demands.map(demandOfStored),
            without: without.map(([metric, why]) => ({ metric, why })),
          },
        ] as const,
    ),
  ) ?? [];

const demandOfStored = ([metric, measures, points, margins]: StoredDemand): DemandForecast => ({
  metric,
  measures,
  points,
  margins: Object.fromEntries(
    FORECAST_QUANTILES.map((quantile, at) => [quantile, margins[at] ?? []]),
  ) as unknown as Margins,
});
