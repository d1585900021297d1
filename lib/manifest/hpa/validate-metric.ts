import type { FieldDescription } from "../../fields/field-types.ts";
import { forbidden, invalid, notSupported, type Problem, required } from "../../fields/problem.ts";
import { any, atMostOne, type Rule, set } from "../../fields/rule.ts";
import { groupOf } from "../../model/spec-common.ts";
import { labelFaults, pathSegmentFaults, qualifiedNameFaults } from "../kubernetes-names.ts";
import { choice, inParts, integer, object, quantity, REQUIRED } from "../native/field-descriptions.ts";
import { apiProblems } from "./api-problems.ts";
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

const sourceProblems = (metric: Metric, source: SourceMember | undefined, path: string): readonly Problem[] => {
  switch (source) {
    case undefined:
      return [];
    case "object":
      return objectProblems(metric.object, `${path}.object`);
    case "external":
    case "pods":
      return namedProblems(source, metric[source], `${path}.${source}`);
    case "resource":
      return resourceProblems(metric.resource, `${path}.resource`);
    case "containerResource":
      return containerProblems(metric.containerResource, `${path}.containerResource`);
  }
};

const objectProblems = (source: Metric["object"], path: string): readonly Problem[] => {
  const apiVersion = source?.describedObject?.apiVersion ?? "";
  return [
    ...referenceProblems(source?.describedObject, `${path}.describedObject`),
    ...(groupOf(apiVersion) === undefined ? [unreadableVersion(`${path}.describedObject.apiVersion`, apiVersion)] : []),
    ...metricNameProblems(source?.metric?.name, path),
    ...targetProblems("object", source?.target, path),
  ];
};

const namedProblems = (member: "external" | "pods", source: Metric["external"], path: string): readonly Problem[] => [
  ...metricNameProblems(source?.metric?.name, path),
  ...targetProblems(member, source?.target, path),
];

const resourceProblems = (source: Metric["resource"], path: string): readonly Problem[] => [
  ...((source?.name ?? "") === "" ? [required(`${path}.name`, "must specify a resource name", "write name: cpu or name: memory")] : []),
  ...targetProblems("use", source?.target, path),
];

const containerProblems = (source: Metric["containerResource"], path: string): readonly Problem[] => {
  const container = source?.container ?? "";
  return [
    ...resourceNameProblems(source?.name ?? "", `${path}.name`),
    ...(container === ""
      ? [required(`${path}.container`, "must specify a container", "write the name of the measured container")]
      : labelFaults(container).map((fault) => invalid(`${path}.container`, fault, "write the name of a container of the pods"))),
    ...targetProblems("use", source?.target, path),
  ];
};

const metricNameProblems = (name: string | undefined, path: string): Problem[] =>
  segmentProblems(name, `${path}.metric.name`, "must specify a metric name", "write the name of the metric in the metrics API");

const POSITIVE = {
  least: 0.001,
  api: {
    least: ["must be positive", "write a quantity above 0, such as 500m"],
    most: ["must be at most 9223372036854775807 thousandths", "write a smaller quantity, such as 4P"],
  },
} as const;

/** The API does not check whether the values fit to `type` either (hpa.md 1.3). */
const TARGET = {
  type: choice("The meaning of the value; for Object it selects the value that counts.", ["Utilization", "Value", "AverageValue"], {
    ...REQUIRED,
    api: {
      required: ["must specify a metric target type", "write type: Utilization, Value or AverageValue"],
      choices: ["must be either Utilization, Value, or AverageValue", "write one of the three"],
    },
  }),
  value: quantity("For the whole. Object and External.", POSITIVE),
  averageValue: quantity("Per pod.", POSITIVE),
  averageUtilization: integer("Percent of what the pods request. Resource and ContainerResource.", {
    least: 1,
    api: { least: ["must be greater than 0", "write a percentage of 1 or more"] },
  }),
};

const target = (says: string, ...parts: readonly [Rule, ...Rule[]]): FieldDescription => object("The target.", TARGET, [inParts(says, ...parts)]);

type Value = "value" | "averageValue" | "averageUtilization";

/** Neither is reported at the one field, and both at the other. */
const exactlyOne = (
  [one, other]: readonly [Value, Value],
  at: { readonly neither: Value; readonly both: Value },
  [first, second]: readonly [string, string],
  fix: string,
): [Rule, Rule] => [
  { needs: any(set(one), set(other)), at: at.neither, type: "FieldValueRequired", detail: `must set either a ${first} or a ${second}`, fix },
  { needs: atMostOne(one, other), at: at.both, detail: `may not set both a ${first} and a ${second}`, fix },
];

/** The target of each source: what it means, how its rules are printed, and what the API says where one is broken. */
export const TARGET_FIELDS = {
  use: target(
    "write either averageUtilization or averageValue",
    ...exactlyOne(
      ["averageUtilization", "averageValue"],
      { neither: "averageUtilization", both: "averageValue" },
      ["target raw value", "target utilization"],
      "write target.averageUtilization in percent of the request, or target.averageValue per pod, not both",
    ),
  ),
  pods: target("write averageValue", {
    needs: set("averageValue"),
    detail: "must specify a positive target averageValue",
    fix: "write target.averageValue: the wanted value per pod",
  }),
  object: target("write value or averageValue", {
    needs: any(set("value"), set("averageValue")),
    at: "averageValue",
    type: "FieldValueRequired",
    detail: "must set either a target value or averageValue",
    fix: "write target.value for the whole, or target.averageValue per pod",
  }),
  external: target(
    "write either value or averageValue",
    ...exactlyOne(
      ["value", "averageValue"],
      { neither: "averageValue", both: "value" },
      ["target value for metric", "per-pod target"],
      "write target.value for the whole, or target.averageValue per pod, not both",
    ),
  ),
};

const targetProblems = (source: keyof typeof TARGET_FIELDS, written: Target | undefined, path: string): readonly Problem[] =>
  apiProblems(TARGET_FIELDS[source], written ?? {}, `${path}.target`);

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
