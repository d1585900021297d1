import type { Namespace } from "../../../rules/model/ids.ts";
import type { Pod } from "../../../rules/model/observation.ts";
import { heaviest } from "../../turns/shares.ts";
import type { Watched } from "../cluster-client.ts";
import { HEAVY_LOOKS } from "../request-limits.ts";
import type { ByNamespace } from "./read-scope.ts";
import { HEAVY_NAMESPACES, looksPerPod } from "./scopes.ts";

/**
 * The namespaces whose rules look at many more pods than the rules of the others. They are decided
 * after them.
 */
export const heavyWork = (
  pods: ByNamespace<Pod>,
  watched: readonly Watched[],
): ReadonlySet<Namespace> => {
  const looks = new Map<Namespace, number>();
  for (const { namespace, spec } of watched) {
    const answer = pods.get(namespace);
    if (answer?.kind !== "answered") continue;
    looks.set(namespace, (looks.get(namespace) ?? 0) + answer.items.all.length * looksPerPod(spec));
  }
  return heaviest(looks, { ...HEAVY_NAMESPACES, least: HEAVY_LOOKS });
};
