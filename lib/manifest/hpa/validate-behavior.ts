import { invalid, notSupported, type Problem, required } from "../../fields/problem.ts";
import { signOf } from "../../model/quantity.ts";
import type { DraftBehavior, Rules } from "./v2-shape.ts";

/** Bounds of hpa.md 1.1, also for a draft `constraints` block. */
export const MAX_STABILIZATION_SECONDS = 3_600;
export const MAX_PERIOD_SECONDS = 1_800;

const SELECT_POLICIES = ["Max", "Min", "Disabled"];
const POLICY_TYPES = ["Pods", "Percent"];

export const behaviorProblems = (behavior: DraftBehavior | undefined): Problem[] => [
  ...rulesProblems(behavior?.scaleUp, "spec.behavior.scaleUp"),
  ...rulesProblems(behavior?.scaleDown, "spec.behavior.scaleDown"),
];

const rulesProblems = (rules: Rules | undefined, path: string): Problem[] => {
  if (rules === undefined) return [];
  const { selectPolicy, policies = [], tolerance } = rules;
  const problems = windowProblems(rules.stabilizationWindowSeconds, `${path}.stabilizationWindowSeconds`);
  if (selectPolicy !== undefined && !SELECT_POLICIES.includes(selectPolicy)) problems.push(notSupported(`${path}.selectPolicy`, SELECT_POLICIES));
  if (policies.length === 0) {
    problems.push(
      required(
        `${path}.policies`,
        "must specify at least one Policy",
        "add a policy, or leave policies out for the defaults; selectPolicy: Disabled forbids the direction",
      ),
    );
  }
  problems.push(...policies.flatMap((policy, index) => policyProblems(policy, `${path}.policies[${index}]`)));
  if (tolerance && signOf(tolerance) < 0) {
    problems.push(invalid(`${path}.tolerance`, "must be greater than or equal to 0", "write a fraction such as 0.05, or leave it out"));
  }
  return problems;
};

const windowProblems = (seconds: number | undefined, path: string): Problem[] => {
  const fix = `write 0 to ${MAX_STABILIZATION_SECONDS} seconds`;
  if (seconds !== undefined && seconds < 0) return [invalid(path, "must be greater than or equal to zero", fix)];
  if (seconds !== undefined && seconds > MAX_STABILIZATION_SECONDS)
    return [invalid(path, `must be less than or equal to ${MAX_STABILIZATION_SECONDS}`, fix)];
  return [];
};

type Policy = NonNullable<Rules["policies"]>[number];

const policyProblems = ({ type = "", value = 0, periodSeconds = 0 }: Policy, path: string): Problem[] => {
  const problems: Problem[] = [];
  const fix = `write 1 to ${MAX_PERIOD_SECONDS} seconds`;
  if (!POLICY_TYPES.includes(type)) problems.push(notSupported(`${path}.type`, POLICY_TYPES));
  if (value <= 0)
    problems.push(invalid(`${path}.value`, "must be greater than zero", "write 1 or more; selectPolicy: Disabled forbids the direction"));
  if (periodSeconds <= 0) problems.push(invalid(`${path}.periodSeconds`, "must be greater than zero", fix));
  if (periodSeconds > MAX_PERIOD_SECONDS) problems.push(invalid(`${path}.periodSeconds`, `must be less than or equal to ${MAX_PERIOD_SECONDS}`, fix));
  return problems;
};
