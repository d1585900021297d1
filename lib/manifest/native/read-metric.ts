import { floatOf, milliOf, type Quantity } from "../../model/quantity.ts";
import type { LabelSelector } from "../../model/selector.ts";
import type { MetricIdentifier } from "../../model/spec-hpa.ts";
import type { Band, NativeMetric, NativeSource, OnMissing } from "../../model/spec-native.ts";
import type { MetricRead } from "./spec-fields.ts";

export const SOURCES = ["resource", "containerResource", "pods", "object", "external", "namespace"] as const;
export type SourceName = (typeof SOURCES)[number];

export const sourcesOf = (read: MetricRead): readonly SourceName[] => SOURCES.filter((name) => read[name] !== undefined);

export const measureOf = (read: MetricRead): NativeMetric["measure"] => {
  if (read.measure) return read.measure;
  if (read.resource || read.containerResource) return "Percent";
  return read.pods ? "Average" : "Total";
};

/** The given name, or the name of the source. */
export const nameOf = (read: MetricRead): string => {
  const { resource, containerResource, pods, object, external, namespace } = read;
  return read.name || (resource ?? containerResource)?.name || (pods ?? object ?? external ?? namespace)?.metric || "";
};

/** Converts a valid metric. Members that validation requires fall back to zero values. */
export const metricOf = (read: MetricRead): NativeMetric => ({
  name: nameOf(read),
  source: sourceOf(read),
  measure: measureOf(read),
  band: bandOf(read),
  scaleUpOnly: read.scaleUpOnly,
  onMissing: onMissingOf(read.onMissing),
  ...(read.activation && { activationMilli: milliOf(read.activation) }),
});

const sourceOf = ({ resource, containerResource, pods, object, external, namespace }: MetricRead): NativeSource => {
  if (containerResource) {
    const { name = "", container = "", of } = containerResource;
    return { type: "Resource", name, container, of };
  }
  if (pods) return { type: "Pods", metric: identifier(pods) };
  if (object) {
    const { apiVersion, kind = "", name = "" } = object.describedObject ?? {};
    return { type: "Object", describedObject: { ...(apiVersion && { apiVersion }), kind, name }, metric: identifier(object) };
  }
  if (external) return { type: "External", metric: identifier(external) };
  // The namespace is the autoscaler's own; the question fills in its name.
  if (namespace) return { type: "Object", describedObject: { apiVersion: "v1", kind: "Namespace", name: "" }, metric: identifier(namespace) };
  return { type: "Resource", name: resource?.name ?? "", of: resource?.of ?? "request" };
};

type Identified = NonNullable<MetricRead["pods"]>;

const identifier = ({ metric = "", selector }: Identified): MetricIdentifier => ({ name: metric, ...(selector && { selector: labelsOf(selector) }) });

const labelsOf = ({ matchLabels, matchExpressions }: NonNullable<Identified["selector"]>): LabelSelector => ({
  ...(matchLabels && { matchLabels }),
  ...(matchExpressions && {
    matchExpressions: matchExpressions.map(({ key = "", operator = "", values }) => ({ key, operator, ...(values && { values }) })),
  }),
});

const level = (quantity: Quantity | undefined): bigint => (quantity ? milliOf(quantity) : 0n);

const bandOf = ({ target, tolerance, watermarks }: MetricRead): Band => {
  if (watermarks) return { kind: "watermarks", lowMilli: level(watermarks.low), highMilli: level(watermarks.high) };
  return {
    kind: "target",
    milli: level(target),
    ...(tolerance?.up && { toleranceUp: floatOf(tolerance.up) }),
    ...(tolerance?.down && { toleranceDown: floatOf(tolerance.down) }),
  };
};

const onMissingOf = ({ action, replicas = 1, afterSeconds = 0 }: MetricRead["onMissing"]): OnMissing =>
  action === "fallback" ? { action, replicas, afterSeconds } : { action };
