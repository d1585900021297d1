import type { AutoscalerView } from "../views/autoscaler.ts";
import type { AutoscalerRow } from "../views/row.ts";
import { isOverridden } from "./bounds-words.ts";

/**
 * "held: monitor", the state with what holds it, and "active, overridden" while an override sets a
 * bound.
 */
export const stateWords = ({
  state,
  heldBy,
  overridden,
  bounds,
}: Pick<AutoscalerView, "state" | "heldBy" | "bounds"> &
  Pick<AutoscalerRow, "overridden">): string => {
  if (state === "held" && heldBy !== undefined) return `${state}: ${heldBy}`;
  return overridden || isOverridden(bounds) ? `${state}, overridden` : state;
};
