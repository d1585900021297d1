import { forbidden, invalid, notSupported, type Problem, required } from "../../fields/problem.ts";
import { groupOf } from "../../model/spec-common.ts";
import { floatOf, signOf } from "../../model/quantity.ts";
import { labelFaults, qualifiedNameFaults, pathSegmentFaults } from "../kubernetes-names.ts";
import type { Metric, Target, Reference } from "./v2-shape.ts";

/** The members of a metric in the order of the API, which only checks the first present one (hpa.md 1.3). */
const SOURCES = ["object", "external", "pods", "resource", "containerResource"] as const;
type SourceMember = (typeof SOURCES)[number];

const SOURCE_OF_TYPE: ReadonlyMap<string, SourceMember> = new Map([
  ["Object", "object"],
  ["External", "external"],
  ["Pods", "pods"],
  ["Resource", "resource"],
  ["ContainerResource", "containerResource"],
]);
const TARGET_TYPES = ["Utilization", "Value", "AverageValue"];

export const metricProblems = (metric: Metric, path: string): Problem[] => {
  const present = SOURCES.filter((source) => metric[source] !== undefined);
  return [...typeProblems(metric.type ?? "", path), ...sourceProblems(metric, present[0], path), ...memberProblems(metric.type ?? "", present, path)];
};

const typeProblems = (type: string, path: string): Problem[] => [
  ...(type === "" ? [required(`${path}.type`, "must specify a metric source type", `write type: Resource, or another of the five`)] : []),
  ...(SOURCE_OF_TYPE.has(type) ? [] : [notSupported(`${path}.type`, [...SOURCE_OF_TYPE.keys()])]),
];

/** Requires exactly the member that the type names. */
const memberProblems = (type: string, present: readonly SourceMember[], path: string): Problem[] => {
  const named = SOURCE_OF_TYPE.get(type);
  const missing = named !== undefined && !present.includes(named);
  const others = present.length === 1 ? [] : present.filter((source) => source !== named);
  return [
    ...(missing
      ? [required(`${path}.${named}`, "must populate information for the given metric source", `write the member "${named}", or another type`)]
      : []),
    ...others.map((source) =>
      forbidden(`${path}.${source}`, "must populate the given metric source only", "remove it, or make it a metric of its own"),
    ),
  ];
};

const sourceProblems = (metric: Metric, source: SourceMember | undefined, path: string): Problem[] => {
  switch (source) {
    case undefined:
      return [];
    case "object":
      return objectProblems(metric.object, `${path}.object`);
    case "external":
      return externalProblems(metric.external, `${path}.external`);
    case "pods":
      return podsProblems(metric.pods, `${path}.pods`);
    case "resource":
      return resourceProblems(metric.resource, `${path}.resource`);
    case "containerResource":
      return containerProblems(metric.containerResource, `${path}.containerResource`);
  }
};

const objectProblems = (source: Metric["object"], path: string): Problem[] => {
  const { value, averageValue } = source?.target ?? {};
  const apiVersion = source?.describedObject?.apiVersion ?? "";
  const neither = value === undefined && averageValue === undefined;
  return [
    ...referenceProblems(source?.describedObject, `${path}.describedObject`),
    ...(groupOf(apiVersion) === undefined ? [unreadableVersion(`${path}.describedObject.apiVersion`, apiVersion)] : []),
    ...metricNameProblems(source?.metric?.name, path),
    ...targetProblems(source?.target, path),
    ...(neither
      ? [
          required(
            `${path}.target.averageValue`,
            "must set either a target value or averageValue",
            "write target.value for the whole, or target.averageValue per pod",
          ),
        ]
      : []),
  ];
};

const externalProblems = (source: Metric["external"], path: string): Problem[] => {
  const { value, averageValue } = source?.target ?? {};
  const problems = [...metricNameProblems(source?.metric?.name, path), ...targetProblems(source?.target, path)];
  const fix = "write target.value for the whole, or target.averageValue per pod, not both";
  if (value === undefined && averageValue === undefined) {
    problems.push(required(`${path}.target.averageValue`, "must set either a target value for metric or a per-pod target", fix));
  }
  if (value !== undefined && averageValue !== undefined) {
    problems.push(forbidden(`${path}.target.value`, "may not set both a target value for metric and a per-pod target", fix));
  }
  return problems;
};

const podsProblems = (source: Metric["pods"], path: string): Problem[] => [
  ...metricNameProblems(source?.metric?.name, path),
  ...targetProblems(source?.target, path),
  ...(source?.target?.averageValue === undefined
    ? [required(`${path}.target.averageValue`, "must specify a positive target averageValue", "write target.averageValue: the wanted value per pod")]
    : []),
];

const resourceProblems = (source: Metric["resource"], path: string): Problem[] => [
  ...((source?.name ?? "") === "" ? [required(`${path}.name`, "must specify a resource name", "write name: cpu or name: memory")] : []),
  ...targetProblems(source?.target, path),
  ...usageProblems(source?.target, path),
];

const containerProblems = (source: Metric["containerResource"], path: string): Problem[] => {
  const container = source?.container ?? "";
  return [
    ...resourceNameProblems(source?.name ?? "", `${path}.name`),
    ...(container === ""
      ? [required(`${path}.container`, "must specify a container", "write the name of the measured container")]
      : labelFaults(container).map((fault) => invalid(`${path}.container`, fault, "write the name of a container of the pods"))),
    ...targetProblems(source?.target, path),
    ...usageProblems(source?.target, path),
  ];
};

const usageProblems = (target: Target | undefined, path: string): Problem[] => {
  const { averageUtilization, averageValue } = target ?? {};
  const fix = "write target.averageUtilization in percent of the request, or target.averageValue per pod, not both";
  if (averageUtilization === undefined && averageValue === undefined) {
    return [required(`${path}.target.averageUtilization`, "must set either a target raw value or a target utilization", fix)];
  }
  if (averageUtilization === undefined || averageValue === undefined) return [];
  return [forbidden(`${path}.target.averageValue`, "may not set both a target raw value and a target utilization", fix)];
};

const metricNameProblems = (name: string | undefined, path: string): Problem[] =>
  segmentProblems(name, `${path}.metric.name`, "must specify a metric name", "write the name of the metric in the metrics API");

/** The controllers count thousandths in 64 bits: more is taken for this much, silently. */
const MOST = Number(2n ** 63n) / 1_000;

/** The API does not check whether the values fit to `type` either (hpa.md 1.3). */
const targetProblems = (target: Target | undefined, path: string): Problem[] => {
  const at = `${path}.target`;
  const type = target?.type ?? "";
  const problems: Problem[] = [];
  if (type === "") problems.push(required(`${at}.type`, "must specify a metric target type", "write type: Utilization, Value or AverageValue"));
  if (!TARGET_TYPES.includes(type)) {
    problems.push(invalid(`${at}.type`, "must be either Utilization, Value, or AverageValue", "write one of the three"));
  }
  for (const member of ["value", "averageValue"] as const) {
    const quantity = target?.[member];
    if (quantity && signOf(quantity) !== 1) problems.push(invalid(`${at}.${member}`, "must be positive", "write a quantity above 0, such as 500m"));
    if (quantity && floatOf(quantity) > MOST)
      problems.push(invalid(`${at}.${member}`, "must be at most 9223372036854775807 thousandths", "write a smaller quantity, such as 4P"));
  }
  if (target?.averageUtilization !== undefined && target.averageUtilization < 1) {
    problems.push(invalid(`${at}.averageUtilization`, "must be greater than 0", "write a percentage of 1 or more"));
  }
  return problems;
};

/** Resources of containers without a prefix. */
const OF_CONTAINERS = new Set(["cpu", "memory", "ephemeral-storage"]);
/** Other resources without a prefix, for example in quotas. */
const STANDARD = new Set([
  ...OF_CONTAINERS,
  ...["requests", "limits"].flatMap((side) => [...OF_CONTAINERS].map((name) => `${side}.${name}`)),
  ...["pods", "resourcequotas", "services", "replicationcontrollers", "secrets", "configmaps", "persistentvolumeclaims"],
  ...["storage", "requests.storage", "services.nodeports", "services.loadbalancers"],
]);
const HUGE_PAGES = /^hugepages-/;
const QUOTA_HUGE_PAGES = /^(requests\.)?hugepages-/;
const QUOTA_PREFIX = "requests.";
const NATIVE_DOMAIN = "kubernetes.io/";

const FIX = "write cpu, memory or ephemeral-storage, or the full name of an extended resource, such as example.com/gpu";

/** Problems of a name as a container's resource (hpa.md 1.3, containerResource). */
const resourceNameProblems = (name: string, path: string): Problem[] => {
  if (name === "") return [required(path, "must specify a resource name", FIX)];
  return [...shapeFaults(name), ...useFaults(name)].map((fault) => invalid(path, fault, FIX));
};

const shapeFaults = (name: string): string[] => {
  const faults = qualifiedNameFaults(name);
  if (faults.length > 0 || name.includes("/")) return faults;
  return STANDARD.has(name) || QUOTA_HUGE_PAGES.test(name) ? [] : ["must be a standard resource type or fully qualified"];
};

const useFaults = (name: string): string[] => {
  if (!name.includes("/")) return OF_CONTAINERS.has(name) || HUGE_PAGES.test(name) ? [] : ["must be a standard resource for containers"];
  if (name.includes(NATIVE_DOMAIN)) return [];
  // The name of an extended resource must leave room for the prefix of its quota.
  const extended = !name.startsWith(QUOTA_PREFIX) && qualifiedNameFaults(QUOTA_PREFIX + name).length === 0;
  return extended ? [] : ["doesn't follow extended resource name standard"];
};

/** Kind and name of an object; each is a segment of a path. */
export const referenceProblems = (reference: Reference | undefined, path: string): Problem[] => [
  ...segmentProblems(reference?.kind, `${path}.kind`, "", "write its kind, such as Deployment"),
  ...segmentProblems(reference?.name, `${path}.name`, "", "write its name"),
];

const segmentProblems = (value: string | undefined, path: string, whenEmpty: string, fix: string): Problem[] =>
  value === undefined || value === ""
    ? [required(path, whenEmpty, fix)]
    : pathSegmentFaults(value).map((fault) => invalid(path, fault, "write the name in the cluster, without / and %"));

export const unreadableVersion = (path: string, apiVersion: string): Problem =>
  invalid(path, `unexpected GroupVersion string: ${apiVersion}`, "write group/version, such as apps/v1");
