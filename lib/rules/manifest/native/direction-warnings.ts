import { warnIf, type Warning } from "../../fields/problem.ts";
import { milliOf } from "../../model/quantity.ts";
import { isDefaultPolicy, pastTheBounds, type Way } from "../../policy/shared/never-binds.ts";
import type { RulesRead, SpecRead } from "./spec-fields.ts";

type Policy = RulesRead["policies"][number];

/** Settings of one direction without effect. Default values get no warning. */
export const directionWarnings = (
  way: Way,
  spec: SpecRead,
  syncPeriodSeconds: number,
): readonly Warning[] => {
  const rules = spec[way];
  const path = `spec.${way}`;
  if (rules.selectPolicy === "Disabled") return disabledWarnings(rules, path);
  const window = (
    name: "sustainSeconds" | "stabilizationWindowSeconds" | "forbiddenAfterEventSeconds",
  ): readonly Warning[] => shortWindow(`${path}.${name}`, rules[name], syncPeriodSeconds);
  return [
    ...window("sustainSeconds"),
    ...window("stabilizationWindowSeconds"),
    ...window("forbiddenAfterEventSeconds"),
    ...rules.policies.flatMap((policy, index) =>
      isByDefault(policy)
        ? []
        : policyWarnings(policy, `${path}.policies[${index}]`, { way, spec, syncPeriodSeconds }),
    ),
    ...stepWarnings(rules, path),
    ...moduloWarnings(rules, path, spec),
    ...blockWarnings(rules, path, way, spec),
  ];
};

interface Direction {
  readonly way: Way;
  readonly spec: SpecRead;
  readonly syncPeriodSeconds: number;
}

const policyWarnings = (
  policy: Policy,
  path: string,
  { way, spec, syncPeriodSeconds }: Direction,
): readonly Warning[] => {
  const never = neverBinds(policy, way, spec);
  return [
    ...shortWindow(`${path}.periodSeconds`, policy.periodSeconds, syncPeriodSeconds),
    ...warnIf(
      never !== undefined,
      path,
      `this policy can never bind: ${never}`,
      "remove it, or write another value",
    ),
  ];
};

/** Why the policy can never limit a count; `undefined` when it can. */
const neverBinds = (policy: Policy, way: Way, spec: SpecRead): string | undefined =>
  overruled(policy, spec[way]) ??
  pastTheBounds({ type: policy.type ?? "Percent", value: amountOf(policy) }, way, {
    minReplicas: spec.minReplicas,
    maxReplicas: spec.maxReplicas ?? spec.minReplicas,
  });

/**
 * The other settings of a disabled direction have no effect. A default value may not have been
 * written.
 */
const disabledWarnings = (rules: RulesRead, path: string): readonly Warning[] => {
  const { sustainSeconds, forbiddenAfterEventSeconds, stepMinimum, replicaModulo, countedChanges } =
    rules;
  const written = Object.entries({
    sustainSeconds,
    forbiddenAfterEventSeconds,
    stepMinimum: stepMinimum - 1,
    replicaModulo: replicaModulo - 1,
  });
  const names = [
    ...written.filter(([, value]) => value > 0).map(([name]) => name),
    ...rules.policies.flatMap((policy, index) => (isByDefault(policy) ? [] : `policies[${index}]`)),
    ...(countedChanges === "Both" ? [] : ["countedChanges"]),
  ];
  return names.map((name) => ({
    field: `${path}.${name}`,
    message: "it has no effect, because the direction is disabled",
    fix: "remove it",
  }));
};

const overruled = (policy: Policy, { policies, selectPolicy }: RulesRead): string | undefined => {
  const own = amountOf(policy);
  const alike = policies.filter(
    (other) =>
      other !== policy &&
      other.type === policy.type &&
      other.periodSeconds === policy.periodSeconds,
  );
  if (
    alike.some((other) => (selectPolicy === "Min" ? amountOf(other) < own : amountOf(other) > own))
  )
    return `another policy of the same type and period ${selectPolicy === "Min" ? "allows less" : "allows more"}`;
  const twin = alike.find((other) => amountOf(other) === own);
  return twin && policies.indexOf(twin) < policies.indexOf(policy)
    ? "an earlier policy is equal to it"
    : undefined;
};

const amountOf = ({ value }: Policy): number => (value ? Number(milliOf(value)) / 1000 : 0);

const isByDefault = (policy: Policy): boolean =>
  isDefaultPolicy({
    type: policy.type ?? "Percent",
    value: amountOf(policy),
    periodSeconds: policy.periodSeconds ?? 0,
  });

/**
 * The step counts before the policies (docs/pod-autoscaler.md), so a slow policy still makes
 * smaller steps.
 */
const stepWarnings = (
  { stepMinimum, policies, selectPolicy }: RulesRead,
  path: string,
): readonly Warning[] => {
  const pods = policies.map((policy) =>
    policy.type === "Pods" ? amountOf(policy) : Number.POSITIVE_INFINITY,
  );
  const most = selectPolicy === "Min" ? Math.min(...pods) : Math.max(...pods);
  const message = `the policies allow ${most} pods at a time: a wanted change of ${stepMinimum} or more is made in steps smaller than that`;
  return warnIf(
    most < stepMinimum,
    `${path}.stepMinimum`,
    message,
    `write a policy of ${stepMinimum} pods or more, or a smaller stepMinimum`,
  );
};

const moduloWarnings = (
  { replicaModulo }: RulesRead,
  path: string,
  { minReplicas, maxReplicas }: SpecRead,
): readonly Warning[] =>
  warnIf(
    maxReplicas !== undefined &&
      replicaModulo > 1 &&
      Math.ceil(minReplicas / replicaModulo) * replicaModulo > maxReplicas,
    `${path}.replicaModulo`,
    `no multiple of ${replicaModulo} lies between minReplicas and maxReplicas: only the bounds can be reached`,
    "write a smaller one, or raise maxReplicas",
  );

/** A count divided by a factor is rounded up, and so may never change. */
const blockWarnings = (
  { policies, selectPolicy }: RulesRead,
  path: string,
  way: Way,
  { maxReplicas = 1 }: SpecRead,
): readonly Warning[] => {
  if (way === "scaleUp") return [];
  const blocks = policies.map(
    (policy) =>
      policy.type === "Factor" && Math.ceil(maxReplicas / amountOf(policy)) === maxReplicas,
  );
  const never =
    blocks.length > 0 && (selectPolicy === "Min" ? blocks.includes(true) : !blocks.includes(false));
  const message = `the count never shrinks: divided by the factor and rounded up, ${maxReplicas} stays ${maxReplicas}`;
  return warnIf(never, `${path}.policies`, message, "write a larger factor, or a policy of Pods");
};

/** Warns of a time shorter than a sync period, because a sync can only measure in periods. */
export const shortWindow = (
  field: string,
  seconds: number | undefined,
  syncPeriodSeconds: number,
): readonly Warning[] =>
  warnIf(
    seconds !== undefined && seconds > 0 && seconds < syncPeriodSeconds,
    field,
    `${seconds} s are shorter than the sync period of ${syncPeriodSeconds} s, so the next sync comes after it`,
    `write ${syncPeriodSeconds} or more`,
  );
