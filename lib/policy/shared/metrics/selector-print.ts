import type { LabelSelector } from "../../../model/selector.ts";

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
