import type { MetricAnswers, PodMetrics } from "../../../model/observation.ts";
import type { Selector } from "../../../model/selector.ts";
import { NOT_ASKED } from "./measurement.ts";
import { type Failure, failure } from "./outcome.ts";

/** The PodMetrics of the target. The API answers a label query: it selects by the labels of the PodMetrics, not of the pods. */
export const selectedPodMetrics = ({ resource }: MetricAnswers, podSelector: Selector): readonly PodMetrics[] | Failure => {
  if (resource === undefined) return failure(NOT_ASKED);
  if (resource.kind === "failed") return failure(`unable to fetch metrics from resource metrics API: ${resource.failure.message}`);
  const selected = resource.items.select(podSelector);
  return selected.length === 0 ? failure("no metrics returned from resource metrics API") : selected;
};
