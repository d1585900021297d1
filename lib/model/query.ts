import { groupOf } from "./api-group.ts";
import type { ScaleReading } from "./observation.ts";
import { canonicalSelector, selectorOf } from "./selector.ts";
import { parseSelector } from "./selector-text.ts";
import type { DescribedObject, MetricIdentifier } from "./spec-hpa.ts";
import type { Recommender } from "./spec-watermark.ts";

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

/** What must be asked of an external recommender before its autoscaler can be decided. */
export interface RecommenderQuestion {
  readonly recommender: Recommender;
  readonly request: Readonly<Record<string, unknown>>;
}

/** Key of a query inside its namespace. Equal queries are sent once. */
export const queryKey = (query: MetricQuery): string => {
  switch (query.for) {
    case "pods":
      return JSON.stringify([query.for, query.metric, query.metricSelector, query.podSelector]);
    case "object":
      return JSON.stringify([query.for, query.metric, query.metricSelector, query.group, query.kind, query.name]);
    case "external":
      return JSON.stringify([query.for, query.metric, query.metricSelector]);
  }
};

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
  const group = groupOf(apiVersion) ?? "";
  return { for: "object", metric: metric.name, metricSelector, group, kind, name: kind === "Namespace" && group === "" ? namespace : name };
};

export const externalQuery = (metric: MetricIdentifier): ExternalQuery | undefined => {
  const metricSelector = metricSelectorText(metric);
  return metricSelector === undefined ? undefined : { for: "external", metric: metric.name, metricSelector };
};
