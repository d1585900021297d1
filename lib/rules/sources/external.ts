import { group } from "../fields/field-types.ts";
import { valuesIn } from "../model/observation.ts";
import { queryKey } from "../model/query.ts";
import { readTime } from "../model/json.ts";
import { selectorOf } from "../model/selector.ts";
import type { MetricIdentifier } from "../model/spec-hpa.ts";
import type { NativeSourceOf } from "../model/spec-native.ts";
import {
  IDENTIFIER_FIELDS,
  type IdentifierRead,
  identifierOf,
  identifierStatus,
  metricSelectorText,
  printSelector,
  selectorParameter,
} from "./metric-identifier.ts";
import { failure, type MetricSource, NOT_ASKED } from "./source.ts";

declare module "../model/spec-native.ts" {
  interface NativeSources {
    readonly External: { readonly metric: MetricIdentifier };
  }
}

/** A question to external.metrics.k8s.io. */
export interface ExternalQuery {
  readonly for: "external";
  readonly metric: string;
  readonly metricSelector: string;
}

export const externalQuery = (metric: MetricIdentifier): ExternalQuery | undefined => {
  const metricSelector = metricSelectorText(metric);
  return metricSelector === undefined
    ? undefined
    : { for: "external", metric: metric.name, metricSelector };
};

/** A metric of something outside the cluster: the values of all its series (hpa.md 2.5). */
export const EXTERNAL: MetricSource<
  IdentifierRead,
  NativeSourceOf<"External">,
  ExternalQuery,
  readonly bigint[]
> = {
  type: "External",
  field: group("A metric of something outside the cluster.", IDENTIFIER_FIELDS),
  measures: ["Total", "Average"],
  samplesOf: "whole",
  specOf: (read) => ({ type: "External", metric: identifierOf(read) }),
  namedBy: ["metric"],
  nameOf: ({ metric }) => `external metric ${metric.name}`,
  queryOf: ({ metric }) => externalQuery(metric),
  asking: {
    way: "each",
    request: ({ metric, metricSelector }, namespace) => ({
      group: "external.metrics.k8s.io",
      versions: ["v1beta1"],
      namespace,
      path: [metric],
      parameters: selectorParameter("labelSelector", metricSelector),
      resource: metric,
    }),
    read: (value, milli) => ({ milli, timestampMs: readTime(value["timestamp"]) ?? 0 }),
  },
  samples: ({ metric }, { answers, namespace }) => {
    const selector = selectorOf(metric.selector);
    if (selector.kind === "invalid") return failure(selector.message);
    const query = externalQuery(metric);
    const answer = query && valuesIn(answers, queryKey(query));
    const unable = (cause: string) =>
      failure(
        `unable to get external metric ${namespace}/${metric.name}/${printSelector(metric.selector)}: ${cause}`,
      );
    if (answer === undefined) return unable(NOT_ASKED);
    if (answer.kind === "failed")
      return unable(`unable to fetch metrics from external metrics API: ${answer.failure.message}`);
    return answer.items.length === 0
      ? unable("no metrics returned from external metrics API")
      : answer.items.map(({ milli }) => milli);
  },
  statusOf: ({ metric }, current) => ({
    type: "External",
    external: { metric: identifierStatus(metric), current },
  }),
};
