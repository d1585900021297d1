import { specOf } from "../../lib/rules/manifest/admit.ts";
import {
  type DemandForecast,
  type Forecast,
  FORECAST_REACH_MS,
  FORECAST_STEPS,
  LEAD_ENDS,
} from "../../lib/rules/model/forecast.ts";
import type { AutoscalerRecord, ClusterRecord } from "../../lib/rules/model/records.ts";
import { levelsOf } from "../../lib/rules/policy/dialects.ts";
import { capacityAt } from "../../lib/rules/policy/forecast-floor.ts";
import { measureKey } from "../../lib/rules/policy/shared/measures.ts";
import { forecastsItem } from "../../lib/stack/store/history/forecasts.ts";
import type { HistoryItem } from "../../lib/stack/store/history/item.ts";
import { PODS_MAX } from "./manifests/bounds.ts";
import type { Random } from "./random.ts";
import type { Happening, Timetable } from "./timetable.ts";

/**
 * In a share of the seeds PodAutoscalers take the advice of forecasts. By the seed, so that nothing
 * else that is drawn depends on it.
 */
const FORECAST_SEEDS = 20;
export const hasForecasts = (seed: number): boolean => seed % FORECAST_SEEDS === 13;

/** Above the maximum of every manifest, so that a forecast that goes past it shows. */
const PODS_MOST = PODS_MAX + 2;
/** The forecasts are too old from then on, long before nothing happens any more. */
const ENDS_MS: readonly [from: number, to: number] = [150_000, 230_000];

/** The same timetable with advice in the manifests that may have it. */
export const withForecasts = (timetable: Timetable): Timetable => {
  const takes = timetable.autoscalers.map(({ manifest }) => mayTake(manifest));
  const advised = (manifest: object, at: number): object => {
    if (!takes[at] || !mayTake(manifest)) return manifest;
    const { spec, ...rest } = manifest as { readonly spec: object };
    const advice = { forecast: "floor", horizonMinutes: 0, quantile: "p90" };
    return { ...rest, spec: { ...spec, advice } };
  };
  return {
    ...timetable,
    autoscalers: timetable.autoscalers.map((planned, at) => ({
      ...planned,
      manifest: advised(planned.manifest, at),
    })),
    happenings: timetable.happenings.map(
      (happening): Happening =>
        happening.kind === "edit" && happening.edit.verb === "apply"
          ? {
              ...happening,
              edit: {
                verb: "apply",
                manifest: advised(happening.edit.manifest, happening.workload),
              },
            }
          : happening,
    ),
  };
};

/** A forecast goes by the metric that needs most. */
const mayTake = (manifest: object): boolean => {
  const { kind, spec } = manifest as {
    readonly kind: string;
    readonly spec: { readonly combine?: string };
  };
  return kind === "PodAutoscaler" && (spec.combine ?? "Max") === "Max";
};

/** What has become of the forecasts of a partition before the seed begins. */
type Making = "made" | "died" | "made twice" | "damaged";

/**
 * The forecasts that were made of a cluster, each item under a partition of it. With faults the
 * making died, was repeated, or its item cannot be read.
 */
export const forecastItems = (
  { name: cluster, partitions }: Pick<ClusterRecord, "name" | "partitions">,
  records: readonly AutoscalerRecord[],
  {
    random,
    startMs,
    faults,
  }: {
    readonly random: Random;
    readonly startMs: number;
    readonly faults: boolean;
  },
): readonly HistoryItem[] => {
  const fromMs = startMs + random.int(...ENDS_MS) - FORECAST_REACH_MS;
  const forecasts = new Map(
    records.map((record) => [record.uid, forecastOf(record, random, fromMs)] as const),
  );
  return partitions.flatMap(({ name: partition }) => {
    const drawn = random.pick<Making>(["made", "made", "died", "made twice", "damaged"]);
    return itemsAfter(faults ? drawn : "made", (part) =>
      forecastsItem({ cluster, partition }, { fromMs, part }, forecasts),
    );
  });
};

const itemsAfter = (
  making: Making,
  made: (part: string) => HistoryItem,
): readonly HistoryItem[] => {
  const first = made("0");
  switch (making) {
    case "made":
      return [first];
    case "died":
      return [];
    case "made twice":
      return [first, made("1")];
    case "damaged":
      return [{ ...first, body: Buffer.from(first.body).subarray(0, 20) }];
  }
};

/** The same number of pods in every step, for each metric that has a target. */
const forecastOf = (
  { manifest, namespace }: AutoscalerRecord,
  random: Random,
  fromMs: number,
): Forecast => {
  const pods = random.int(1, PODS_MOST);
  const none = LEAD_ENDS.map(() => 0);
  const demands = levelsOf(specOf(manifest, "a seed")).flatMap(
    (level): readonly DemandForecast[] => {
      const perPod = capacityAt(level);
      if (perPod === undefined) return [];
      return [
        {
          metric: level.name,
          measures: measureKey(level, namespace),
          points: Array.from({ length: FORECAST_STEPS }, () => pods * perPod),
          margins: { p50: none, p75: none, p90: none, p95: none },
        },
      ];
    },
  );
  return { fromMs, demands, without: [] };
};
