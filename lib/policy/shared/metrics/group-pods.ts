import type { Pod } from "../../../model/observation.ts";
import type { PodSamples, Sample } from "../../../sources/source.ts";

/** The clock and the two settings that decide whether a starting pod's CPU counts. */
export interface Readiness {
  readonly nowMs: number;
  readonly cpuInitializationPeriodMs: number;
  readonly initialReadinessDelayMs: number;
}

/** Pods by what may be concluded from them. */
export interface PodGroups {
  readonly ready: number;
  readonly unready: readonly string[];
  readonly missing: readonly string[];
  readonly ignored: readonly string[];
}

/**
 * hpa.md 3.2: the first rule that applies decides. Readiness is looked at for "cpu" only; `resource` is empty for Pods metrics.
 */
export const groupPods = (pods: readonly Pod[], samples: PodSamples, resource: string, readiness: Readiness): PodGroups => {
  let ready = 0;
  const unready: string[] = [];
  const missing: string[] = [];
  const ignored: string[] = [];
  for (const pod of pods) {
    const sample = samples.get(pod.name);
    if (pod.deleting || pod.phase === "Failed") ignored.push(pod.name);
    else if (pod.phase === "Pending") unready.push(pod.name);
    else if (sample === undefined) missing.push(pod.name);
    else if (resource === "cpu" && isStarting(pod, sample, readiness)) unready.push(pod.name);
    else ready++;
  }
  return { ready, unready, missing, ignored };
};

/** Rules 4 to 6: start-up CPU says nothing about load. A pod that was ready long after its start and fell back counts as ready. */
const isStarting = ({ startMs, ready }: Pod, sample: Sample, readiness: Readiness): boolean => {
  if (startMs === undefined || ready === undefined) return true;
  const notReady = ready.status === "False";
  if (startMs + readiness.cpuInitializationPeriodMs > readiness.nowMs) return notReady || sample.timestampMs < ready.transitionMs + sample.windowMs;
  return notReady && startMs + readiness.initialReadinessDelayMs > ready.transitionMs;
};
