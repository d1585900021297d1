import type { ScaleRead, ScaleReading } from "../model/observation.ts";
import type { Intent } from "../model/records.ts";
import type { AutoscalerSpec } from "../model/spec.ts";
import { isUnmoved } from "./open-intents.ts";

/** Most writes under one intent, the first included (hpa.md 2.4 step 6). */
export const WRITES_MAX = 5;

/**
 * How a write ended that was answered by a conflict. `undefined` means that it was not executed, and the dialect says what follows. A 409 is about the request that was answered. A
 * proxy between us and the API server may have sent the request before as well: then that copy took effect and moved the version that this one named. So a workload that has moved
 * and has the wanted count is "unknown", which every limit counts. A workload that cannot be read is settled later.
 */
export const landedBefore = (intent: Intent, reading: ScaleReading): { readonly kind: "unknown" | "open"; readonly message: string } | undefined => {
  if (reading.kind === "failed") return { kind: "open", message: `it could not be read again: ${reading.failure.message}` };
  if (reading.uid !== intent.targetUid || reading.specReplicas !== intent.to || isUnmoved(intent, reading)) return undefined;
  return { kind: "unknown", message: `the workload changed, and has ${reading.specReplicas} replicas` };
};

export type WriteAgain = { readonly kind: "yes"; readonly version: ScaleRead } | { readonly kind: "no"; readonly message: string };

/**
 * What follows a conflict is the dialect's, after the workload was looked at again: `hpa` writes the same count, whatever the count is by now, as long as it is the same
 * object; `tidemark` only while the count is still the one that was decided on. Another object of the same name was never decided on.
 */
export const mayWriteAgain = (dialect: AutoscalerSpec["dialect"], intent: Intent, reading: ScaleRead): WriteAgain => {
  if (reading.uid !== intent.targetUid) return { kind: "no", message: "the workload was replaced by another of the same name" };
  switch (dialect) {
    case "hpa":
      return { kind: "yes", version: reading };
    case "watermark":
      return { kind: "no", message: "the count is decided anew by the next sync" };
    case "tidemark":
      // Fails to a hold: another count is a decision that this sync did not read. The next sync decides on it.
      return reading.specReplicas === intent.from
        ? { kind: "yes", version: reading }
        : { kind: "no", message: `the count is ${reading.specReplicas} by now, it was decided on ${intent.from}` };
  }
};
