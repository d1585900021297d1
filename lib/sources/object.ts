import { group, type ReadOf, words } from "../fields/field-types.ts";
import { invalid, required } from "../fields/problem.ts";
import { groupOf } from "../model/spec-common.ts";
import { isObject } from "../model/is-object.ts";
import { valuesIn } from "../model/observation.ts";
import { queryKey } from "../model/query.ts";
import type { DescribedObject, MetricIdentifier } from "../model/spec-hpa.ts";
import { CUSTOM_METRICS, customValue } from "./custom-metrics.ts";
import { IDENTIFIER_FIELDS, identifierOf, identifierStatus, metricSelectorText, selectorParameter } from "./metric-identifier.ts";
import { failure, type MetricSource, NOT_ASKED, type SourceRule } from "./source.ts";

declare module "../model/spec-native.ts" {
  interface NativeSources {
    readonly Object: { readonly describedObject: DescribedObject; readonly metric: MetricIdentifier };
  }
}

/** A question to custom.metrics.k8s.io about one object of the namespace. `group` is empty for the core group. */
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
      apiVersion: words("Its API version."),
      kind: words("Its kind.", { required: true, segment: true }),
      name: words("Its name. The namespace of the autoscaler itself (kind: Namespace) needs none.", { segment: true }),
    },
    { required: true },
  ),
  ...IDENTIFIER_FIELDS,
};

export interface ObjectSpec {
  readonly type: "Object";
  readonly describedObject: DescribedObject;
  readonly metric: MetricIdentifier;
}

/** A described Namespace of the core group is always the namespace of the autoscaler, whatever name the metric has (hpa.md 2.5). */
export const objectQuery = (metric: MetricIdentifier, { apiVersion, kind, name }: DescribedObject, namespace: string): ObjectQuery | undefined => {
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

const describedVersion: SourceRule = {
  says: "object.describedObject.apiVersion must be group/version, such as networking.k8s.io/v1",
  cel: "!has(self.object) || !has(self.object.describedObject.apiVersion) || self.object.describedObject.apiVersion.matches('^[^/]*(/[^/]*)?$')",
  problems: ({ object }, path) => {
    const described = isObject(object) && isObject(object["describedObject"]) ? object["describedObject"] : {};
    const { apiVersion } = described;
    return groupOf(typeof apiVersion === "string" ? apiVersion : "") === undefined
      ? [invalid(`${path}.object.describedObject.apiVersion`, "must be group/version", "write group/version, such as networking.k8s.io/v1")]
      : [];
  },
};

const isNamespace = (described: Readonly<Record<string, unknown>>): boolean =>
  described["kind"] === "Namespace" && groupOf(typeof described["apiVersion"] === "string" ? described["apiVersion"] : "") === "";

const describedName: SourceRule = {
  says: "object.describedObject.name is required, but of the namespace of the autoscaler itself (kind: Namespace)",
  cel: "!has(self.object) || has(self.object.describedObject.name) || (self.object.describedObject.kind == 'Namespace' && (!has(self.object.describedObject.apiVersion) || !self.object.describedObject.apiVersion.contains('/')))",
  problems: ({ object }, path) => {
    const described = isObject(object) && isObject(object["describedObject"]) ? object["describedObject"] : {};
    const hasName = described["name"] !== undefined || described["kind"] === undefined || isNamespace(described);
    return hasName ? [] : [required(`${path}.object.describedObject.name`, "", "write the name of the object")];
  },
};

/** A custom metric of one object of the namespace (hpa.md 2.5). */
export const OBJECT: MetricSource<ReadOf<typeof FIELDS>, ObjectSpec, ObjectQuery, readonly [bigint]> = {
  type: "Object",
  field: group("A custom metric of one object of the namespace.", FIELDS),
  rules: [describedVersion, describedName],
  measures: ["Total", "Average"],
  samplesOf: "whole",
  specOf: (read) => {
    const { apiVersion, kind = "", name = "" } = read.describedObject ?? {};
    return { type: "Object", describedObject: { ...(apiVersion && { apiVersion }), kind, name }, metric: identifierOf(read) };
  },
  defaultName: ({ metric }) => metric,
  nameOf: ({ describedObject, metric }) => `${describedObject.kind} metric ${metric.name}`,
  queryOf: ({ metric, describedObject }, { namespace }) => objectQuery(metric, describedObject, namespace),
  asking: {
    way: "each",
    // A Namespace of the core group has its own path; every other object is in the namespace of the autoscaler (hpa.md 2.5).
    request: ({ metric, metricSelector, group: apiGroup, kind, name }, namespace) => {
      const parameters = selectorParameter("metricLabelSelector", metricSelector);
      return kind === "Namespace" && apiGroup === ""
        ? { ...CUSTOM_METRICS, namespace: name, path: ["metrics", metric], parameters, resource: "namespaces" }
        : { ...CUSTOM_METRICS, namespace, kind: { group: apiGroup, kind }, path: [name, metric], parameters, resource: "" };
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
      return unable(`the custom metrics API server returned ${answer.items.length} results when we asked for exactly one`);
    return [only.milli];
  },
  statusOf: ({ metric, describedObject }, current) => ({
    type: "Object",
    object: { metric: identifierStatus(metric), describedObject, current },
  }),
};
