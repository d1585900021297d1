import { group, type ReadOf, words } from "../fields/field-types.ts";
import { all, any, is, matches, type Rule, isSet } from "../fields/rule.ts";
import { groupOf } from "../model/spec-common.ts";
import { valuesIn } from "../model/observation.ts";
import { queryKey } from "../model/query.ts";
import type { DescribedObject, MetricIdentifier } from "../model/spec-hpa.ts";
import type { NativeSourceOf } from "../model/spec-native.ts";
import {
  CUSTOM_METRICS,
  customValue,
  IDENTIFIER_FIELDS,
  identifierOf,
  identifierStatus,
  metricSelectorText,
  selectorParameter,
  type IdentifierRead,
} from "./metric-identifier.ts";
import { failure, type MetricSource, NOT_ASKED } from "./source.ts";

declare module "../model/spec-native.ts" {
  interface NativeSources {
    readonly Object: {
      readonly describedObject: DescribedObject;
      readonly metric: MetricIdentifier;
    };
  }
}

/**
 * A question to custom.metrics.k8s.io about one object of the namespace. `group` is empty for the
 * core group.
 */
export interface ObjectQuery {
  readonly for: "object";
  readonly metric: string;
  readonly metricSelector: string;
  readonly group: string;
  readonly kind: string;
  readonly name: string;
}

const FIELDS = {
  describedObject: group(
    "The object.",
    {
      apiVersion: words("Its API version.", {
        form: {
          pattern: "^[^/]*(/[^/]*)?$",
          detail: "must be group/version",
          fix: "write group/version, such as networking.k8s.io/v1",
        },
      }),
      kind: words("Its kind.", { required: true, segment: true }),
      name: words(
        "Its name. The namespace of the autoscaler itself (kind: Namespace) needs none.",
        { segment: true },
      ),
    },
    { required: true },
  ),
  ...IDENTIFIER_FIELDS,
};

/**
 * A described Namespace of the core group is always the namespace of the autoscaler, whatever name
 * the metric has (hpa.md 2.5).
 */
export const objectQuery = (
  metric: MetricIdentifier,
  { apiVersion, kind, name }: DescribedObject,
  namespace: string,
): ObjectQuery | undefined => {
  const metricSelector = metricSelectorText(metric);
  if (metricSelector === undefined) return undefined;
  const apiGroup = groupOf(apiVersion) ?? "";
  return {
    for: "object",
    metric: metric.name,
    metricSelector,
    group: apiGroup,
    kind,
    name: kind === "Namespace" && apiGroup === "" ? namespace : name,
  };
};

/** The namespace of the autoscaler itself, of the core group, is described by its kind. */
const describedName: Rule = {
  when: isSet("object.describedObject"),
  needs: any(
    isSet("object.describedObject.name"),
    all(
      is("object.describedObject.kind", "Namespace"),
      matches("object.describedObject.apiVersion", "^[^/]*$"),
    ),
  ),
  at: "object.describedObject.name",
  type: "FieldValueRequired",
  says: "object.describedObject.name must be set, but for the namespace of the autoscaler itself (kind: Namespace)",
  detail: "",
  fix: "write the name of the object",
};

/** A custom metric of one object of the namespace (hpa.md 2.5). */
export const OBJECT: MetricSource<
  ReadOf<typeof FIELDS>,
  NativeSourceOf<"Object">,
  ObjectQuery,
  readonly [bigint]
> = {
  type: "Object",
  field: group("A custom metric of one object of the namespace.", FIELDS),
  rules: [describedName],
  measures: ["Total", "Average"],
  samplesOf: "whole",
  specOf: (read) => {
    const { apiVersion, kind = "", name = "" } = read.describedObject ?? {};
    return {
      type: "Object",
      describedObject: { ...(apiVersion && { apiVersion }), kind, name },
      metric: identifierOf(read),
    };
  },
  namedBy: ["metric"],
  nameOf: ({ describedObject, metric }) => `${describedObject.kind} metric ${metric.name}`,
  queryOf: ({ metric, describedObject }, { namespace }) =>
    objectQuery(metric, describedObject, namespace),
  asking: {
    way: "each",
    // A Namespace of the core group has its own path; every other object is in the namespace of the
    // autoscaler (hpa.md 2.5).
    request: ({ metric, metricSelector, group: apiGroup, kind, name }, namespace) => {
      const parameters = selectorParameter("metricLabelSelector", metricSelector);
      return kind === "Namespace" && apiGroup === ""
        ? {
            ...CUSTOM_METRICS,
            namespace: name,
            path: ["metrics", metric],
            parameters,
            resource: "namespaces",
          }
        : {
            ...CUSTOM_METRICS,
            namespace,
            kind: { group: apiGroup, kind },
            path: [name, metric],
            parameters,
            resource: "",
          };
    },
    read: customValue,
  },
  samples: ({ metric, describedObject }, { answers, namespace }) => {
    const query = objectQuery(metric, describedObject, namespace);
    const answer = query && valuesIn(answers, queryKey(query));
    const unable = (cause: string) =>
      failure(
        `unable to get metric ${metric.name} on ${describedObject.kind} ${namespace}/${describedObject.name}: unable to fetch metrics from custom metrics API: ${cause}`,
      );
    if (answer === undefined) return unable(NOT_ASKED);
    if (answer.kind === "failed") return unable(answer.failure.message);
    const [only, ...more] = answer.items;
    if (only === undefined || more.length > 0)
      return unable(
        `the custom metrics API server returned ${answer.items.length} results when we asked for exactly one`,
      );
    return [only.milli];
  },
  statusOf: ({ metric, describedObject }, current) => ({
    type: "Object",
    object: { metric: identifierStatus(metric), describedObject, current },
  }),
};

const { rules: _ofTheObject, ...ofObject } = OBJECT;

/**
 * A custom metric of an object in the namespace of the autoscaler; the question fills in the name
 * of the object.
 */
export const NAMESPACE: MetricSource<
  IdentifierRead,
  NativeSourceOf<"Object">,
  ObjectQuery,
  readonly [bigint]
> = {
  ...ofObject,
  namedBy: ["metric"],
  field: group("A custom metric of the namespace itself.", IDENTIFIER_FIELDS),
  specOf: (read) => ({
    type: "Object",
    describedObject: { apiVersion: "v1", kind: "Namespace", name: "" },
    metric: identifierOf(read),
  }),
};
