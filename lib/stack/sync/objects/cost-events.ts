import { type MetricSourceRecord, mayAsk } from "../../../rules/model/metric-source.ts";
import type { AutoscalerUid } from "../../../rules/model/ids.ts";
import { sourceUses } from "../../../rules/policy/dialects.ts";
import { attempted } from "../../projections/project.ts";
import { costObjectEvent, type ObjectEvent } from "../../report/objects/object-events.ts";
import { priceOf } from "../../source-client/price-words.ts";
import { listMetricSources } from "../../store/records/metric-sources.ts";
import type { Tables } from "../../store/table/tables.ts";
import type { Loaded, ReadySpec } from "../hand-over.ts";

/** An autoscaler whose object has a spec that no status is written for yet. */
export interface EditedObject {
  readonly autoscaler: ReadySpec;
  readonly objectUid: string;
  readonly generation: number;
}

/**
 * An Event for each edited object whose metrics cost something, with the words of the warning by
 * which `apply` says it. The sources are read only where such an object asks one. Where they cannot
 * be read, nothing is said: the status is written all the same.
 */
export const costEvents = async (
  tables: Tables,
  { cluster, nowMs }: Pick<Loaded, "cluster" | "nowMs">,
  edited: readonly EditedObject[],
): Promise<ReadonlyMap<AutoscalerUid, ObjectEvent>> => {
  const asking = edited.filter(({ autoscaler }) => sourceUses(autoscaler.spec).length > 0);
  if (asking.length === 0) return new Map();
  const { done: sources = new Map() } = await attempted(() => sourcesByName(tables));
  return new Map(
    asking.flatMap(({ autoscaler: { record, spec }, objectUid, generation }) => {
      const price = priceOf(sourceUses(spec), cluster.syncPeriodMs, ({ query }) => {
        const source = sources.get(query.source);
        const place = { cluster: cluster.name, namespace: record.namespace };
        return source && mayAsk(source, place) ? source : undefined;
      });
      if (!price) return [];
      return [[record.uid, costObjectEvent({ uid: objectUid, generation }, price, nowMs)] as const];
    }),
  );
};

const sourcesByName = async (tables: Tables): Promise<ReadonlyMap<string, MetricSourceRecord>> => {
  const sources = new Map<string, MetricSourceRecord>();
  for await (const item of listMetricSources(tables))
    if (item.kind === "read") sources.set(item.record.name, item.record);
  return sources;
};
