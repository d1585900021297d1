import { group } from "../fields/field-types.ts";
import { valuesIn } from "../model/observation.ts";
import { queryKey } from "../model/query.ts";
import { canonicalSelector, selectorOf } from "../model/selector.ts";
import type { MetricIdentifier } from "../model/spec-hpa.ts";
import type { NativeSourceOf } from "../model/spec-native.ts";
import {
  CUSTOM_METRICS,
  customValue,
  IDENTIFIER_FIELDS,
  type IdentifierRead,
  identifierOf,
  identifierStatus,
  metricSelectorText,
  selectorParameter,
} from "./metric-identifier.ts";
import { failure, type MetricSource, NOT_ASKED, type PodSamples } from "./source.ts";

declare module "../model/spec-native.ts" {
  interface NativeSources {
    readonly Pods: { readonly metric: MetricIdentifier };
  }
}

/**
 * A question to custom.metrics.k8s.io about the pods that a selector matches. Selectors are
 * canonical text. An empty selector matches everything.
 */
export interface PodsQuery {
  readonly for: "pods";
  readonly metric: string;
  readonly metricSelector: string;
  readonly podSelector: string;
}

export const podsQuery = (metric: MetricIdentifier, podSelector: string): PodsQuery | undefined => {
  const metricSelector = metricSelectorText(metric);
  return metricSelector === undefined
    ? undefined
    : { for: "pods", metric: metric.name, metricSelector, podSelector };
};

/** A custom metric of every pod of the workload (hpa.md 2.5). */
export const PODS: MetricSource<IdentifierRead, NativeSourceOf<"Pods">, PodsQuery, PodSamples> = {
  type: "Pods",
  field: group("A custom metric of each pod.", IDENTIFIER_FIELDS),
  measures: ["Average"],
  samplesOf: "pods",
  specOf: (read) => ({ type: "Pods", metric: identifierOf(read) }),
  namedBy: ["metric"],
  nameOf: ({ metric }) => `pods metric ${metric.name}`,
  queryOf: ({ metric }, { podSelector }) =>
    podSelector === undefined ? undefined : podsQuery(metric, podSelector),
  asking: {
    way: "each",
    request: ({ metric, metricSelector, podSelector }, namespace) => ({
      ...CUSTOM_METRICS,
      namespace,
      path: ["pods", "*", metric],
      parameters: {
        ...selectorParameter("labelSelector", podSelector),
        ...selectorParameter("metricLabelSelector", metricSelector),
      },
      resource: "pods",
    }),
    read: customValue,
  },
  samples: ({ metric }, { answers, podSelector }) => {
    const selector = selectorOf(metric.selector);
    if (selector.kind === "invalid") return failure(selector.message);
    const query = podsQuery(metric, canonicalSelector(podSelector));
    const answer = query && valuesIn(answers, queryKey(query));
    if (answer === undefined) return failure(NOT_ASKED);
    if (answer.kind === "failed")
      return failure(`unable to fetch metrics from custom metrics API: ${answer.failure.message}`);
    if (answer.items.length === 0) return failure("no metrics returned from custom metrics API");
    return new Map(
      answer.items.map(({ describes = "", milli, timestampMs, windowMs = 0 }) => [
        describes,
        { milli, timestampMs, windowMs },
      ]),
    );
  },
  statusOf: ({ metric }, current) => ({
    type: "Pods",
    pods: { metric: identifierStatus(metric), current },
  }),
};
