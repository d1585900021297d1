import type { ScaleRead } from "../../../model/observation.ts";
import type { WatermarkSpec } from "../../../model/spec-watermark.ts";
import type { Combined } from "./combine.ts";
import type { Gate } from "./gates.ts";
import { gateSentence } from "./sentences.ts";

/**
 * Where Tidemark does something else than the original, always the safer thing; each is listed in
 * docs/watermark.md. The recorded decisions of single functions are compared with all of them off.
 */
export interface Deviations {
  /**
   * min and max hold while a metric is unavailable; the original forgets them (watermark.md 2.18
   * b).
   */
  readonly boundsWithoutMetrics: boolean;
  /** A target without running pods goes to minReplicas; the original writes 1 (2.18 m). */
  readonly neverBelowMin: boolean;
  /**
   * A zero that is not tolerated, or a spec without any source, never shrinks; the original does
   * (2.18 c, k).
   */
  readonly noShrinkOnNothing: boolean;
}

export const SAFE: Deviations = {
  boundsWithoutMetrics: true,
  neverBelowMin: true,
  noShrinkOnNothing: true,
};

/**
 * The last word: which count, whether it is written, and why. A count equal to the current one is
 * written too, by the first decision ever (watermark.md 2.18 a).
 */
export interface LastWord {
  readonly to: number;
  /** The normalised count, which messages quote even when it is not taken. */
  readonly wanted: number;
  readonly rescale: boolean;
  readonly reason: string;
  readonly message: string;
  /** A bound decided, not the metrics. */
  readonly overridden: boolean;
}

export interface Weighed {
  readonly combined: Combined;
  /** Before velocity and bounds. */
  readonly wanted: number;
  readonly normalised: number;
  readonly gate: Gate;
  readonly scale: ScaleRead;
  readonly spec: WatermarkSpec;
  readonly deviations: Deviations;
}

const straightTo = (to: number, reason: string, message: string): LastWord => ({
  to,
  wanted: to,
  rescale: true,
  reason,
  message,
  overridden: true,
});

/**
 * Outside the bounds: straight there, past velocity, windows and delays; zero is never touched
 * (watermark.md 2.10).
 */
export const outOfBounds = (
  { specReplicas }: ScaleRead,
  { minReplicas, maxReplicas }: WatermarkSpec,
): LastWord | undefined => {
  if (specReplicas === 0) return undefined;
  if (specReplicas > maxReplicas)
    return straightTo(
      maxReplicas,
      "AboveMaxReplicas",
      "Current number of replicas above Spec.MaxReplicas",
    );
  if (specReplicas < minReplicas)
    return straightTo(
      minReplicas,
      "BelowMinReplicas",
      "Current number of replicas below Spec.MinReplicas",
    );
  return undefined;
};

/**
 * The original writes 1 here, below minReplicas if need be; the bound is kept instead, and only a
 * dry run says what the original would do (watermark.md 2.18 m).
 */
const withoutPods = (
  { dryRun, minReplicas }: WatermarkSpec,
  { neverBelowMin }: Deviations,
): LastWord =>
  straightTo(
    dryRun || !neverBelowMin ? 1 : Math.max(1, minReplicas),
    "NoReplicas",
    "Current number of replicas must be greater than 0",
  );

export const choose = (weighed: Weighed): LastWord => {
  const { scale, spec, normalised, gate } = weighed;
  if (scale.specReplicas === 0)
    return kept(
      weighed,
      0,
      "ScalingDisabled",
      "scaling is disabled since the replica count of the target is zero",
    );
  const bound = outOfBounds(scale, spec);
  if (bound) return bound;
  if (scale.statusReplicas === 0) return withoutPods(spec, weighed.deviations);
  if (gate.kind === "closed") return kept(weighed, normalised, gate.reason, heldBy(gate, weighed));
  if (normalised < scale.specReplicas && mustNotShrink(weighed))
    return kept(
      weighed,
      normalised,
      "NoUsableValue",
      "no metric gives a value to shrink on, holding",
    );
  if (spec.counts === "current" && normalised === scale.specReplicas)
    return kept(weighed, normalised, "NoChange", unchanged(weighed.combined));
  const message = reasonOf(weighed);
  return {
    to: normalised,
    wanted: normalised,
    rescale: true,
    reason: message === "" ? "FirstDecision" : "Proposal",
    message,
    overridden: false,
  };
};

const kept = ({ scale }: Weighed, wanted: number, reason: string, message: string): LastWord => ({
  to: scale.specReplicas,
  wanted,
  rescale: false,
  reason,
  message,
  overridden: scale.specReplicas === 0,
});

const heldBy = (
  gate: Gate & { readonly kind: "closed" },
  { normalised, combined }: Weighed,
): string => {
  if (gate.reason === "NoChange") return unchanged(combined);
  return `wants ${normalised}, held: ${gateSentence(gate.reason)}`;
};

/** Why no other count is wanted. A zero that is not tolerated is nowhere between its marks. */
const unchanged = ({ stable, zero }: Combined): string => {
  if (zero) return "a value of 0 says nothing while tolerateZero is false";
  return stable ? "value within the watermarks" : "the wanted count is the current count";
};

/**
 * A zero that is not tolerated, or no metric at all, says nothing about the load: the original
 * shrinks on it, Tidemark never does (watermark.md 2.18 c, k).
 */
const mustNotShrink = ({ combined, spec, deviations }: Weighed): boolean =>
  deviations.noShrinkOnNothing &&
  (combined.zero || (spec.metrics.length === 0 && spec.recommender === undefined));

const reasonOf = ({ combined, wanted, normalised, scale }: Weighed): string => {
  if (combined.stable && normalised !== scale.specReplicas)
    return "Metric within watermarks, attempting to scale to converge towards watermark";
  if (wanted > scale.specReplicas) return `${combined.name} above target`;
  return wanted < scale.specReplicas ? "All metrics below target" : "";
};
