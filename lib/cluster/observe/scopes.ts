import type { Namespace } from "../../model/ids.ts";
import type { ObserveLimits } from "../port.ts";
import { MAX_NAMESPACED_LISTS } from "../request-limits.ts";

/** The scope of one LIST: a namespace; absent means the whole cluster. */
export interface Scope {
  readonly namespace?: Namespace;
}

/**
 * The LISTs that cover these namespaces. Where the partition is the whole cluster, one LIST covers all; but a few namespaces are listed one by one, because they may
 * be small in a large cluster. In both cases the number of LISTs does not grow with autoscalers.
 */
export const scopesFor = (needed: ReadonlySet<Namespace>, limits: Pick<ObserveLimits, "namespaces">): readonly Scope[] => {
  if (needed.size === 0) return [];
  if (limits.namespaces === "all" && needed.size > MAX_NAMESPACED_LISTS) return [{}];
  return [...needed].toSorted().map((namespace) => ({ namespace }));
};

/** True when a LIST of this scope covers the namespace. */
export const covers = (scope: Scope, namespace: string): boolean => scope.namespace === undefined || scope.namespace === namespace;
