import type { Warning } from "../problem.ts";
import { CONSTRAINTS_PATH, DEFAULT_UP, type GivenConstraint } from "./constraint-defaults.ts";

export interface ReplicaRange {
  readonly least: number;
  readonly most: number;
}

/** The larger rate counts, so an absent rate can be the faster one (proposals.md §3, story 3). */
export const upWarnings = ({ percent, pods }: GivenConstraint, { least, most }: ReplicaRange): Warning[] => {
  if (pods !== undefined && pods > 0 && percent === undefined && pods + 1 < most) {
    const message = `the default percentage is faster than the pods given: from ${pods + 1} replicas on, ${DEFAULT_UP.percent} percent adds more than ${pods === 1 ? "1 pod" : `${pods} pods`}`;
    return [{ field: `${CONSTRAINTS_PATH}.scaleUp.percent`, message, fix: `write percent: 0 beside pods: ${pods} if the pods alone are meant` }];
  }
  if (percent === undefined || percent <= 0 || percent >= DEFAULT_UP.percent || pods !== undefined) return [];
  const below = Math.ceil((DEFAULT_UP.pods * 100) / percent);
  if (least < below) {
    const message = `the default of ${DEFAULT_UP.pods} pods is faster than the percentage given: below ${below} replicas it adds more`;
    return [{ field: `${CONSTRAINTS_PATH}.scaleUp.pods`, message, fix: `write pods: 0 beside percent: ${percent} if the percentage alone is meant` }];
  }
  return [];
};

/** A percentage of 0 pods is 0, so it alone never scales up from 0. */
export const wakeWarnings = ({ percent, pods }: GivenConstraint, { least }: ReplicaRange): Warning[] =>
  least === 0 && pods === 0 && percent !== 0
    ? [
        {
          field: `${CONSTRAINTS_PATH}.scaleUp.pods`,
          message: "with minReplicas: 0 a percentage alone never scales up from 0: a percentage of 0 pods is 0",
          fix: "write pods: 1 or more, or minReplicas: 1",
        },
      ]
    : [];

/** For scaling down an absent rate means no limit, and a single 0 does not count, so together they forbid nothing. */
export const downWarnings = ({ percent, pods }: GivenConstraint): Warning[] => {
  const zero = percent === 0 && pods === undefined ? "percent" : pods === 0 && percent === undefined ? "pods" : undefined;
  if (zero === undefined) return [];
  const other = zero === "percent" ? "pods" : "percent";
  const message = `${zero}: 0 alone does not limit scaling down: ${other} is absent, which is no limit`;
  return [{ field: `${CONSTRAINTS_PATH}.scaleDown.${zero}`, message, fix: `write ${other}: 0 as well to never scale down` }];
};
