import { foreignText } from "../../rules/model/foreign-text.ts";
import { shellWord } from "../../stack/report/shell-word.ts";
import type { ChangeView } from "../views/change.ts";
import type { EventView, MetricView } from "../views/event.ts";

/** Fields that a sentence about an edit names. */
const FIELDS_NAMED = 3;

type Place = Pick<EventView, "cluster" | "namespace" | "name">;

const placeText = ({ cluster, namespace, name }: Place): string =>
  `${namespace}/${name} in ${cluster}`;

const commandOf = (command: string, { cluster, namespace, name }: Place): string =>
  `tidemark ${command} ${shellWord(`${namespace}/${name}`)} --cluster ${shellWord(cluster)}`;

type Measured = Extract<MetricView, { readonly kind: "measured" }>;

/** Of several metrics the one that asks for most: with the maximum, which is the rule, it decides. */
const largest = (metrics: readonly MetricView[]): Measured | undefined =>
  metrics
    .filter((metric) => metric.kind === "measured")
    .reduce<Measured | undefined>(
      (first, metric) => (first && first.proposal >= metric.proposal ? first : metric),
      undefined,
    );

const measuredText = (view: EventView): string => {
  const metric = largest(view.metrics);
  return metric
    ? `${foreignText(metric.name)} ${foreignText(metric.value)}, wanted ${foreignText(metric.target)}`
    : foreignText(view.message);
};

/** The last step that changed the count says what it is at. */
const limitText = ({ steps }: EventView): string => {
  const limit = steps.findLast((step) => step.limit !== undefined)?.limit;
  if (!limit) return "";
  // A function runs in UTC, and its reader anywhere.
  const until = limit.until === undefined ? "" : ` until ${clockText(limit.until)}`;
  return `; limited by ${limit.reason}: ${foreignText(limit.message)}${until}`;
};

const clockText = (time: string): string => `${time.slice(11, 19)} UTC`;

const stepText = (view: EventView): string => {
  const counts = `${view.from} → ${view.to}`;
  switch (view.outcome) {
    case "applied":
      return counts;
    case "refused":
      return `${counts} was refused: ${foreignText(view.detail ?? "the cluster does not say why")}`;
    case "unknown":
      return `${counts}, and no answer says whether it was made`;
    case "outside":
      return `${counts} by ${foreignText(view.by ?? "another than Tidemark")}`;
  }
};

/**
 * `shop/checkout in eu-1: 4 → 9. queue 312, wanted 30; limited by … until 14:03:20 UTC. Why:
 * tidemark explain …`.
 */
export const scaleEventSentence = (view: EventView): string => {
  const why = view.outcome === "outside" ? "" : ` ${measuredText(view)}${limitText(view)}.`;
  return `${placeText(view)}: ${stepText(view)}.${why} Why: ${commandOf("explain", view)} --at ${view.at}`;
};

/** `shop/checkout in eu-1: apply by ada (spec.maxReplicas). What: tidemark changes …`. */
export const changeEventSentence = (view: ChangeView): string => {
  const { scope, cluster, namespace = "", name, verb, by, fields } = view;
  const isOne = scope === "autoscaler" && cluster !== undefined;
  const place = { cluster: cluster ?? "", namespace, name };
  const what = isOne
    ? placeText(place)
    : scope === "fleet"
      ? "the fleet"
      : `${scope} ${foreignText(name)}`;
  const command = isOne ? commandOf("changes", place) : `tidemark changes --all --since ${view.at}`;
  const named = fields.slice(0, FIELDS_NAMED).map(({ path }) => foreignText(path));
  const more = fields.length > FIELDS_NAMED ? ` and ${fields.length - FIELDS_NAMED} more` : "";
  const inside = named.length === 0 ? "" : ` (${named.join(", ")}${more})`;
  return `${what}: ${verb} by ${foreignText(by)}${inside}. What: ${command}`;
};
