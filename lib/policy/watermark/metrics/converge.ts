import type { WatermarkSpec } from "../../../model/spec-watermark.ts";
import { condition, type Note } from "../steps/notes.ts";
import { convergeAllowed, convergeBlocked, convergeOff } from "../steps/sentences.ts";

/**
 * Inside the band, one step of the modulo towards the chosen mark, unless the count would pass the one at which the use is predicted to leave the band: the
 * step back could then repeat for ever (watermark.md 2.6).
 */
export const converge = (
  current: number,
  { lower, upper }: { readonly lower: number; readonly upper: number },
  { converge: mark, replicaScalingAbsoluteModulo: modulo }: Pick<WatermarkSpec, "converge" | "replicaScalingAbsoluteModulo">,
): { readonly replicas: number; readonly note: Note } => {
  if (mark === "off") return { replicas: current, note: condition(convergeOff) };
  const wanted = mark === "highwatermark" ? Math.max((current - modulo) | 0, 1) : (current + modulo) | 0;
  const unstable = mark === "highwatermark" ? wanted < lower : wanted > upper;
  return unstable ? { replicas: current, note: condition(convergeBlocked(mark)) } : { replicas: wanted, note: condition(convergeAllowed(mark)) };
};
