import { badRequest } from "./status.ts";
import { RESOURCES, type Resource } from "./served-resources.ts";

export interface ServedRequest {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly contentType: string;
  readonly accept: string;
  readonly body: string;
}

/** The JSON of a body. Anything else is a 400. */
export const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw badRequest(
      `the object provided is unrecognized: ${cause instanceof Error ? cause.message : String(cause)}`,
    );
  }
};

/** Whether a request asks for a dry run, in its query or in the options of a DELETE. */
export const asksForDryRun = (query: URLSearchParams, ofBody: unknown = []): boolean => {
  const dryRuns = [
    ...query.getAll("dryRun"),
    ...(Array.isArray(ofBody) ? ofBody : [ofBody]),
  ].filter((each) => each !== "");
  if (dryRuns.some((each) => each !== "All"))
    throw badRequest(`dryRun: Unsupported value: "${dryRuns.join(",")}": supported values: "All"`);
  return dryRuns.length > 0;
};

/** The target of a path of the API. */
export type PathTarget =
  | ({ readonly kind: "list" } & Located)
  | ({ readonly kind: "object" | "scale" | "status"; readonly name: string } & Located)
  /** `rest`: what follows "namespaces/". */
  | { readonly kind: "custom"; readonly version: string; readonly rest: readonly string[] }
  | { readonly kind: "external"; readonly rest: readonly string[] };

export interface Located {
  readonly resource: Resource;
  /** Absent for lists over all namespaces and for objects without a namespace. */
  readonly namespace: string | undefined;
}

/**
 * The target of a path. `foreign`: the kinds that are not of Kubernetes itself. Undefined when the
 * server has no such path.
 */
export const resolvePath = (path: string, foreign: readonly Resource[]): PathTarget | undefined => {
  const [root, ...parts] = path.split("/").slice(1).map(decode);
  const resources = [...RESOURCES, ...foreign];
  if (root === "api") return inGroup(resources, "", parts);
  return root === "apis" ? inGroup(resources, parts[0] ?? "", parts.slice(1)) : undefined;
};

export const decode = (part: string): string => {
  try {
    return decodeURIComponent(part);
  } catch {
    // The only failure is an invalid escape, which is a 400.
    throw badRequest(`invalid URL escape in "${part}"`);
  }
};

const inGroup = (
  resources: readonly Resource[],
  group: string,
  [version = "", ...rest]: readonly string[],
): PathTarget | undefined => {
  const [scope, ...inside] = rest;
  if (group === "custom.metrics.k8s.io")
    return scope === "namespaces" && /^v1beta[12]$/.test(version)
      ? { kind: "custom", version, rest: inside }
      : undefined;
  if (group === "external.metrics.k8s.io")
    return scope === "namespaces" && version === "v1beta1"
      ? { kind: "external", rest: inside }
      : undefined;
  const served = resources.filter((each) => each.group === group && each.version === version);
  const [namespace, ...below] = inside;
  return scope === "namespaces" && below.length > 0
    ? within(served, namespace, below)
    : within(served, undefined, rest);
};

/** What a path leads to within a namespace, or across the cluster. */
const within = (
  served: readonly Resource[],
  namespace: string | undefined,
  parts: readonly string[],
): PathTarget | undefined => {
  const [plural, name, subresource, ...more] = parts;
  const resource = served.find(
    (each) => each.resource === plural && (each.namespaced || namespace === undefined),
  );
  if (!resource || more.length > 0) return undefined;
  if (name === undefined) return { kind: "list", resource, namespace };
  if (namespace === undefined && resource.namespaced) return undefined;
  if (subresource === undefined) return { kind: "object", resource, namespace, name };
  if (subresource === "status" && resource.custom)
    return { kind: "status", resource, namespace, name };
  return subresource === "scale" && resource.scalable
    ? { kind: "scale", resource, namespace, name }
    : undefined;
};
