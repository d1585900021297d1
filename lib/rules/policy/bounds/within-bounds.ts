import type { Bound, EffectiveBounds } from "../../model/override.ts";
import type { Decision, Limit } from "../../model/decision.ts";
import type { AutoscalerSpec } from "../../model/spec.ts";
import { utcText } from "../../model/time-text.ts";
import type { Windows } from "../../model/windows.ts";

/**
 * The spec for the rules themselves: with the bounds of the manifest, and wider where a schedule or
 * an override is wider. A narrower bound is no matter of the rules: they record and time what they
 * want, and `withinBounds` has the last word about the count. So the rules go on from there when
 * the bound ends.
 */
export const specForRules = <Spec extends AutoscalerSpec>(
  spec: Spec,
  { min, max }: EffectiveBounds,
): Spec => ({
  ...spec,
  minReplicas: Math.min(spec.minReplicas, min.replicas),
  maxReplicas: Math.max(spec.maxReplicas, max.replicas),
});

/**
 * A workload at zero that a person or another program has stopped. No bound wakes it, as with every
 * set of rules.
 */
const STOPPED = "ScalingDisabled";

/**
 * The decision within the bounds that a schedule or an override sets: a count outside goes straight
 * to the bound, past windows, policies and missing metrics. A floor also wakes an idle workload.
 */
export const withinBounds = (decision: Decision, bounds: EffectiveBounds): Decision => {
  const { from } = decision;
  if (from === undefined || (from === 0 && decision.because.reason === STOPPED))
    return { ...decision, bounds };
  const wanted = decision.kind === "scale" ? decision.to : from;
  const limit = limitOf(wanted, bounds);
  const to = limit?.value ?? wanted;
  const steps = [
    ...decision.steps,
    { step: "set bounds", before: wanted, after: to, ...(limit && { limit }) },
  ];
  if (!limit) return { ...decision, bounds, steps };
  const trigger = decision.kind === "scale" ? decision.trigger : decision.because.message;
  const because = {
    reason: limit.reason,
    message: trigger === "" ? limit.message : `${trigger}: ${limit.message}`,
  };
  const decided = { ...sharedParts(decision), from, because, steps, bounds };
  if (to === from)
    return { ...decided, kind: "hold", failed: false, windows: keptAt(decision.windows, from) };
  const ruled = Math.min(Math.max(wanted, Math.min(from, to)), Math.max(from, to));
  return { ...decided, kind: "scale", to, ruled, trigger: limit.message };
};

/** What a scale and a hold have both. */
const sharedParts = (decision: Decision) => {
  if (decision.kind === "hold") {
    const { kind: _hold, failed: _whether, ...parts } = decision;
    return parts;
  }
  const { kind: _scale, to: _wanted, trigger: _why, ...parts } = decision;
  return parts;
};

/** A scale that is not made leaves the count as the desired one. */
const keptAt = (windows: Windows, desiredReplicas: number): Windows => ({
  ...windows,
  status: { ...windows.status, desiredReplicas },
});

/** The bound that a wanted count is outside of. The manifest's is a matter of the rules. */
const limitOf = (wanted: number, { min, max }: EffectiveBounds): Limit | undefined => {
  if (wanted < min.replicas && min.source.kind !== "manifest")
    return limitBy(
      min.source.kind === "forecast" ? FORECAST_MINIMUM : "SetMinimum",
      min,
      "minReplicas",
    );
  if (wanted > max.replicas && max.source.kind !== "manifest")
    return limitBy("SetMaximum", max, "maxReplicas");
  return undefined;
};

/** The minimum that a forecast raised, which no person set. */
const FORECAST_MINIMUM = "ForecastMinimum";

const limitBy = (reason: string, { replicas, source }: Bound, field: string): Limit => {
  const untilMs = "untilMs" in source ? source.untilMs : undefined;
  return {
    reason,
    value: replicas,
    message: `${field} is ${replicas} ${sourceText(source)}`,
    ...(untilMs !== undefined && { untilMs }),
  };
};

/** Where a bound comes from, for people: `by the schedule "office"`. */
export const sourceText = (source: Bound["source"]): string => {
  switch (source.kind) {
    case "manifest":
      return "by the manifest";
    case "schedule":
      return `by the schedule "${source.name}"${source.ramp === undefined ? "" : `, on its ramp ${source.ramp === "in" ? "up" : "down"}`}`;
    case "override":
      return `by the override "${source.id}" of ${source.by}: ${source.reason}`;
    case "floor":
      return "because minReplicas is as high";
    case "forecast":
      return `by the forecast: ${source.quantile} of ${source.metric} at ${utcText(source.atMs)}`;
  }
};
