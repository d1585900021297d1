import type { RequestShare } from "../../policy/explanations.ts";
import type { BesideRule, WorkloadPods, Vertical } from "./beside.ts";

/** A VerticalPodAutoscaler in this mode only recommends. */
const ONLY_RECOMMENDS = "Off";

/** True where it sets the request that a metric is measured in percent of. */
const setsRequest = (
  { mode, sets }: Vertical,
  { containers }: WorkloadPods,
  { resource, container }: RequestShare,
): boolean => {
  if (mode === ONLY_RECOMMENDS) return false;
  const measured = container === undefined ? containers : [container];
  return measured.some((name) => (sets.get(name) ?? sets.get("*") ?? []).includes(resource));
};

export const VERTICAL_AUTOSCALER: BesideRule = {
  name: "vertical-autoscaler",
  severity: "problem",
  finds: "a VerticalPodAutoscaler changes the requests that a metric is measured in percent of",
  examine: ({ target, requestShares }, { workload, verticals }) =>
    verticals.flatMap((vertical) => {
      const resources = [
        ...new Set(
          requestShares
            .filter((share) => setsRequest(vertical, workload, share))
            .map(({ resource }) => resource),
        ),
      ];
      if (resources.length === 0) return [];
      const named = resources.join(" and ");
      return [
        {
          evidence: `VerticalPodAutoscaler "${vertical.name}" (updateMode ${vertical.mode}) sets the requests of ${named} of ${target.kind} "${target.name}", and ${named} ${resources.length === 1 ? "is" : "are"} measured in percent of them`,
          cost: "each request that it changes moves the percentage, and so the count, without a change of the load",
          change: {
            field: `VerticalPodAutoscaler "${vertical.name}": spec.resourcePolicy.containerPolicies.controlledResources`,
            advice: `leave out ${named}, or measure an amount for each pod (averageValue) in place of a percentage`,
          },
        },
      ];
    }),
};
