import { demandAt } from "../traces/trace.ts";
import type { NamedMetric } from "./definition.ts";
import { CONTAINER, isoTime, podLabels } from "./kube-objects.ts";
import type { KubeObject } from "./list-selectors.ts";
import { isDark, lastScrapeMs, type PodUsage, RESOLUTION_MS } from "./reading.ts";
import { openSegment } from "./simulated-workload.ts";
import type { SimulatedWorkload } from "./simulation.ts";

/**
 * The metric that the custom and the external API know: what the trace asks for, in its own unit.
 */
export const DEMAND_METRIC = "demand";

const BYTES_PER_KIBIBYTE = 1024;

export const podMetrics = (
  { model }: SimulatedWorkload,
  usage: PodUsage,
  nowMs: number,
): KubeObject => ({
  metadata: {
    name: usage.pod.name,
    namespace: model.namespace,
    creationTimestamp: isoTime(nowMs),
    labels: podLabels(model),
  },
  timestamp: isoTime(usage.timestampMs),
  window: `${usage.windowMs / 1000}s`,
  containers: [
    {
      name: CONTAINER,
      usage: {
        cpu: `${usage.cpuNanocores}n`,
        memory: `${Math.ceil(usage.memoryBytes / BYTES_PER_KIBIBYTE)}Ki`,
      },
    },
  ],
});

/** One value of the custom metrics API before its version decides how it is written. */
export interface CustomValue {
  readonly describes: {
    readonly kind: string;
    readonly namespace: string;
    readonly name: string;
    readonly apiVersion: string;
  };
  readonly milli: number;
}

/**
 * How a workload serves a metric; undefined where no manifest asks it of this workload. `selector`:
 * of an external metric.
 */
export const servedMetric = (
  { model }: SimulatedWorkload,
  metric: string,
  selector?: string,
): Pick<NamedMetric, "trace"> | undefined =>
  metric === DEMAND_METRIC
    ? {}
    : model.metrics.find(
        (one) => one.name === metric && (selector === undefined || one.selector === selector),
      );

/** What a metric counts of a workload now; undefined while there is no sample of it. */
const amountOf = (
  { model, state }: SimulatedWorkload,
  { trace }: Pick<NamedMetric, "trace">,
  nowMs: number,
): number | undefined => {
  if (isDark(model, lastScrapeMs(nowMs))) return undefined;
  if (!trace) return openSegment(state).demand;
  const { value, missing } = demandAt(trace, lastScrapeMs(nowMs) - model.startMs);
  return missing ? undefined : value;
};

/** What a metric counts on each ready pod of a workload; nothing while its metrics are dark. */
export const podDemand = (
  workload: SimulatedWorkload,
  metric: string,
  nowMs: number,
): readonly CustomValue[] => {
  const named = servedMetric(workload, metric);
  const amount = named && amountOf(workload, named, nowMs);
  if (amount === undefined) return [];
  const { namespace } = workload.model;
  const ready = workload.live.filter((pod) => pod.readyMs <= nowMs);
  const each = named?.trace ? amount / ready.length : openSegment(workload.state).load.perPod;
  return ready.map(({ name }) => ({
    describes: { kind: "Pod", namespace, name, apiVersion: "/v1" },
    milli: Math.round(each * 1000),
  }));
};

/**
 * A metric of any other object, for the workload whose manifest asks it; nothing while its metrics
 * are dark.
 */
export const objectMetric = (
  workload: SimulatedWorkload,
  metric: string,
  nowMs: number,
): number | undefined => {
  const named = servedMetric(workload, metric);
  const amount = named && amountOf(workload, named, nowMs);
  return amount === undefined ? undefined : Math.round(amount * 1000);
};

/**
 * The demand on a whole workload, described by its deployment; nothing while its metrics are dark.
 */
export const workloadDemand = (
  workload: SimulatedWorkload,
  nowMs: number,
): readonly CustomValue[] => {
  const milli = objectMetric(workload, DEMAND_METRIC, nowMs);
  const { namespace, name } = workload.model;
  return milli === undefined
    ? []
    : [{ describes: { kind: "Deployment", namespace, name, apiVersion: "apps/v1" }, milli }];
};

/** The two versions of the API name the metric and its window differently. */
export const customMetricList = (
  version: string,
  metric: string,
  values: readonly CustomValue[],
  nowMs: number,
) => ({
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

export const externalMetric = (
  workload: SimulatedWorkload,
  metric: string,
  { nowMs, selector }: { readonly nowMs: number; readonly selector: string },
) => {
  const { model } = workload;
  const named = servedMetric(workload, metric, selector);
  const amount = named && amountOf(workload, named, nowMs);
  if (amount === undefined) return undefined;
  return {
    metricName: metric,
    metricLabels: { workload: model.name, unit: named?.trace?.unit ?? model.trace.unit },
    timestamp: isoTime(lastScrapeMs(nowMs)),
    window: RESOLUTION_MS / 1000,
    value: `${Math.round(amount * 1000)}m`,
  };
};

/** With its group, as the controller asks. */
export const DEPLOYMENTS = "deployments.apps";
