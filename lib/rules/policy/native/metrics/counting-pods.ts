import type { Pod } from "../../../model/observation.ts";
import type { NativeSpec } from "../../../model/spec-native.ts";
import type { MetricContext, OwnPods } from "../../shared/metrics/measurement.ts";
import { hasFinished, ownership, stablePods } from "../../shared/pods/owned.ts";

/** The pods that metrics are measured by, of those that the selector matches. */
export const countingPods = (
  spec: Pick<NativeSpec, "pods" | "target">,
  pods: readonly Pod[],
  current: number,
): Pick<MetricContext, "pods" | "own"> => {
  if (spec.pods === "asHpa") return { pods };
  const isOwned = ownership(spec.target) ?? OF_ANY_KIND;
  const owned = pods.filter((pod) => !hasFinished(pod) && isOwned(pod));
  const measured = spec.pods === "stable" ? stablePods(owned) : owned;
  const own: OwnPods = { measured, beside: readyBeside(owned, measured), wanted: current };
  return { pods: owned, own };
};

const OF_ANY_KIND = (): boolean => true;

const readyBeside = (owned: readonly Pod[], measured: readonly Pod[]): number => {
  if (owned.length === measured.length) return 0;
  const counted = new Set(measured);
  return owned.filter((pod) => !counted.has(pod) && !pod.deleting && pod.ready?.status === "True")
    .length;
};
