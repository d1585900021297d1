import type { CaseRunner } from "../registry.ts";
import { fillWatermarksKind, logAttributesKind, quantityKind, validityKind } from "./manifests.ts";
import { recommenderKind, replicaCalculationKind } from "./metrics.ts";
import { groupPodsKind, podHelpersKind, readyPodsKind } from "./pods.ts";
import { runSequence } from "./sequence.ts";
import {
  computeReplicasKind,
  conditionsKind,
  normaliseKind,
  reconcileOuterKind,
  reconcileStepKind,
  scaleLimitsKind,
  shouldScaleKind,
} from "./steps.ts";

/** Kinds of the watermark vectors, of both formats. */
export const WATERMARK_KINDS: Readonly<Record<string, CaseRunner>> = {
  "sync-sequence": runSequence,
  "replica-calculation": replicaCalculationKind,
  "ready-pods": readyPodsKind,
  "group-pods": groupPodsKind,
  "pod-helpers": podHelpersKind,
  "scale-limits": scaleLimitsKind,
  normalise: normaliseKind,
  "should-scale": shouldScaleKind,
  validity: validityKind,
  "fill-watermarks": fillWatermarksKind,
  conditions: conditionsKind,
  "log-attributes": logAttributesKind,
  "compute-replicas": computeReplicasKind,
  "reconcile-step": reconcileStepKind,
  "reconcile-outer": reconcileOuterKind,
  recommender: recommenderKind,
  quantity: quantityKind,
};
