import type { WatermarkSpec } from "../../../model/spec-watermark.ts";
import { explained } from "../../shared/steps.ts";
import { scaleDownLimit, scaleUpLimit } from "../../shared/arithmetic.ts";
import {
  condition,
  gauge,
  type StepNote,
  limited,
  type LimitReason,
  limitSentence,
} from "./sentences.ts";
import { noted, type WatermarkStep } from "./sync.ts";

/** How far one step may go, and the bounds. */
export const velocity: WatermarkStep = (sync) => {
  const { wanted, combined, scale, input } = sync;
  const { replicas, reason, limit, bound, notes } = normalise(
    scale.specReplicas,
    wanted,
    combined.ready,
    input.spec,
  );
  const limitedSync = noted(sync, ...notes, condition(limited(replicas !== wanted, reason)));
  const bit =
    replicas === wanted
      ? undefined
      : { reason: bound, value: limit, message: limitSentence(bound) };
  return {
    ...explained(limitedSync, { step: "normalise", before: wanted, after: replicas, limit: bit }),
    normalised: replicas,
  };
};

type NormaliseRules = Pick<
  WatermarkSpec,
  "minReplicas" | "maxReplicas" | "scaleUpLimit" | "scaleDownLimit"
>;

interface Normalised {
  readonly replicas: number;
  /**
   * In the condition, as the original reports it: of velocity, though it allows no less than the
   * bound does.
   */
  readonly reason: LimitReason;
  /** The limit that changed the count, and its reason, for people. */
  readonly limit: number;
  readonly bound: LimitReason;
  readonly notes: readonly StepNote[];
}

/** Velocity, then the bounds (watermark.md 2.8). */
export const normalise = (
  current: number,
  wanted: number,
  ready: number,
  rules: NormaliseRules,
): Normalised => {
  const floor = floorOf(current, wanted, ready, rules);
  if (wanted < floor.limit) return { ...floor, replicas: floor.limit };
  const ceiling = ceilingOf(current, wanted, rules);
  const notes = [...floor.notes, ...ceiling.notes];
  if (wanted > ceiling.limit) return { ...ceiling, notes, replicas: ceiling.limit };
  return {
    replicas: wanted,
    reason: "DesiredWithinRange",
    limit: wanted,
    bound: "DesiredWithinRange",
    notes,
  };
};

const floorOf = (
  current: number,
  wanted: number,
  ready: number,
  { minReplicas, scaleDownLimit: factor }: NormaliseRules,
): Omit<Normalised, "replicas"> => {
  if (minReplicas === 0) return { limit: 1, reason: "", bound: "", notes: [] };
  const fastest = scaleDownLimit(factor, current);
  const capped = wanted < fastest;
  const notes = [gauge("restricted_scaling", capped ? 1 : 0, { reason: "downscale_capping" })];
  if (!capped)
    return { limit: minReplicas, reason: "TooFewReplicas", bound: "TooFewReplicas", notes };
  const limit = Math.max(fastest, minReplicas);
  // Fewer pods are ready than would be kept: shrinking now would take ready ones away, so the
  // workload holds.
  if (ready > 0 && ready < limit)
    return { limit: current, reason: "ScaleDownLimit", bound: "TooFewReady", notes };
  return {
    limit,
    reason: "ScaleDownLimit",
    bound: fastest > minReplicas ? "ScaleDownLimit" : "TooFewReplicas",
    notes,
  };
};

const ceilingOf = (
  current: number,
  wanted: number,
  { maxReplicas, scaleUpLimit: factor }: NormaliseRules,
): Omit<Normalised, "replicas"> => {
  const fastest = scaleUpLimit(factor, current);
  if (wanted > fastest) {
    const notes = [gauge("restricted_scaling", 1, { reason: "upscale_capping" })];
    return {
      limit: Math.min(fastest, maxReplicas),
      reason: "ScaleUpLimit",
      bound: fastest < maxReplicas ? "ScaleUpLimit" : "TooManyReplicas",
      notes,
    };
  }
  // The original resets the label of the other direction here; series keep that habit (watermark.md
  // 2.15).
  const notes = [gauge("restricted_scaling", 0, { reason: "downscale_capping" })];
  return { limit: maxReplicas, reason: "TooManyReplicas", bound: "TooManyReplicas", notes };
};
