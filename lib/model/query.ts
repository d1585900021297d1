import type { ScaleReading } from "./observation.ts";
import { canonicalSelector, selectorOf } from "./selector.ts";
import { parseSelector } from "./selector-text.ts";
import type { AutoscalerSpec } from "./spec.ts";
import type { DescribedObject, HpaMetric, MetricIdentifier } from "./spec-hpa.ts";
import { asHpaMetric } from "./spec-native.ts";
import type { WatermarkSpec } from "./spec-watermark.ts";

/** A query to custom.metrics.k8s.io about the pods that a selector matches. Selectors are canonical text. An empty selector matches everything. */
export interface PodsQuery {
  readonly for: "pods";
  readonly metric: string;
  readonly metricSelector: string;
  readonly podSelector: string;
}

/** A query to custom.metrics.k8s.io about one object of the namespace. `group` is empty for the core group. */
export interface ObjectQuery {
  readonly for: "object";
  readonly metric: string;
  readonly metricSelector: string;
  readonly group: string;
  readonly kind: string;
  readonly name: string;
}

export interface ExternalQuery {
  readonly for: "external";
  readonly metric: string;
  readonly metricSelector: string;
}

export type CustomQuery = PodsQuery | ObjectQuery;
export type MetricQuery = CustomQuery | ExternalQuery;

/** What a sync must ask before it can decide an autoscaler. */
export interface Questions {
  /** True when the PodMetrics of the namespace are needed. */
  readonly podMetrics: boolean;
  /** True when a metric needs the pods of the namespace. The search for overlapping selectors needs them too, where the namespace has another autoscaler. */
  readonly pods: boolean;
  readonly custom: readonly CustomQuery[];
  readonly external: readonly ExternalQuery[];
}

/** Key of a query inside its namespace. Equal queries are sent once. */
export const queryKey = (query: MetricQuery): string => {
  switch (query.for) {
    case "pods":
      return JSON.stringify(["pods", query.metric, query.metricSelector, query.podSelector]);
    case "object":
      return JSON.stringify(["object", query.metric, query.metricSelector, query.group, query.kind, query.name]);
    case "external":
      return JSON.stringify(["external", query.metric, query.metricSelector]);
  }
};

/**
 * The queries of one autoscaler. A metric with an unreadable selector has no query, and fails when it is decided. Without a readable selector of the target there
 * is no query about its pods. `namespace` is that of the autoscaler.
 */
export const questions = (spec: AutoscalerSpec, namespace: string, scale: ScaleReading): Questions => {
  switch (spec.dialect) {
    case "hpa":
      return hpaQuestions(spec.metrics, namespace, scale);
    case "watermark":
      return watermarkQuestions(spec);
    case "tidemark":
      // The level that a value is compared with changes no query.
      return hpaQuestions(
        spec.metrics.map((metric) => asHpaMetric(metric, 0n)),
        namespace,
        scale,
      );
  }
};

/** Every source counts ready pods (watermark.md 2.4). Usage comes from metrics.k8s.io. */
const watermarkQuestions = ({ metrics, recommender, counts }: WatermarkSpec): Questions => ({
  pods: counts === "ready" && (metrics.length > 0 || recommender !== undefined),
  podMetrics: metrics.some(({ source }) => source === "Resource"),
  custom: [],
  external: metrics.filter(({ source }) => source === "External").flatMap((metric) => asList(externalQuery(metric))),
});

const hpaQuestions = (metrics: readonly HpaMetric[], namespace: string, scale: ScaleReading): Questions => {
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

const asList = <Item>(item: Item | undefined): readonly Item[] => (item === undefined ? [] : [item]);

/** Canonical text of the selector in a scale; `undefined` when it is empty or cannot be read. */
export const podSelectorText = (scale: ScaleReading): string | undefined => {
  if (scale.kind === "failed" || scale.selector === "") return undefined;
  const reading = parseSelector(scale.selector);
  return reading.kind === "selector" ? canonicalSelector(reading.selector) : undefined;
};

const metricSelectorText = ({ selector }: MetricIdentifier): string | undefined => {
  const reading = selectorOf(selector);
  return reading.kind === "selector" ? canonicalSelector(reading.selector) : undefined;
};

export const podsQuery = (metric: MetricIdentifier, podSelector: string): PodsQuery | undefined => {
  const metricSelector = metricSelectorText(metric);
  return metricSelector === undefined ? undefined : { for: "pods", metric: metric.name, metricSelector, podSelector };
};

/** A described Namespace of the core group is always the namespace of the autoscaler, whatever name the metric has (hpa.md 2.5). */
export const objectQuery = (metric: MetricIdentifier, { apiVersion, kind, name }: DescribedObject, namespace: string): ObjectQuery | undefined => {
  const metricSelector = metricSelectorText(metric);
  if (metricSelector === undefined) return undefined;
  const group = groupOf(apiVersion ?? "");
  return { for: "object", metric: metric.name, metricSelector, group, kind, name: kind === "Namespace" && group === "" ? namespace : name };
};

export const externalQuery = (metric: MetricIdentifier): ExternalQuery | undefined => {
  const metricSelector = metricSelectorText(metric);
  return metricSelector === undefined ? undefined : { for: "external", metric: metric.name, metricSelector };
};

/** Group of an apiVersion: "apps/v1" → "apps", "v1" → "". */
export const groupOf = (apiVersion: string): string => (apiVersion.includes("/") ? apiVersion.slice(0, apiVersion.indexOf("/")) : "");

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
