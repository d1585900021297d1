import { CONTAINER, isoTime, podLabels } from "./kube-objects.ts";
import type { KubeObject } from "./list-selectors.ts";
import { isDark, lastScrapeMs, type PodUsage, RESOLUTION_MS } from "./scrape.ts";
import { openSegment } from "./simulated-workload.ts";
import type { SimulatedWorkload } from "./simulation.ts";

/** The metric that the custom and the external API know: what the trace asks for, in its own unit. */
export const DEMAND_METRIC = "demand";

const BYTES_PER_KIBIBYTE = 1024;

export const podMetrics = ({ model }: SimulatedWorkload, usage: PodUsage, nowMs: number): KubeObject => ({
  metadata: { name: usage.pod.name, namespace: model.namespace, creationTimestamp: isoTime(nowMs), labels: podLabels(model) },
  timestamp: isoTime(usage.timestampMs),
  window: `${usage.windowMs / 1000}s`,
  containers: [{ name: CONTAINER, usage: { cpu: `${usage.cpuNanocores}n`, memory: `${Math.ceil(usage.memoryBytes / BYTES_PER_KIBIBYTE)}Ki` } }],
});

/** One value of the custom metrics API before its version decides how it is written. */
export interface CustomValue {
  readonly describes: { readonly kind: string; readonly namespace: string; readonly name: string; readonly apiVersion: string };
  readonly milli: number;
}

/** The demand on each ready pod of a workload; nothing while its metrics are dark. */
export const podDemand = (workload: SimulatedWorkload, nowMs: number): readonly CustomValue[] => {
  if (isDark(workload.model, lastScrapeMs(nowMs))) return [];
  const { namespace } = workload.model;
  const { load } = openSegment(workload.state);
  return workload.live
    .filter((pod) => pod.readyMs <= nowMs)
    .map(({ name }) => ({ describes: { kind: "Pod", namespace, name, apiVersion: "/v1" }, milli: Math.round(load.perPod * 1000) }));
};

/** The demand on a whole workload, described by its deployment; nothing while its metrics are dark. */
export const workloadDemand = ({ model, state }: SimulatedWorkload, nowMs: number): readonly CustomValue[] => {
  if (isDark(model, lastScrapeMs(nowMs))) return [];
  const describes = { kind: "Deployment", namespace: model.namespace, name: model.name, apiVersion: "apps/v1" };
  return [{ describes, milli: Math.round(openSegment(state).demand * 1000) }];
};

/** The two versions of the API name the metric and its window differently. */
export const customMetricList = (version: string, metric: string, values: readonly CustomValue[], nowMs: number) => ({
  kind: "MetricValueList",
  apiVersion: `custom.metrics.k8s.io/${version}`,
  metadata: {},
  items: values.map(({ describes, milli }) => ({
    describedObject: describes,
    ...(version === "v1beta1"
      ? { metricName: metric, window: RESOLUTION_MS / 1000 }
      : { metric: { name: metric, selector: null }, windowSeconds: RESOLUTION_MS / 1000 }),
    timestamp: isoTime(lastScrapeMs(nowMs)),
    value: `${milli}m`,
  })),
});

export const externalMetric = ({ model, state }: SimulatedWorkload, nowMs: number) => ({
  metricName: DEMAND_METRIC,
  metricLabels: { workload: model.name, unit: model.trace.unit },
  timestamp: isoTime(lastScrapeMs(nowMs)),
  window: RESOLUTION_MS / 1000,
  value: `${Math.round(openSegment(state).demand * 1000)}m`,
});

/** With its group, as the controller asks. */
export const DEPLOYMENTS = "deployments.apps";
