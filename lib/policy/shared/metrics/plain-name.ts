import { decimalText } from "../../../model/quantity.ts";
import type { LabelSelector } from "../../../model/selector.ts";
import type { HpaMetric, Marks } from "../../../model/spec-hpa.ts";

/** Name of a metric for people, whatever it is compared with. */
export const plainName = (metric: HpaMetric): string => {
  switch (metric.type) {
    case "Resource":
      return `${metric.name} resource`;
    case "ContainerResource":
      return `${metric.name} resource of container ${metric.container}`;
    case "Pods":
      return `pods metric ${metric.metric.name}`;
    case "Object":
      return `${metric.describedObject.kind} metric ${metric.metric.name}`;
    case "External":
      return `external metric ${metric.metric.name}`;
  }
};

/** Two watermarks as people read them: "150m..400m". */
export const marksText = ({ lowMilli, highMilli }: Marks): string => `${decimalText(lowMilli)}..${decimalText(highMilli)}`;

/** A metric's selector as the controller's messages print it (hpa.md 2.5): "nil", or a Go struct with labels sorted and expressions in the manifest's order. */
export const printSelector = (selector: LabelSelector | undefined): string => {
  if (selector === undefined) return "nil";
  const labels = Object.entries(selector.matchLabels ?? {})
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([key, value]) => `${key}: ${value},`)
    .join("");
  const expressions = (selector.matchExpressions ?? [])
    .map(({ key, operator, values = [] }) => `LabelSelectorRequirement{Key:${key},Operator:${operator},Values:[${values.join(" ")}],},`)
    .join("");
  return `&LabelSelector{MatchLabels:map[string]string{${labels}},MatchExpressions:[]LabelSelectorRequirement{${expressions}},}`;
};
