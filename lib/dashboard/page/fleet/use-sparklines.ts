import type { SparklinesView } from "../../../answers/views/over-time.ts";
import { useDocument } from "../data/use-document.ts";

/** Load and count of the last hour of one autoscaler, one value a step. */
export type Sparkline = SparklinesView["lines"][number];

/** Names that one request may have. */
const NAMES_MAX = 100;

/** The lines of the rows on the screen: one request for all. */
export const useSparklines = (keys: readonly string[]): ReadonlyMap<string, Sparkline> => {
  const { value } = useDocument<SparklinesView>(keys.length === 0 ? undefined : "/v1/sparklines", {
    names: keys.slice(0, NAMES_MAX).join(","),
  });
  return new Map(
    (value?.lines ?? []).map((line) => [`${line.cluster}/${line.namespace}/${line.name}`, line]),
  );
};
