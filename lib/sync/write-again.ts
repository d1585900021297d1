import type { ScaleRead, ScaleReading } from "../model/observation.ts";
import type { Intent } from "../model/records.ts";
import type { AutoscalerSpec } from "../model/spec.ts";
import { askDialect } from "../policy/dialects.ts";
import { changedTo, GONE, isUnmoved, NOT_FOUND, REPLACED } from "./open-intents.ts";

/** Most writes under one intent, the first included (hpa.md 2.4 step 6). */
export const WRITES_MAX = 5;

/** Wait between a conflict and the next look at the workload (hpa.md 2.4 step 6). A controller that has just seen the workload change often writes its status more than once. */
export const afterConflictMs = (random: () => number): number => PAUSE_MS * (1 + JITTER * random());

const PAUSE_MS = 10;
const JITTER = 0.1;

/** What one write named: its object, the version of it, and the count. */
export type Sent = Pick<Intent, "targetUid" | "resourceVersion" | "targetGeneration" | "to">;

/**
 * The outcome of a write that was answered by a conflict or another refusal. `undefined` means that no copy of the write took effect, and that this is proven. An answer is about one copy of
 * the request. A proxy before the API server may have sent another copy earlier. That copy may have taken effect and changed the version that this one named. An outcome that is not proven is
 * "unknown", which every limit counts. If the workload cannot be read, a later sync settles the write.
 */
export const landedBefore = (sent: Sent, reading: ScaleReading): { readonly kind: "unknown" | "open"; readonly message: string } | undefined => {
  if (reading.kind === "failed" && reading.failure.code === NOT_FOUND) return { kind: "unknown", message: GONE };
  if (reading.kind === "failed") return { kind: "open", message: `it could not be read again: ${reading.failure.message}` };
  // The object that was written can be looked at no more.
  if (reading.uid !== sent.targetUid) return { kind: "unknown", message: REPLACED };
  if (isUnmoved(sent, reading) || isOneOtherChange(sent, reading)) return undefined;
  return { kind: "unknown", message: changedTo(reading) };
};

/** True where the spec changed exactly once since, and to another count: a copy that took effect would have been that one change. Without generations, changes cannot be counted. */
const isOneOtherChange = ({ targetGeneration, to }: Sent, { generation, specReplicas }: ScaleRead): boolean =>
  targetGeneration !== undefined && generation === targetGeneration + 1 && specReplicas !== to;

export type WriteAgain = { readonly kind: "yes"; readonly sent: Sent } | { readonly kind: "no"; readonly message: string };

/** The dialect says what follows a conflict, after the workload was read again. Another object of the same name never comes here: landedBefore ends its write. */
export const mayWriteAgain = (spec: AutoscalerSpec, { from, to }: Pick<Intent, "from" | "to">, reading: ScaleRead): WriteAgain => {
  const message = askDialect(spec, (dialect) => dialect.whyNotAgain(from, reading));
  if (message !== undefined) return { kind: "no", message };
  const { uid: targetUid, resourceVersion, generation } = reading;
  return { kind: "yes", sent: { targetUid, resourceVersion, to, ...(generation !== undefined && { targetGeneration: generation }) } };
};
