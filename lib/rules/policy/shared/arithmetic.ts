import { type ControllerSettings, isMended } from "../../model/spec-common.ts";
import type { HpaSpec } from "../../model/spec-hpa.ts";
import type { LimitFactor } from "../../model/spec-watermark.ts";

/** Largest and smallest 32-bit count, and 64-bit amount, as the imitated controllers have them. */
export const MAX_I32 = 2_147_483_647;
export const MIN_I32 = -2_147_483_648;
export const MIN_I64 = -(2n ** 63n);
/** The first double that no longer fits a signed 64-bit integer. */
export const BEYOND_I64 = 2 ** 63;

/**
 * double → 32-bit as Go does it on amd64: towards zero; NaN and whatever does not fit become the
 * smallest number (hpa.md 0.3).
 */
export const toI32 = (value: number): number => {
  const whole = Math.trunc(value);
  return whole >= MIN_I32 && whole <= MAX_I32 ? whole | 0 : MIN_I32;
};

/**
 * A count, rounded up. Beyond 32 bits it becomes the smallest number, and since 1.38 the nearest
 * one (hpa.md 0.2).
 */
export const ceilI32 = (value: number, version: Pick<ControllerSettings, "hpaVersion">): number =>
  toI32(isMended(version) ? Math.min(Math.ceil(value), MAX_I32) : Math.ceil(value));

/** double → 64-bit, by the same rule. */
export const toI64 = (value: number): bigint => {
  const whole = Math.trunc(value);
  return whole >= -BEYOND_I64 && whole < BEYOND_I64 ? BigInt(whole) : MIN_I64;
};

/** Sum of 32-bit counts, wrapped like theirs. */
export const addI32 = (one: number, other: number): number => (one + other) | 0;

/** The low 64 bits, as a signed number. */
export const wrapI64 = (value: bigint): bigint => BigInt.asIntN(64, value);

/** The low 32 bits of a 64-bit number, as a signed count. */
export const wrapI32 = (value: bigint): number => Number(BigInt.asIntN(32, value));

/** Half-widths of the band in which nothing happens, one a direction. */
export interface Tolerance {
  readonly down: number;
  readonly up: number;
}

/**
 * hpa.md 3.1: each direction has its own, or the cluster's; between them comes the tolerance of the
 * multi-threshold form.
 */
export const toleranceOf = (
  { behavior, thresholds }: Pick<HpaSpec, "behavior" | "thresholds">,
  settings: ControllerSettings,
): Tolerance => {
  const both = thresholds?.tolerance ?? settings.tolerance;
  return { down: behavior?.scaleDown.tolerance ?? both, up: behavior?.scaleUp.tolerance ?? both };
};

/**
 * hpa.md 3.1: both ends belong to the band, and the ends are computed exactly so (other forms round
 * elsewhere). False for NaN.
 */
export const isInside = (ratio: number, { down, up }: Tolerance): boolean =>
  1 - down <= ratio && ratio <= 1 + up;

/**
 * Pods of one step at this factor: rounded down, but at least one unless the factor is off. The
 * order of the float operations is the original's (watermark.md 2.8).
 */
const step = ({ milli }: LimitFactor, current: number): number =>
  Math.max(1, Math.floor(((Number(milli) / 1000) * current) / 100));

/** The count that one step up may reach. */
export const scaleUpLimit = (factor: LimitFactor, current: number): number =>
  factor.whole === 0n ? current : toI32(current + step(factor, current));

/** The count that one step down may reach. */
export const scaleDownLimit = (factor: LimitFactor, current: number): number =>
  factor.whole === 0n ? current : toI32(current - step(factor, current));
