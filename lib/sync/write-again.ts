import type { ScaleRead, ScaleReading } from "../model/observation.ts";
import type { Intent } from "../model/records.ts";
import type { AutoscalerSpec } from "../model/spec.ts";
import { askDialect } from "../policy/dialects.ts";
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

/** The dialect says what follows a conflict, after the workload was read again. No decision was made for another object of the same name, so it is never written. */
export const mayWriteAgain = (spec: AutoscalerSpec, intent: Intent, reading: ScaleRead): WriteAgain => {
  if (reading.uid !== intent.targetUid) return { kind: "no", message: "the workload was replaced by another of the same name" };
  const message = askDialect(spec, (dialect) => dialect.whyNotAgain(intent.from, reading));
  return message === undefined ? { kind: "yes", version: reading } : { kind: "no", message };
};
