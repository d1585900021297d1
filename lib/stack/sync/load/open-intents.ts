import { keptKeys } from "../../cluster/observe/workloads.ts";
import { groupOf, type TargetRef } from "../../../rules/model/spec-common.ts";
import type { WriteOutcome } from "../../../rules/model/decision.ts";
import { type WorkloadKey, workloadKeyOf } from "../../../rules/model/ids.ts";
import type { ScaleRead, ScaleReading } from "../../../rules/model/observation.ts";
import { pageOfUid } from "./load-pages.ts";
import type { Intent } from "../../../rules/model/scale-records.ts";
import { NOT_FOUND } from "../../../rules/model/http-status.ts";
import type { LoadedPages, LateReadings } from "../hand-over.ts";

/**
 * Key of the workload behind a target. The version of its API is left out, because at most one
 * intent may be open for a workload.
 */
export const workloadKey = (namespace: string, target: TargetRef): WorkloadKey =>
  workloadKeyOf(keyOf(namespace, target));

const keyOf = keptKeys(
  (namespace, { apiVersion, kind, name }) =>
    `${namespace}/${groupOf(apiVersion) ?? apiVersion}/${kind}/${name}`,
);

/**
 * True once no PUT of this intent can take effect any more. `nowMs` was read before the observation
 * that settles it.
 */
export const isPastDeadline = (intent: Intent, nowMs: number): boolean => nowMs > intent.deadlineMs;

export const GONE = "the workload is gone";
export const REPLACED = "the workload was replaced by another of the same name";
export const changedTo = ({ specReplicas }: ScaleRead): string =>
  `the workload changed, and has ${specReplicas} replicas`;

/**
 * True where the spec of the workload did not change since the intent was decided: the same
 * generation, or for kinds without generations the same resourceVersion.
 */
export const isUnmoved = (
  intent: Pick<Intent, "targetGeneration" | "resourceVersion">,
  reading: ScaleRead,
): boolean => {
  const counted = intent.targetGeneration !== undefined && reading.generation !== undefined;
  return counted
    ? reading.generation === intent.targetGeneration
    : reading.resourceVersion === intent.resourceVersion;
};

/** True where it is the workload of the intent, and its spec did not change since. */
export const isUntouched = (intent: Intent, reading: ScaleReading): boolean =>
  reading.kind === "read" && reading.uid === intent.targetUid && isUnmoved(intent, reading);

/**
 * Time between two looks that find a workload unmoved, before its intent counts as refused: the
 * next sync, as a rule.
 */
export const SECOND_LOOK_MS = 5_000;

/*
 *  PUT ── no answer ──── deadline ── look: unmoved ── 5 s at least ── look: unmoved ──► refused
 *                                         └──────── a commit that was given up ✗ ── look: moved ──► applied or unknown
 */

/**
 * How an intent ended, by a consistent observation that began after its deadline; `undefined` means
 * that it is not known yet. An unchanged generation proves that no PUT took effect, once a second
 * look agrees: etcd may commit a write that its API server has given up. What cannot be proven is
 * "unknown", which every limit counts as applied. The count by itself never decides.
 */
const settleFromObservation = (
  intent: Intent,
  reading: ScaleReading,
  nowMs: number,
): WriteOutcome | undefined => {
  if (reading.kind === "failed") {
    if (reading.failure.code === NOT_FOUND) return { kind: "unknown", message: GONE };
    // On doubt, hold: while the cluster cannot be observed, the intent stays open and its workload
    // holds.
    return undefined;
  }
  if (reading.uid !== intent.targetUid) return { kind: "unknown", message: REPLACED };
  // On doubt, hold: until the second look the intent stays open and its workload holds.
  if (isUnmoved(intent, reading)) return hasSecondLook(intent, nowMs) ? UNMOVED : undefined;
  if (reading.specReplicas === intent.to) return { kind: "applied" };
  return { kind: "unknown", message: changedTo(reading) };
};

const UNMOVED: WriteOutcome = {
  kind: "refused",
  message: "the workload did not change until the deadline, and not until a second look",
};
const hasSecondLook = ({ unmovedMs }: Intent, nowMs: number): boolean =>
  unmovedMs !== undefined && nowMs >= unmovedMs + SECOND_LOOK_MS;

/**
 * An intent that stays open, with the time of the first look that found its workload unmoved after
 * the deadline. A look that finds it moved settles it.
 */
export const lookedAt = (intent: Intent, nowMs: number, late: LateReadings): Intent => {
  const reading = late.get(workloadKey(intent.namespace, intent.target));
  if (
    intent.unmovedMs !== undefined ||
    !reading ||
    !isPastDeadline(intent, nowMs) ||
    !isUntouched(intent, reading)
  )
    return intent;
  return { ...intent, unmovedMs: nowMs };
};

/**
 * How an intent of an earlier sync ended. `undefined` means that it stays open: its deadline is not
 * over, its workload cannot be observed or was found unmoved for the first time, or its windows
 * cannot be read, so that its scale could not be counted.
 */
export const settledLate = (
  intent: Intent,
  loaded: LoadedPages & { readonly nowMs: number },
  late: LateReadings,
): WriteOutcome | undefined => {
  const reading = late.get(workloadKey(intent.namespace, intent.target));
  if (
    !reading ||
    !isPastDeadline(intent, loaded.nowMs) ||
    pageOfUid(loaded, intent.uid)?.kind === "unreadable"
  )
    return undefined;
  return settleFromObservation(intent, reading, loaded.nowMs);
};
