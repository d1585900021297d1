import { untilText } from "../../stack/report/duration-text.ts";
import type { BoundSourceView, BoundsView, OverrideSetView, OverrideView } from "../views/holds.ts";

/** For example `by the override a-3f9c21d07e of ann: TV spot`. */
export const boundByText = (by: BoundSourceView): string => {
  switch (by.kind) {
    case "manifest":
      return "by the manifest";
    case "floor":
      return "because minReplicas is as high";
    case "schedule":
      return `by the schedule "${by.name}"${by.ramp === undefined ? "" : `, on its ramp ${by.ramp === "in" ? "up" : "down"}`}`;
    case "override":
      return `by the override ${by.id} of ${by.by}, for the ${by.scope}: ${by.reason}`;
    case "forecast":
      return `by the forecast: ${by.quantile} of ${by.metric} at ${by.at}`;
    default:
      return unknownText(by);
  }
};

/** What a later version has stored is named as it is stored. */
const unknownText = (by: never): string =>
  `by "${(by as { readonly kind: string }).kind}", which this version does not know`;

export const endText = (until: string | undefined, nowMs: number): string =>
  until === undefined
    ? "without an end"
    : `until ${until} (${untilText(Date.parse(until), nowMs)})`;

const endOf = (by: BoundSourceView, nowMs: number): string =>
  "until" in by ? endText(by.until, nowMs) : "";

/** Each bound, where it comes from, and when that ends; then what pauses and holds. */
export const boundsRows = (
  { min, max, paused, holds = [], unknownCalendar, forecast }: BoundsView,
  nowMs: number,
): readonly (readonly [what: string, replicas: string, by: string, end: string])[] => [
  ["minReplicas", String(min.replicas), boundByText(min.by), endOf(min.by, nowMs)],
  ["maxReplicas", String(max.replicas), boundByText(max.by), endOf(max.by, nowMs)],
  ...(paused ? [["paused", "", boundByText(paused), endOf(paused, nowMs)] as const] : []),
  ...holds.map((hold) => ["held", "", boundByText(hold), endOf(hold, nowMs)] as const),
  ...(unknownCalendar
    ? [
        [
          "held",
          "",
          `because there is no calendar "${unknownCalendar.name}"`,
          unknownCalendar.field,
        ] as const,
      ]
    : []),
  ...(forecast
    ? [["forecast", String(forecast.replicas ?? "none"), forecast.text, ""] as const]
    : []),
];

/** True while an override sets a bound, or holds. */
export const isOverridden = (bounds: BoundsView | undefined): boolean =>
  bounds !== undefined &&
  (bounds.min.by.kind === "override" ||
    bounds.max.by.kind === "override" ||
    bounds.holds !== undefined);

/** What an override sets: "min 5, max 9", "pin 4", "hold". Empty for what is none. */
export const setText = ({ hold, min, max, minFactor }: OverrideSetView): string => {
  if (hold) return "hold";
  if (min !== undefined && min === max) return `pin ${min}`;
  return [
    ...(min === undefined ? [] : [`min ${min}`]),
    ...(minFactor === undefined ? [] : [`min x ${minFactor}`]),
    ...(max === undefined ? [] : [`max ${max}`]),
  ].join(", ");
};

/** For example `autoscaler "eu-1/shop/web"`. */
export const placeText = ({ scope, cluster, namespace, name }: OverrideView): string =>
  scope === "fleet"
    ? "the fleet"
    : `${scope} "${[cluster, namespace, name].filter((part) => part !== undefined).join("/")}"`;

/**
 * An override on one line: `the fleet: max 20, forced, until … (in 40m), by ann: incident 4711
 * (f-3f9c21d07e)`.
 */
export const overrideText = (override: OverrideView, nowMs: number): string => {
  const { id, by, reason, force, until } = override;
  return `${placeText(override)}: ${setText(override)}${force ? ", forced" : ""}, ${endText(until, nowMs)}, by ${by}: ${reason} (${id})`;
};
