import type { Pod } from "../../../rules/model/observation.ts";
import { parseSelector } from "../../../rules/model/selector-text.ts";
import type { Watched } from "../cluster-client.ts";
import { heavyWork } from "./heavy-work.ts";
import type { ByNamespace } from "./read-scope.ts";
import { type Scales, targetKey } from "./workloads.ts";

/**
 * How many pods of each target its workload counts (`status.replicas`, read before the pods) that
 * are not among these. Pods that end are not counted, as by the controllers of Kubernetes. All
 * namespaces wait for this, so that those whose rules look at many more pods are not counted.
 */
export const missingPods = (
  pods: ByNamespace<Pod>,
  watched: readonly Watched[],
  scales: Scales,
): ReadonlyMap<string, number> => {
  const missing = new Map<string, number>();
  const heavy = heavyWork(pods, watched);
  for (const { namespace, spec } of watched) {
    const key = targetKey({ namespace, target: spec.target });
    const scale = scales.get(key);
    const answer = pods.get(namespace);
    if (scale?.kind !== "read" || answer?.kind !== "answered" || missing.has(key)) continue;
    if (heavy.has(namespace)) continue;
    const parsed = parseSelector(scale.selector);
    if (parsed.kind === "invalid") continue;
    const seen = answer.items.select(parsed.selector).filter(isActive).length;
    if (seen < scale.statusReplicas) missing.set(key, scale.statusReplicas - seen);
  }
  return missing;
};

const isActive = ({ phase, deleting }: Pod): boolean =>
  !deleting && phase !== "Succeeded" && phase !== "Failed";
