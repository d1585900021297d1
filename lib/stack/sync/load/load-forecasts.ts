import { type Forecast, FORECAST_REACH_MS } from "../../../rules/model/forecast.ts";
import type { AutoscalerUid, PartitionRef } from "../../../rules/model/ids.ts";
import { type AdvisedAutoscaler, attempted } from "../../projections/project.ts";
import { storedForecasts } from "../../store/history/forecasts.ts";
import type { Tables } from "../../store/table/tables.ts";
import type { LoadedForecasts, LoadedSpecs } from "../hand-over.ts";

/** The autoscalers whose manifests take the advice of forecasts. */
export const advisedOf = ({ all }: LoadedSpecs): readonly AdvisedAutoscaler[] =>
  all.flatMap((one) => {
    if (one.kind !== "ready" || !one.spec.advice) return [];
    const { cluster, namespace, name, uid } = one.record;
    return [{ cluster, namespace, name, uid, spec: one.spec }];
  });

/** The next forecast comes after half of the reach of the one before. */
const FRESH_MS = FORECAST_REACH_MS / 2;

/**
 * Reads the forecasts of a partition together with its manifests, and only where a manifest takes
 * advice and its forecast may have a newer one. They decide nothing by themselves: where they
 * cannot be read, the sync goes on with those that were read before, or without.
 */
export const withForecasts = async (
  tables: Tables,
  partition: PartitionRef,
  specs: LoadedSpecs,
  before: LoadedSpecs | undefined,
): Promise<LoadedSpecs> => {
  const advised = advisedOf(specs);
  if (advised.length === 0) return specs;
  const known = before?.forecasts;
  const nowMs = tables.clock();
  const isFresh = advised.every(({ uid }) => {
    const forecast = known?.byUid.get(uid);
    return forecast !== undefined && nowMs < forecast.fromMs + FRESH_MS;
  });
  if (known && isFresh) return { ...specs, forecasts: known };
  const { done, failure } = await attempted(() => storedForecasts(tables, partition, nowMs));
  return { ...specs, forecasts: done ? { byUid: done } : failed(known, failure) };
};

const failed = (
  known: LoadedForecasts | undefined,
  failure = "no answer",
): Required<LoadedForecasts> => ({ byUid: known?.byUid ?? new Map(), failure });

/** The forecast of an autoscaler; undefined where none is stored. */
export const forecastFor = (
  { forecasts }: LoadedSpecs,
  uid: AutoscalerUid,
): Forecast | "not read" | undefined =>
  forecasts?.byUid.get(uid) ?? (forecasts?.failure === undefined ? undefined : "not read");
