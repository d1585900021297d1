import { explained } from "../../shared/steps.ts";
import { choose } from "./bounds.ts";
import type { WatermarkStep } from "./sync.ts";

/** Zero and [min, max] have the last word. */
export const chooseCount: WatermarkStep = (sync) => {
  const { combined, wanted, normalised, gate, scale, deviations, input } = sync;
  const verdict = choose({ combined, wanted, normalised, gate, scale, spec: input.spec, deviations });
  const currentMetrics = verdict.overridden ? input.windows.status.currentMetrics : combined.statuses;
  return {
    ...explained(sync, { step: "bounds", before: gate.kind === "open" ? normalised : scale.specReplicas, after: verdict.to }),
    ending: { kind: "chosen", verdict, currentMetrics },
  };
};
