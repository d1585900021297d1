import { qualifiedNameFaults } from "../kubernetes-names.ts";
import { invalid, type Problem, required } from "../problem.ts";

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
export const resourceNameProblems = (name: string, path: string): Problem[] => {
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
