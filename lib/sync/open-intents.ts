import type { WriteOutcome } from "../model/decision.ts";
import type { Namespace } from "../model/ids.ts";
import type { ScaleRead, ScaleReading } from "../model/observation.ts";
import type { Intent } from "../model/records.ts";
import type { TargetRef } from "../model/spec-governed.ts";
import { type LoadedPages, pageOfUid } from "./load-pages.ts";

/** The workload behind a target, whichever version of its API is named: at most one intent may be open for it. */
export const workloadKey = (namespace: Namespace | string, { apiVersion, kind, name }: TargetRef): string =>
  `${namespace}/${apiVersion.includes("/") ? apiVersion.slice(0, apiVersion.indexOf("/")) : ""}/${kind}/${name}`;

/** True once no PUT of this intent can take effect any more. `nowMs` was read before the observation that settles it. */
export const isPastDeadline = (intent: Intent, nowMs: number): boolean => nowMs > intent.deadlineMs;

const NOT_FOUND = 404;

/** True where the workload's spec is as it was when the intent was decided: the same generation, or for kinds without one the same version. */
export const isUnmoved = (intent: Intent, reading: ScaleRead): boolean => {
  const counted = intent.targetGeneration !== undefined && reading.generation !== undefined;
  return counted ? reading.generation === intent.targetGeneration : reading.resourceVersion === intent.resourceVersion;
};

/**
 * How an intent ended, told from a consistent observation that began after its deadline; `undefined`: not to be told yet. Unchanged generation proves that no PUT took
 * effect. What cannot be proven is "unknown", which every limit counts as applied. Never told by the count alone.
 */
export const settleFromObservation = (intent: Intent, reading: ScaleReading): WriteOutcome | undefined => {
  if (reading.kind === "failed") {
    if (reading.failure.code === NOT_FOUND) return { kind: "unknown", message: "the workload is gone" };
    // The cluster cannot be seen: the intent stays open, and its workload holds.
    return undefined;
  }
  if (reading.uid !== intent.targetUid) return { kind: "unknown", message: "the workload was replaced by another of the same name" };
  if (isUnmoved(intent, reading)) return { kind: "refused", message: "the workload did not change until the deadline" };
  if (reading.specReplicas === intent.to) return { kind: "applied" };
  return { kind: "unknown", message: `the workload changed, and has ${reading.specReplicas} replicas` };
};

/**
 * How an intent of an earlier sync ended; `undefined`: its deadline is not over, or its workload cannot be seen, or its windows cannot be read: then it stays open, because
 * its scale could not be counted. `late` is by workload.
 */
export const settledLate = (
  intent: Intent,
  loaded: LoadedPages & { readonly nowMs: number },
  late: ReadonlyMap<string, ScaleReading>,
): WriteOutcome | undefined => {
  const reading = late.get(workloadKey(intent.namespace, intent.target));
  if (!reading || !isPastDeadline(intent, loaded.nowMs) || pageOfUid(loaded, intent.uid)?.kind === "unreadable") return undefined;
  return settleFromObservation(intent, reading);
};
