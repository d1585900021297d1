import { DAY_COUNTS, MONTH_COUNTS } from "./counts.ts";
import { FORECASTS } from "./forecasts.ts";
import type { Projection } from "./project.ts";
import { QUARTERS } from "./quarters.ts";
import { SAMPLES } from "./samples.ts";

/**
 * What syncs make of the facts for readers, in this order. A read model that is made from the
 * journal or the events of a time is a file of this folder and a line here (CONTRIBUTING.md,
 * "Recipes").
 */
export const PROJECTIONS: readonly Projection[] = [
  SAMPLES,
  FORECASTS,
  DAY_COUNTS,
  MONTH_COUNTS,
  QUARTERS,
];
