import { normalise } from "./normalise.ts";
import { condition } from "./notes.ts";
import { limited, limitSentence } from "./sentences.ts";
import { noted, stepped, type WatermarkStep } from "./sync.ts";

/** How far one step may go, and the bounds. */
export const velocity: WatermarkStep = (sync) => {
  const { wanted, combined, scale, input } = sync;
  const { replicas, reason, limit, bound, notes } = normalise(scale.specReplicas, wanted, combined.ready, input.spec);
  const limitedSync = noted(sync, ...notes, condition(limited(replicas !== wanted, reason)));
  const bit = replicas === wanted ? undefined : { reason: bound, value: limit, message: limitSentence(bound) };
  return { ...stepped(limitedSync, { step: "normalise", before: wanted, after: replicas, limit: bit }), normalised: replicas };
};
