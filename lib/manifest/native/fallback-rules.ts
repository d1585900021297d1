import { forbidden, invalid, required } from "../problem.ts";
import type { Rule } from "./paired-rule.ts";
import { allOf, areAbsent, equals, ifThen, isSet } from "./schema-conditions.ts";
import type { MetricRead } from "./spec-fields.ts";

type OnMissing = MetricRead["onMissing"];

/** Both fields belong to `action: fallback`, which needs both. */
const fieldsOfFallback: Rule<OnMissing> = {
  says: "replicas and afterSeconds belong to action: fallback, which needs both",
  schema: ifThen(equals("action", "fallback"), allOf(isSet("replicas"), isSet("afterSeconds")), areAbsent("replicas", "afterSeconds")),
  problems: ({ action, ...written }, { path }) => {
    if (action !== "fallback")
      return (["replicas", "afterSeconds"] as const)
        .filter((name) => written[name] !== undefined)
        .map((name) => forbidden(`${path}.${name}`, "may only be set with action: fallback", "write action: fallback, or remove it"));
    return [
      ...(written.replicas === undefined ? [required(`${path}.replicas`, "", "write the count to fall back to")] : []),
      ...(written.afterSeconds === undefined
        ? [required(`${path}.afterSeconds`, "", "write how long the metric must be missing, 0 for at once")]
        : []),
    ];
  },
};

const withinBounds: Rule<OnMissing> = {
  problems: ({ action, replicas }, { path, spec: { minReplicas, maxReplicas = minReplicas } }) =>
    action === "fallback" && replicas !== undefined && (replicas < minReplicas || replicas > maxReplicas)
      ? [invalid(`${path}.replicas`, "must lie within minReplicas and maxReplicas", `write ${minReplicas} to ${maxReplicas}`)]
      : [],
};

export const FALLBACK_RULES: readonly Rule<OnMissing>[] = [fieldsOfFallback, withinBounds];
