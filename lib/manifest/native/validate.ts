import { groupOf } from "../../model/api-group.ts";
import { isWhole, milliOf, type Quantity } from "../../model/quantity.ts";
import { pathSegmentFaults } from "../kubernetes-names.ts";
import { forbidden, invalid, type Problem, required } from "../problem.ts";
import { measureOf, nameOf, sourcesOf } from "./read-metric.ts";
import { MOST_REPLICAS } from "./spec-conditions.ts";
import type { MetricRead, RulesRead, SpecRead } from "./spec-fields.ts";

/** Contradictions in a spec with `rules: native`, beyond the bounds of single fields. */
export const nativeProblems = (read: SpecRead): readonly Problem[] => [
  ...boundsProblems(read),
  ...(read.metrics.length === 0 ? [required("spec.metrics", "", "write at least one metric")] : []),
  ...read.metrics.flatMap((metric, index) => metricProblems(metric, `spec.metrics[${index}]`, read)),
  ...nameProblems(read),
  ...rulesProblems(read.scaleUp, "spec.scaleUp", read),
  ...rulesProblems(read.scaleDown, "spec.scaleDown", read),
  ...idleProblems(read),
];

const boundsProblems = ({ minReplicas, maxReplicas, scaleTargetRef }: SpecRead): readonly Problem[] => {
  const problems: Problem[] = [];
  if (minReplicas < 1) problems.push(invalid("spec.minReplicas", "must be greater than or equal to 1", "write 1 or more, and idle to scale to zero"));
  for (const [name, count] of Object.entries({ minReplicas, maxReplicas }))
    if (count !== undefined && count > MOST_REPLICAS)
      problems.push(invalid(`spec.${name}`, `must be less than or equal to ${MOST_REPLICAS}`, `write ${MOST_REPLICAS} or less`));
  if (maxReplicas !== undefined && maxReplicas < minReplicas)
    problems.push(invalid("spec.maxReplicas", "must be greater than or equal to minReplicas", `write ${minReplicas} or more`));
  return [...problems, ...(scaleTargetRef ? targetProblems(scaleTargetRef) : [])];
};

/** Only a ReplicationController is scalable in the core group. */
const targetProblems = ({ apiVersion = "", kind, name }: NonNullable<SpecRead["scaleTargetRef"]>): readonly Problem[] => {
  const path = "spec.scaleTargetRef";
  const group = groupOf(apiVersion);
  const ofGroup = group === undefined || (group === "" && kind !== "ReplicationController");
  return [
    ...(ofGroup ? [invalid(`${path}.apiVersion`, "must be group/version", "write group/version, such as apps/v1 for a Deployment")] : []),
    ...segmentProblems(kind, `${path}.kind`),
    ...segmentProblems(name, `${path}.name`),
  ];
};

/** Names become parts of a path. An absent one is reported with the bounds. */
const segmentProblems = (name: string | undefined, path: string): readonly Problem[] =>
  pathSegmentFaults(name ?? "").map((fault) => invalid(path, fault, "write the name in the cluster, without / and %"));

const nameProblems = ({ metrics }: SpecRead): readonly Problem[] => {
  const names = metrics.map(nameOf);
  return names.flatMap((name, index) =>
    name !== "" && names.indexOf(name) < index
      ? [invalid(`spec.metrics[${index}].name`, `must be unique: "${name}" is the name of another metric`, "give this metric a name of its own")]
      : [],
  );
};

const metricProblems = (metric: MetricRead, path: string, spec: SpecRead): readonly Problem[] => {
  const [source, ...more] = sourcesOf(metric);
  if (source === undefined) return [required(path, "", "write one of resource, containerResource, pods, object, external, namespace")];
  return [
    ...more.map((other) =>
      forbidden(`${path}.${other}`, `may not be set together with ${source}`, "keep one source, and write the other as a metric of its own"),
    ),
    ...sourceProblems(metric, path),
    ...measureProblems(metric, path),
    ...bandProblems(metric, path),
    ...missingProblems(metric, path, spec),
    ...activationProblems(metric, path),
  ];
};

const sourceProblems = ({ pods, object, external, namespace }: MetricRead, path: string): readonly Problem[] => [
  ...Object.entries({ pods, object, external, namespace }).flatMap(([source, block]) => segmentProblems(block?.metric, `${path}.${source}.metric`)),
  ...(["kind", "name"] as const).flatMap((part) => segmentProblems(object?.describedObject?.[part], `${path}.object.describedObject.${part}`)),
  ...(groupOf(object?.describedObject?.apiVersion ?? "") === undefined
    ? [invalid(`${path}.object.describedObject.apiVersion`, "must be group/version", "write group/version, such as networking.k8s.io/v1")]
    : []),
];

/** The measures of each source. */
const measureProblems = (metric: MetricRead, path: string): readonly Problem[] => {
  const known = metric.resource || metric.containerResource ? ["Percent", "Average"] : metric.pods ? ["Average"] : ["Average", "Total"];
  return known.includes(measureOf(metric))
    ? []
    : [invalid(`${path}.measure`, `must be ${known.join(" or ")} for ${sourcesOf(metric)[0]}`, `write ${known.join(" or ")}`)];
};

const bandProblems = (metric: MetricRead, path: string): readonly Problem[] => {
  const { target, watermarks, tolerance } = metric;
  if (!target && !watermarks) return [required(`${path}.target`, "", "write target, or watermarks with low and high")];
  if (!watermarks) return percentProblems(metric, target, `${path}.target`);
  const problems = [
    ...percentProblems(metric, watermarks.low, `${path}.watermarks.low`),
    ...percentProblems(metric, watermarks.high, `${path}.watermarks.high`),
  ];
  if (target) problems.push(forbidden(`${path}.target`, "may not be set together with watermarks", "keep target or watermarks"));
  if (tolerance) problems.push(forbidden(`${path}.tolerance`, "may not be set together with watermarks", "move the watermarks apart instead"));
  if (watermarks.low && watermarks.high && milliOf(watermarks.low) > milliOf(watermarks.high))
    problems.push(
      invalid(`${path}.watermarks.low`, "must be less than or equal to high: the watermarks are crossed", "write the lower value as low"),
    );
  return problems;
};

const MOST_PERCENT = 1_000_000;

const percentProblems = (metric: MetricRead, level: Quantity | undefined, path: string): readonly Problem[] => {
  if (!level || measureOf(metric) !== "Percent") return [];
  return isWhole(level) && milliOf(level) <= BigInt(MOST_PERCENT) * 1000n
    ? []
    : [invalid(path, `must be a whole percentage up to ${MOST_PERCENT}`, "write whole percents such as 60")];
};

const missingProblems = ({ onMissing }: MetricRead, path: string, { minReplicas, maxReplicas = minReplicas }: SpecRead): readonly Problem[] => {
  const { action, replicas, afterSeconds } = onMissing;
  const at = (name: string): string => `${path}.onMissing.${name}`;
  if (action !== "fallback")
    return (["replicas", "afterSeconds"] as const)
      .filter((name) => onMissing[name] !== undefined)
      .map((name) => forbidden(at(name), "may only be set with action: fallback", "write action: fallback, or remove it"));
  const problems: Problem[] = [];
  if (replicas === undefined) problems.push(required(at("replicas"), "", "write the count to fall back to"));
  else if (replicas < minReplicas || replicas > maxReplicas)
    problems.push(invalid(at("replicas"), "must lie within minReplicas and maxReplicas", `write ${minReplicas} to ${maxReplicas}`));
  if (afterSeconds === undefined) problems.push(required(at("afterSeconds"), "", "write how long the metric must be missing, 0 for at once"));
  return problems;
};

const activationProblems = (metric: MetricRead, path: string): readonly Problem[] =>
  metric.activation && !(metric.object || metric.external || metric.namespace)
    ? [
        forbidden(
          `${path}.activation`,
          "may not be set for a metric of pods: an idle workload has none",
          "put it on an object, external or namespace metric",
        ),
      ]
    : [];

const rulesProblems = (
  { stepMinimum, policies, selectPolicy }: RulesRead,
  path: string,
  { minReplicas, maxReplicas }: SpecRead,
): readonly Problem[] => {
  const problems = policies.flatMap(({ type, value }, index) => (value ? policyProblems(type, value, `${path}.policies[${index}].value`) : []));
  const room = maxReplicas === undefined ? undefined : maxReplicas - minReplicas;
  if (room !== undefined && stepMinimum > Math.max(1, room))
    problems.push(
      invalid(
        `${path}.stepMinimum`,
        `must be less than or equal to maxReplicas - minReplicas, which is ${room}: no change is that large`,
        `write ${Math.max(1, room)} or less`,
      ),
    );
  if (policies.length === 0 && selectPolicy !== "Disabled")
    problems.push(required(`${path}.policies`, "must hold at least one policy", "add a policy, or leave policies out for the defaults"));
  return problems;
};

const policyProblems = (type: string | undefined, value: Quantity, path: string): Problem[] => {
  if (type === "Pods" && !isWhole(value)) return [invalid(path, "must be a whole number of pods", "write 1 or more")];
  return type === "Factor" && milliOf(value) <= 1000n
    ? [invalid(path, "must be greater than 1: times 1 changes nothing", 'write a factor such as "1.5"')]
    : [];
};

const idleProblems = ({ idle, metrics, minReplicas }: SpecRead): readonly Problem[] => {
  if (!idle) return [];
  const problems: Problem[] = [];
  if (idle.replicas >= minReplicas) problems.push(invalid("spec.idle.replicas", "must be less than minReplicas", "write 0, or raise minReplicas"));
  if (!metrics.some(({ activation }) => activation))
    problems.push(
      required("spec.metrics", "idle needs a metric with an activation threshold", "write activation on an object, external or namespace metric"),
    );
  return problems;
};
