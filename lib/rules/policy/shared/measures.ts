import { queryKey } from "../../model/query.ts";
import { sourceOf } from "../../sources/sources.ts";
import type { MetricLevel } from "./levels.ts";

/** A selector that stands for the pods of the workload, whichever they are. */
const ITS_PODS = "app=any";

/**
 * What a metric measures: the same for metrics that read the same, whatever they compare it with. A
 * percentage says nothing of an amount, since nobody recorded what the pods ask for.
 */
export const measureKey = (
  { source, measure }: Pick<MetricLevel, "source" | "measure">,
  inside: string,
): string => {
  const query = sourceOf(source).queryOf(source, { namespace: inside, podSelector: ITS_PODS });
  const of = "of" in source ? source.of : "request";
  const own = "name" in source ? source.name : "";
  const container = "container" in source ? source.container : "";
  return JSON.stringify([
    query ? queryKey(query) : source.type,
    ...(measure === "Percent" ? ["percent", of] : []),
    ...[own, container],
  ]);
};
