import type { Namespace } from "../../model/ids.ts";
import { MAX_NAMESPACED_LISTS } from "../limits.ts";
import type { ObserveLimits } from "../port.ts";

/** Where one LIST looks: a namespace, or the whole cluster when absent. */
export interface Scope {
  readonly namespace?: Namespace;
}

/**
 * The LISTs that cover the namespaces in need. The whole cluster in one, where the partition is the whole cluster; but a few namespaces are asked for one by one, because they may
 * be small in a large cluster. Either way the number does not grow with autoscalers.
 */
export const scopesFor = (needed: ReadonlySet<Namespace>, limits: Pick<ObserveLimits, "namespaces">): readonly Scope[] => {
  if (needed.size === 0) return [];
  if (limits.namespaces === "all" && needed.size > MAX_NAMESPACED_LISTS) return [{}];
  return [...needed].toSorted().map((namespace) => ({ namespace }));
};

/** True when a LIST of this scope would have shown objects of the namespace. */
export const covers = (scope: Scope, namespace: string): boolean => scope.namespace === undefined || scope.namespace === namespace;
