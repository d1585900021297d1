import { forecastBy, outlooksOf } from "../../replay/forecast/outlook.ts";
import { type Forecast, FORECAST_HISTORY_MS } from "../../rules/model/forecast.ts";
import type { AutoscalerUid } from "../../rules/model/ids.ts";
import { forecastsItem } from "../store/history/forecasts.ts";
import { forecastMarksPk } from "../store/table/keys.ts";
import { mapWithLimit } from "../store/table/wait-for-all.ts";
import { SIX_HOURS_MS } from "./journal-slots.ts";
import type { AdvisedAutoscaler, CatchUpTurn, Folded, Projection, Slot } from "./project.ts";
import { BIN_MS, SAMPLES, storedSamples } from "./samples.ts";

/** Autoscalers that are forecast in one step, some milliseconds each. */
const AUTOSCALERS_A_PART = 20;
/** Histories of a part that are read together. */
const PARALLEL = 4;

/**
 * The forecasts of a partition at the end of six hours, from the samples until then. Only of
 * autoscalers whose manifest takes advice: where there is none, nothing is read and nothing is
 * stored.
 */
export const FORECASTS: Projection = {
  name: "forecasts",
  follows: SAMPLES.name,
  slots: SAMPLES.slots,
  settledMs: 0,
  // A forecast of an earlier time helps nobody any more.
  reachMs: SIX_HOURS_MS,
  markDays: 2,
  places: async (turn) => {
    const advised = turn.advised?.() ?? [];
    if (advised.length === 0) return [];
    const byUid = advised.toSorted((one, other) => (one.uid < other.uid ? -1 : 1));
    return [
      {
        pk: forecastMarksPk({ cluster: turn.cluster.name, partition: turn.partition }),
        partsOf: async () =>
          Array.from({ length: Math.ceil(byUid.length / AUTOSCALERS_A_PART) }, (_, part) =>
            String(part),
          ),
        fold: async (slot, part) => {
          const first = Number(part) * AUTOSCALERS_A_PART;
          return partForecast(turn, byUid.slice(first, first + AUTOSCALERS_A_PART), { slot, part });
        },
      },
    ];
  },
};

const partForecast = async (
  { tables, cluster, partition }: CatchUpTurn,
  advised: readonly AdvisedAutoscaler[],
  { slot: { endMs }, part }: { readonly slot: Slot; readonly part: string },
): Promise<Folded> => {
  const forecasts = await mapWithLimit(
    advised,
    PARALLEL,
    async ({ spec, ...of }): Promise<readonly [AutoscalerUid, Forecast]> => {
      const stretch = { sinceMs: endMs - FORECAST_HISTORY_MS, untilMs: endMs - 1 };
      const samples = await storedSamples(tables, of, stretch);
      const { namespace } = of;
      const outlooks = outlooksOf({ spec, namespace, samples, periodMs: BIN_MS, untilMs: endMs });
      return [of.uid, forecastBy(outlooks, { namespace, fromMs: endMs })];
    },
  );
  const at = { fromMs: endMs, part };
  return {
    items: [forecastsItem({ cluster: cluster.name, partition }, at, new Map(forecasts))],
  };
};
