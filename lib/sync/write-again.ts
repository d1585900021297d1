import type { ScaleRead, ScaleReading } from "../model/observation.ts";
import type { Intent } from "../model/records.ts";
import type { AutoscalerSpec } from "../model/spec.ts";

/** Writes under one intent at most, the first among them (hpa.md 2.4 step 6). */
export const WRITES_MAX = 5;

export type WriteAgain = { readonly kind: "yes"; readonly version: ScaleRead } | { readonly kind: "no"; readonly message: string };

/**
 * What follows a conflict is the dialect's, after the workload was looked at again: `hpa` writes the same count, whatever the count is by now, as long as it is the same
 * object; `tidemark` only while the count is still the one that was decided on. Another object of the same name was never decided on.
 */
export const mayWriteAgain = (dialect: AutoscalerSpec["dialect"], intent: Intent, reading: ScaleReading): WriteAgain => {
  if (reading.kind === "failed") return { kind: "no", message: `it could not be read again: ${reading.failure.message}` };
  if (reading.uid !== intent.targetUid) return { kind: "no", message: "the workload was replaced by another of the same name" };
  switch (dialect) {
    case "hpa":
      return { kind: "yes", version: reading };
    case "watermark":
      return { kind: "no", message: "the count is decided anew by the next sync" };
    case "tidemark":
      // Another count is somebody's decision that was not seen: it holds, and the next sync decides on it.
      return reading.specReplicas === intent.from
        ? { kind: "yes", version: reading }
        : { kind: "no", message: `the count is ${reading.specReplicas} by now, it was decided on ${intent.from}` };
  }
};
