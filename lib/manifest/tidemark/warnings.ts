import { milliOf } from "../../model/quantity.ts";
import type { Warning } from "../problem.ts";
import type { RulesRead, SpecRead } from "./fields.ts";

/** Sync period of a cluster that says nothing of it; the manifest does not know its cluster. */
const DEFAULT_PERIOD_SECONDS = 15;

/** What is allowed and probably not meant: it can never have an effect, or less than it seems to. */
export const nativeWarnings = (read: SpecRead): readonly Warning[] => [
  ...directionWarnings(read.scaleUp, "spec.scaleUp", read),
  ...directionWarnings(read.scaleDown, "spec.scaleDown", read),
  ...(read.flapBudget ? shortWindow("spec.flapBudget.periodSeconds", read.flapBudget.periodSeconds ?? DEFAULT_PERIOD_SECONDS) : []),
  ...(read.metrics.length > 0 && read.metrics.every(({ scaleUpOnly }) => scaleUpOnly)
    ? [{ field: "spec.metrics", message: "every metric is scaleUpOnly: the count never shrinks", fix: "leave scaleUpOnly out of one metric" }]
    : []),
  ...read.metrics.flatMap(({ tolerance, activation }, index) => [
    ...(tolerance?.down && milliOf(tolerance.down) >= 1000n
      ? [
          {
            field: `spec.metrics[${index}].tolerance.down`,
            message: "from 1 on the metric never asks for fewer pods",
            fix: "write a share below 1, or scaleUpOnly",
          },
        ]
      : []),
    ...(activation && !read.idle
      ? [{ field: `spec.metrics[${index}].activation`, message: "without spec.idle it has no effect", fix: "add idle" }]
      : []),
  ]),
];

const directionWarnings = (rules: RulesRead, path: string, spec: SpecRead): readonly Warning[] => [
  ...shortWindow(`${path}.sustainSeconds`, rules.sustainSeconds),
  ...shortWindow(`${path}.stabilizationWindowSeconds`, rules.stabilizationWindowSeconds),
  ...shortWindow(`${path}.forbiddenAfterEventSeconds`, rules.forbiddenAfterEventSeconds),
  ...rules.policies.flatMap((policy, index) => policyWarnings(policy, `${path}.policies[${index}]`, rules, spec)),
];

const shortWindow = (field: string, seconds: number): readonly Warning[] =>
  seconds > 0 && seconds < DEFAULT_PERIOD_SECONDS
    ? [
        {
          field,
          message: `${seconds} s are shorter than a sync period of ${DEFAULT_PERIOD_SECONDS} s: it is over by the next sync`,
          fix: `write ${DEFAULT_PERIOD_SECONDS} or more`,
        },
      ]
    : [];

type Policy = RulesRead["policies"][number];

const policyWarnings = (policy: Policy, path: string, rules: RulesRead, spec: SpecRead): readonly Warning[] => {
  const never = neverBinds(policy, path, rules, spec);
  return [
    ...shortWindow(`${path}.periodSeconds`, policy.periodSeconds ?? 0),
    ...(never ? [{ field: path, message: `this policy can never bind: ${never}`, fix: "remove it, or write another value" }] : []),
  ];
};

/** Why no count is ever held by the policy; `undefined` when one may be. The defaults are not reproached. */
const neverBinds = (policy: Policy, path: string, rules: RulesRead, spec: SpecRead): string | undefined => {
  if (rules.selectPolicy === "Disabled") return "the direction is disabled";
  if (isOverruled(policy, rules)) return `another policy of the same type and period ${rules.selectPolicy === "Min" ? "allows less" : "allows more"}`;
  return isDefaultPolicy(policy) ? undefined : pastTheBounds(policy, path, spec);
};

const pastTheBounds = (policy: Policy, path: string, { minReplicas, maxReplicas = minReplicas }: SpecRead): string | undefined => {
  const value = policy.value ? Number(milliOf(policy.value)) / 1000 : 0;
  const room = maxReplicas - minReplicas;
  if (policy.type === "Pods") return value >= room ? `it allows ${value} pods, and between the bounds lie ${room}` : undefined;
  const down = path.startsWith("spec.scaleDown");
  const percentPasses = down ? maxReplicas * (1 - value / 100) <= minReplicas : minReplicas * (1 + value / 100) >= maxReplicas;
  const passes = policy.type === "Factor" ? value * minReplicas >= maxReplicas : percentPasses;
  return passes ? "it leads from one bound past the other" : undefined;
};

const isDefaultPolicy = ({ type, value, periodSeconds }: Policy): boolean =>
  periodSeconds === 15 && value !== undefined && milliOf(value) === (type === "Percent" ? 100_000n : 4_000n) && type !== "Factor";

const isOverruled = (policy: Policy, { policies, selectPolicy }: RulesRead): boolean =>
  policies.some((other) => {
    if (other === policy || other.type !== policy.type || other.periodSeconds !== policy.periodSeconds || !other.value || !policy.value) return false;
    const [own, its] = [milliOf(policy.value), milliOf(other.value)];
    return selectPolicy === "Min" ? its < own : its > own;
  });
