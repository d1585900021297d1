import type { Namespace } from "../../model/ids.ts";
import type { ObserveLimits } from "../cluster-client.ts";
import { MAX_NAMESPACED_LISTS } from "../request-limits.ts";

/** The scope of one LIST: a namespace; absent means the whole cluster. */
export interface Scope {
  readonly namespace?: Namespace;
  /** True for a namespace that is read by itself, after all others. */
  readonly isHeavy?: true;
  /** The namespaces that a LIST of the whole cluster leaves out. */
  readonly without?: ReadonlySet<Namespace>;
}

/**
 * The LISTs that cover these namespaces. Where the partition is the whole cluster, one LIST covers all; but a few namespaces are listed one by one, because they may
 * be small in a large cluster. In both cases the number of LISTs does not grow with autoscalers. Heavy namespaces have LISTs of their own, and the one of the whole cluster leaves them out.
 */
export const scopesFor = (
  needed: ReadonlySet<Namespace>,
  limits: Pick<ObserveLimits, "namespaces">,
  heavy: ReadonlySet<Namespace> = new Set(),
): readonly Scope[] => {
  if (needed.size === 0) return [];
  const own = [...needed].toSorted().map((namespace): Scope => ({ namespace, ...(heavy.has(namespace) && { isHeavy: true }) }));
  if (limits.namespaces !== "all" || needed.size <= MAX_NAMESPACED_LISTS) return own;
  const ofHeavy = own.filter(({ isHeavy }) => isHeavy);
  const shared: Scope = heavy.size > 0 ? { without: heavy } : {};
  return ofHeavy.length === needed.size ? ofHeavy : [shared, ...ofHeavy];
};

/** True when a LIST of this scope covers the namespace. */
export const covers = ({ namespace: own, without }: Scope, namespace: Namespace): boolean =>
  own === undefined ? without?.has(namespace) !== true : own === namespace;
