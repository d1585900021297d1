import type { ControllerSettings } from "../../../model/settings.ts";
import type { HpaSpec } from "../../../model/spec-hpa.ts";

/** Half-widths of the band in which nothing happens, one a direction. */
export interface Tolerance {
  readonly down: number;
  readonly up: number;
}

/** hpa.md 3.1: each direction has its own, or the cluster's; between them comes the tolerance of the multi-threshold form. */
export const toleranceOf = ({ behavior, thresholds }: Pick<HpaSpec, "behavior" | "thresholds">, settings: ControllerSettings): Tolerance => {
  const both = thresholds?.tolerance ?? settings.tolerance;
  return { down: behavior?.scaleDown.tolerance ?? both, up: behavior?.scaleUp.tolerance ?? both };
};

/** hpa.md 3.1: both ends belong to the band, and the ends are computed exactly so (other forms round elsewhere). False for NaN. */
export const isInside = (ratio: number, { down, up }: Tolerance): boolean => 1 - down <= ratio && ratio <= 1 + up;
