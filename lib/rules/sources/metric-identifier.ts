import { choice, group, listField, type ReadOf, texts, words } from "../fields/field-types.ts";
import { canonicalSelector, type LabelSelector, selectorOf } from "../model/selector.ts";
import type { MetricIdentifier } from "../model/spec-hpa.ts";
import { asName, asObject, type Json, present, readTime } from "../model/json.ts";
import type { MetricValue } from "../model/observation.ts";

/**
 * A metric of the custom or the external metrics API in a manifest: its name, and the labels of its
 * series.
 */
export const IDENTIFIER_FIELDS = {
  metric: words("Name of the metric, as the metrics API knows it.", {
    required: true,
    segment: true,
  }),
  selector: group("Labels that the series of the metric must have.", {
    matchLabels: texts("The value of each label."),
    matchExpressions: listField(
      "Further conditions on labels.",
      group("One condition.", {
        key: words("The label.", { required: true }),
        operator: choice("How it is compared.", ["In", "NotIn", "Exists", "DoesNotExist"], {
          required: true,
        }),
        values: listField("Values of In and NotIn.", words("One value."), ""),
      }),
      {},
    ),
  }),
};

export type IdentifierRead = ReadOf<typeof IDENTIFIER_FIELDS>;

/** A selector as a manifest has it. Members that validation requires may be absent. */
interface SelectorRead {
  readonly matchLabels?: Readonly<Record<string, string>> | undefined;
  readonly matchExpressions?:
    | readonly {
        readonly key?: string | undefined;
        readonly operator?: string | undefined;
        readonly values?: readonly string[] | undefined;
      }[]
    | undefined;
}

export const identifierOf = ({ metric = "", selector }: IdentifierRead): MetricIdentifier => ({
  name: metric,
  ...(selector && { selector: labelSelectorOf(selector) }),
});

/** Keeps the order of the manifest, because messages print it. */
export const labelSelectorOf = ({ matchLabels, matchExpressions }: SelectorRead): LabelSelector =>
  present({
    matchLabels,
    matchExpressions: matchExpressions?.map(({ key = "", operator = "", values }) =>
      present({ key, operator, values }),
    ),
  });

/** The identifier as status shows it. */
export const identifierStatus = ({ name, selector }: MetricIdentifier): object =>
  selector === undefined ? { name } : { name, selector };

/** Canonical text of the selector of a metric; `undefined` where it cannot be read. */
export const metricSelectorText = ({ selector }: MetricIdentifier): string | undefined => {
  const reading = selectorOf(selector);
  return reading.kind === "selector" ? canonicalSelector(reading.selector) : undefined;
};

/** The parameter of a request with a selector; an empty selector is left out. */
export const selectorParameter = (name: string, text: string): Readonly<Record<string, string>> =>
  text === "" ? {} : { [name]: text };

/**
 * A metric's selector as the controller's messages print it (hpa.md 2.5): "nil", or a Go struct
 * with labels sorted and expressions in the manifest's order.
 */
export const printSelector = (selector: LabelSelector | undefined): string => {
  if (selector === undefined) return "nil";
  const labels = Object.entries(selector.matchLabels ?? {})
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([key, value]) => `${key}: ${value},`)
    .join("");
  const expressions = (selector.matchExpressions ?? [])
    .map(
      ({ key, operator, values = [] }) =>
        `LabelSelectorRequirement{Key:${key},Operator:${operator},Values:[${values.join(" ")}],},`,
    )
    .join("");
  return `&LabelSelector{MatchLabels:map[string]string{${labels}},MatchExpressions:[]LabelSelectorRequirement{${expressions}},}`;
};

/**
 * The API of the metrics of pods and objects. The newest version first, in the order of preference
 * of the controller.
 */
export const CUSTOM_METRICS = {
  group: "custom.metrics.k8s.io",
  versions: ["v1beta2", "v1beta1"],
  absent: "no custom metrics API (custom.metrics.k8s.io) registered",
} as const;

/** Window of a custom metric value without a window (hpa.md 2.5). */
const DEFAULT_WINDOW_MS = 60_000;

/** One item of a custom.metrics.k8s.io MetricValueList. */
export const customValue = (value: Json, milli: bigint): MetricValue => ({
  describes: asName(asObject(value["describedObject"])["name"]),
  milli,
  timestampMs: readTime(value["timestamp"]) ?? 0,
  windowMs:
    typeof value["windowSeconds"] === "number" ? value["windowSeconds"] * 1000 : DEFAULT_WINDOW_MS,
});
