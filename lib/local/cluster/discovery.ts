import { DEMAND_METRIC } from "./metrics-objects.ts";
import { groupVersion, RESOURCES, type Resource } from "./served-resources.ts";

/** Versions of every group, the preferred one first. */
const GROUPS: Readonly<Record<string, readonly string[]>> = {
  apps: ["v1"],
  autoscaling: ["v2", "v1"],
  "events.k8s.io": ["v1"],
  "tidemark.dev": ["v1"],
  "datadoghq.com": ["v1alpha1"],
  "keda.sh": ["v1alpha1"],
  "metrics.k8s.io": ["v1beta1"],
  "custom.metrics.k8s.io": ["v1beta2", "v1beta1"],
  "external.metrics.k8s.io": ["v1beta1"],
  "networking.k8s.io": ["v1"],
};

const VERSION = {
  major: "1",
  minor: "37",
  gitVersion: "v1.37.1+tidemark.local",
  gitTreeState: "clean",
  platform: `${process.platform}/${process.arch}`,
};
const GET_ONLY = ["get"];

/** The answer to a discovery path. Undefined for every other path. Without KEDA its group does not exist. */
export const discover = (path: string, hasKeda: boolean): unknown => {
  const isServed = (group: string): boolean => hasKeda || group !== "keda.sh";
  if (path === "/version") return VERSION;
  if (path === "/api") return { kind: "APIVersions", versions: ["v1"], serverAddressByClientCIDRs: [] };
  if (path === "/apis") return { kind: "APIGroupList", apiVersion: "v1", groups: Object.keys(GROUPS).filter(isServed).map(apiGroup) };
  if (path === "/api/v1") return resourceList("", "v1");
  const [, group = "", version] = /^\/apis\/([^/]+)(?:\/([^/]+))?$/.exec(path) ?? [];
  const versions = Object.hasOwn(GROUPS, group) && isServed(group) ? GROUPS[group] : undefined;
  if (!versions) return undefined;
  if (version === undefined) return { kind: "APIGroup", apiVersion: "v1", ...apiGroup(group) };
  return versions.includes(version) ? resourceList(group, version) : undefined;
};

const apiGroup = (group: string) => {
  const versions = (GROUPS[group] ?? []).map((version) => ({ groupVersion: `${group}/${version}`, version }));
  return { name: group, versions, preferredVersion: versions[0] };
};

const resourceList = (group: string, version: string) => ({
  kind: "APIResourceList",
  apiVersion: "v1",
  groupVersion: groupVersion({ group, version }),
  resources: [...RESOURCES.filter((each) => each.group === group && each.version === version).flatMap(entries), ...metricEntries(group)],
});

const entries = (served: Resource) => {
  const { resource, singular, namespaced, kind, shortNames, scalable } = served;
  const entry = { name: resource, singularName: singular, namespaced, kind, verbs: verbsOf(served), ...(shortNames.length > 0 && { shortNames }) };
  const scale = {
    name: `${resource}/scale`,
    singularName: "",
    namespaced,
    group: "autoscaling",
    version: "v1",
    kind: "Scale",
    verbs: ["get", "patch", "update"],
  };
  if (served.custom) return [entry, { name: `${resource}/status`, singularName: "", namespaced, kind, verbs: ["get", "patch", "update"] }];
  return scalable ? [entry, scale] : [entry];
};

const verbsOf = ({ custom, kind }: Resource): readonly string[] => {
  if (custom) return ["create", "delete", "get", "list", "patch", "update", "watch"];
  return kind === "Event" ? ["create", "get", "list", "patch"] : ["get", "list"];
};

const metricEntries = (group: string) => {
  const entry = (name: string, kind: string) => ({ name, singularName: "", namespaced: true, kind, verbs: GET_ONLY });
  if (group === "custom.metrics.k8s.io")
    return [`pods/${DEMAND_METRIC}`, `deployments.apps/${DEMAND_METRIC}`].map((name) => entry(name, "MetricValueList"));
  if (group === "external.metrics.k8s.io") return [entry(DEMAND_METRIC, "ExternalMetricValueList")];
  return [];
};
