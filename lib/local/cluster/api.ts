import { type Located, resolvePath } from "./api-path.ts";
import { discover } from "./discovery.ts";
import { scale } from "./kube-objects.ts";
import { selectObjects } from "./list-selectors.ts";
import { customMetrics, externalMetrics } from "./metrics-api.ts";
import { inKeyOrder, Pages } from "./pages.ts";
import { table, wantsTable } from "./printed-table.ts";
import { review } from "./reviews.ts";
import { replicasToPatch, replicasToPut } from "./scale-write.ts";
import { groupVersion, type World, within } from "./served-resources.ts";
import type { AcceptedWrite, SimulatedWorkload, Simulation } from "./simulation.ts";
import { badRequest, methodNotAllowed, notFound, unsupportedMediaType } from "./status.ts";

export interface ApiRequest {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly contentType: string;
  readonly accept: string;
  readonly body: string;
}

/** Answers one request with the object to send, or throws a Refusal. `undefined`: no such path. */
export type KubeApi = (request: ApiRequest) => Promise<unknown>;

/** The store that makes writes durable. */
export interface Keep {
  append(write: AcceptedWrite): Promise<void>;
  /** Settles when everything appended so far is durable. */
  settled(): Promise<void>;
}

const MERGE_PATCH = "application/merge-patch+json";

/**
 * The Kubernetes API over a simulation. A write takes effect in memory at once and is answered when it is durable. If that fails the client gets a 500, as from
 * a server without a disk, and may not conclude that the write had no effect.
 */
export const kubeApi = (simulation: Simulation, settings: Pick<World, "noise" | "rivals">, keep: Keep): KubeApi => {
  const pages = new Pages();
  return async (request) => {
    const nowMs = simulation.now();
    const world = { ...settings, nowMs, version: simulation.version, workloads: simulation.workloads() };
    const discovered = request.method === "GET" ? discover(request.path) : undefined;
    if (discovered !== undefined) return discovered;
    const reviewed = review(request);
    if (reviewed !== undefined) return reviewed;
    const target = resolvePath(request.path);
    if (!target) return undefined;
    switch (target.kind) {
      case "custom":
        return customMetrics(world, target.version, target.rest, readOnly(request));
      case "external":
        return externalMetrics(world, target.rest, readOnly(request));
      case "list":
        return list(world, pages, target, request);
      case "object":
        return read(world, target, request);
      case "scale":
        return scaleOf(simulation, target, request, keep);
    }
  };
};

const readOnly = ({ method, query }: ApiRequest): URLSearchParams => {
  if (method !== "GET") throw methodNotAllowed();
  return query;
};

const list = (world: World, pages: Pages, { resource, namespace }: Located, request: ApiRequest): unknown => {
  const query = readOnly(request);
  if (query.has("watch") && query.get("watch") !== "false" && query.get("watch") !== "0")
    throw methodNotAllowed(`watch is not supported on resources of kind "${resource.resource}"`);
  const items = inKeyOrder(selectObjects(resource.list(within(world, namespace)), query, resource.fields));
  const head = { kind: `${resource.kind}List`, apiVersion: groupVersion(resource) };
  if (!resource.stored) return { ...head, metadata: {}, items };
  const of = `${request.path}?${query.get("labelSelector") ?? ""}&${query.get("fieldSelector") ?? ""}`;
  const page = pages.page({ of, version: world.version, items }, query);
  return wantsTable(request.accept) ? table(resource, page.items, page.metadata, world.nowMs) : { ...head, ...page };
};

const read = (world: World, { resource, namespace, name }: Located & { readonly name: string }, request: ApiRequest): unknown => {
  readOnly(request);
  const object = resource.list(within(world, namespace)).find(({ metadata }) => metadata.name === name);
  if (!object) throw notFound({ group: resource.group, resource: resource.missingAs ?? resource.resource }, name);
  if (resource.stored && wantsTable(request.accept)) return table(resource, [object], {}, world.nowMs);
  return { kind: resource.kind, apiVersion: groupVersion(resource), ...object };
};

const scaleOf = async (
  simulation: Simulation,
  { namespace = "", name }: Located & { readonly name: string },
  request: ApiRequest,
  keep: Keep,
): Promise<unknown> => {
  const workload = simulation.workload(namespace, name);
  if (!workload) throw notFound({ group: "apps", resource: "deployments" }, name);
  if (request.method === "GET") return scale(workload);
  const replicas = wantedReplicas(workload, request);
  if (isDryRun(request.query)) return scale(workload, replicas);
  if (replicas === workload.state.replicas) {
    // An update without a change is no write: version and generation stay. The state that it confirms must be durable all the same.
    await keep.settled();
    return scale(workload);
  }
  const accepted = simulation.write(namespace, name, replicas);
  const written = simulation.workload(namespace, name) ?? workload;
  await keep.append(accepted);
  return scale(written);
};

const wantedReplicas = (workload: SimulatedWorkload, request: ApiRequest): number => {
  if (request.method === "PUT") {
    if (request.contentType !== "application/json") throw unsupportedMediaType(["application/json"]);
    return replicasToPut(workload, parseJson(request.body));
  }
  if (request.method !== "PATCH") throw methodNotAllowed();
  if (request.contentType !== MERGE_PATCH) throw unsupportedMediaType([MERGE_PATCH]);
  return replicasToPatch(workload, parseJson(request.body));
};

const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw badRequest(`the object provided is unrecognized: ${cause instanceof Error ? cause.message : String(cause)}`);
  }
};

const isDryRun = (query: URLSearchParams): boolean => {
  const dryRuns = query.getAll("dryRun").filter((each) => each !== "");
  if (dryRuns.some((each) => each !== "All")) throw badRequest(`dryRun: Unsupported value: "${dryRuns.join(",")}": supported values: "All"`);
  return dryRuns.length > 0;
};
