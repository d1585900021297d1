import type { ScaleReading } from "../../model/observation.ts";
import { type CustomQuery, type ExternalQuery, externalQuery, objectQuery, podSelectorText, podsQuery, type Questions } from "../../model/query.ts";
import type { HpaMetric } from "../../model/spec-hpa.ts";

/** The queries of metrics in the words of autoscaling/v2. */
export const hpaQuestions = (metrics: readonly HpaMetric[], namespace: string, scale: ScaleReading): Questions => {
  const custom: CustomQuery[] = [];
  const external: ExternalQuery[] = [];
  const podSelector = podSelectorText(scale);
  for (const metric of metrics) {
    if (metric.type === "External") external.push(...asList(externalQuery(metric.metric)));
    if (metric.type === "Object") custom.push(...asList(objectQuery(metric.metric, metric.describedObject, namespace)));
    if (metric.type === "Pods" && podSelector !== undefined) custom.push(...asList(podsQuery(metric.metric, podSelector)));
  }
  return { podMetrics: metrics.some(needsPodMetrics), pods: metrics.some(needsPods), custom, external };
};

/** A query that cannot be asked is left out: its metric fails when it is decided. */
export const asList = <Item>(item: Item | undefined): readonly Item[] => (item === undefined ? [] : [item]);

const needsPodMetrics = (metric: HpaMetric): boolean => metric.type === "Resource" || metric.type === "ContainerResource";

/** Averages of Object and External metrics use no pods (hpa.md 3.7), and neither do their watermarks. */
const needsPods = (metric: HpaMetric): boolean => {
  switch (metric.type) {
    case "Resource":
    case "ContainerResource":
    case "Pods":
      return true;
    case "Object":
      return metric.marks === undefined && metric.target.type === "Value";
    case "External":
      return metric.marks === undefined && metric.target.averageValueMilli === undefined;
  }
};
