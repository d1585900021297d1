import { invalid, required } from "../../fields/problem.ts";
import { isWhole, milliOf } from "../../model/quantity.ts";
import type { Rule } from "./paired-rule.ts";
import { equals, ifNot, ifThen, members } from "./schema-conditions.ts";
import type { RulesRead } from "./spec-fields.ts";

type Policy = RulesRead["policies"][number];

const wholePods: Rule<Policy> = {
  says: "with type: Pods, value must be a whole number",
  schema: ifThen(equals("type", "Pods"), members({ value: { multipleOf: 1 } })),
  problems: ({ type, value }, { path }) =>
    type === "Pods" && value && !isWhole(value) ? [invalid(`${path}.value`, "must be a whole number of pods", "write 1 or more")] : [],
};

const factorAboveOne: Rule<Policy> = {
  says: "with type: Factor, value must be greater than 1",
  schema: ifThen(equals("type", "Factor"), members({ value: { exclusiveMinimum: 1 } })),
  problems: ({ type, value }, { path }) =>
    type === "Factor" && value && milliOf(value) <= 1000n
      ? [invalid(`${path}.value`, "must be greater than 1: times 1 changes nothing", 'write a factor such as "1.5"')]
      : [],
};

export const POLICY_RULES: readonly Rule<Policy>[] = [wholePods, factorAboveOne];

const stepWithinBounds: Rule<RulesRead> = {
  problems: ({ stepMinimum }, { path, spec: { minReplicas, maxReplicas } }) => {
    if (maxReplicas === undefined) return [];
    const room = maxReplicas - minReplicas;
    const most = Math.max(1, room);
    if (stepMinimum <= most) return [];
    const detail = `must be less than or equal to maxReplicas - minReplicas, which is ${room}: no change is that large`;
    return [invalid(`${path}.stepMinimum`, detail, `write ${most} or less`)];
  },
};

const atLeastOnePolicy: Rule<RulesRead> = {
  says: "policies must hold at least one policy; leave it out for the defaults",
  schema: ifNot(equals("selectPolicy", "Disabled"), members({ policies: { minItems: 1 } })),
  problems: ({ policies, selectPolicy }, { path }) =>
    policies.length === 0 && selectPolicy !== "Disabled"
      ? [required(`${path}.policies`, "must hold at least one policy", "add a policy, or leave policies out for the defaults")]
      : [],
};

export const DIRECTION_RULES: readonly Rule<RulesRead>[] = [stepWithinBounds, atLeastOnePolicy];
