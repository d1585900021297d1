import { matches } from "../../model/selector.ts";
import { podLabels } from "./kube-objects.ts";
import { parseLabelSelector } from "./list-selectors.ts";
import { customMetricList, DEMAND_METRIC, DEPLOYMENTS, externalMetric, podDemand, workloadDemand } from "./metrics-objects.ts";
import { isDark, lastScrapeMs } from "./scrape.ts";
import { type World, within } from "./served-resources.ts";
import { metricNotFound } from "./status.ts";

/** `GET /apis/custom.metrics.k8s.io/VERSION/namespaces/NAMESPACE/RESOURCE/NAME/METRIC`; a name of "*" asks for all that the labelSelector selects. */
export const customMetrics = (world: World, version: string, path: readonly string[], query: URLSearchParams): unknown => {
  const [namespace = "", resource = "", name = "", metric = ""] = path;
  const known = metric === DEMAND_METRIC && (resource === "pods" || resource === DEPLOYMENTS);
  if (resource === "metrics" && path.length === 3) throw metricNotFound(name, "namespaces");
  if (path.length !== 4 || !known) throw metricNotFound(metric, resource);
  const labelled = parseLabelSelector(query.get("labelSelector") ?? "");
  const { nowMs, workloads } = within(world, namespace);
  const selected = workloads.filter(({ model }) => name !== "*" || matches(labelled, podLabels(model)));
  const values = selected.flatMap((workload) => (resource === "pods" ? podDemand(workload, nowMs) : workloadDemand(workload, nowMs)));
  const named = name === "*" ? values : values.filter(({ describes }) => describes.name === name);
  if (named.length === 0 && name !== "*") throw metricNotFound(metric, `${resource} ${name}`);
  return customMetricList(version, metric, named, nowMs);
};

/** `GET /apis/external.metrics.k8s.io/v1beta1/namespaces/NAMESPACE/METRIC`: the demand on each workload of the namespace that the labelSelector selects. */
export const externalMetrics = (world: World, path: readonly string[], query: URLSearchParams): unknown => {
  const [namespace = "", metric = ""] = path;
  if (path.length !== 2 || metric !== DEMAND_METRIC) throw metricNotFound(metric, "external metrics");
  const labelled = parseLabelSelector(query.get("labelSelector") ?? "");
  const items = within(world, namespace)
    .workloads.filter(({ model }) => !isDark(model, lastScrapeMs(world.nowMs)))
    .map((workload) => externalMetric(workload, world.nowMs))
    .filter(({ metricLabels }) => matches(labelled, metricLabels));
  return { kind: "ExternalMetricValueList", apiVersion: "external.metrics.k8s.io/v1beta1", metadata: {}, items };
};
