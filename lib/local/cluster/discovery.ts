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

/** True for a group that the simulated cluster has whatever its workloads are. */
export const isOwnGroup = (group: string): boolean => group === "" || Object.hasOwn(GROUPS, group);

/** The kinds that a server has beside those of every simulated cluster. */
export interface Installed {
  readonly hasKeda: boolean;
  /** Kinds of workloads that are not of Kubernetes itself. */
  readonly foreign: readonly Resource[];
}

/** The answer to a discovery path. Undefined for every other path. Without KEDA its group does not exist. */
export const discover = (path: string, { hasKeda, foreign }: Installed): unknown => {
  const groups = { ...GROUPS, ...groupsOf(foreign) };
  const isServed = (group: string): boolean => hasKeda || group !== "keda.sh";
  const apiGroup = (group: string) => {
    const versions = (groups[group] ?? []).map((version) => ({ groupVersion: `${group}/${version}`, version }));
    return { name: group, versions, preferredVersion: versions[0] };
  };
  if (path === "/version") return VERSION;
  if (path === "/api") return { kind: "APIVersions", versions: ["v1"], serverAddressByClientCIDRs: [] };
  if (path === "/apis") return { kind: "APIGroupList", apiVersion: "v1", groups: Object.keys(groups).filter(isServed).map(apiGroup) };
  if (path === "/api/v1") return resourceList("", "v1", RESOURCES);
  const [, group = "", version] = /^\/apis\/([^/]+)(?:\/([^/]+))?$/.exec(path) ?? [];
  const versions = Object.hasOwn(groups, group) && isServed(group) ? groups[group] : undefined;
  if (!versions) return undefined;
  if (version === undefined) return { kind: "APIGroup", apiVersion: "v1", ...apiGroup(group) };
  return versions.includes(version) ? resourceList(group, version, [...RESOURCES, ...foreign]) : undefined;
};

/** The versions of each group that these kinds are of. */
const groupsOf = (foreign: readonly Resource[]): Readonly<Record<string, readonly string[]>> =>
  Object.fromEntries([...Map.groupBy(foreign, ({ group }) => group)].map(([group, of]) => [group, [...new Set(of.map(({ version }) => version))]]));

const resourceList = (group: string, version: string, served: readonly Resource[]) => ({
  kind: "APIResourceList",
  apiVersion: "v1",
  groupVersion: groupVersion({ group, version }),
  resources: [...served.filter((each) => each.group === group && each.version === version).flatMap(entries), ...metricEntries(group)],
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
