import { isObject, jsonIn } from "../../rules/model/json.ts";
import { selects } from "../../rules/model/selector.ts";
import {
  type Located,
  resolvePath,
  type PathTarget,
  type ServedRequest,
  asksForDryRun,
  parseJson,
} from "./api-request.ts";
import { discovery, type Installed, openApi } from "./discovery.ts";
import { podLabels, scale } from "./kube-objects.ts";
import { parseLabelSelector, selectObjects } from "./list-selectors.ts";
import {
  customMetricList,
  DEMAND_METRIC,
  DEPLOYMENTS,
  externalMetric,
  servedMetric,
  objectMetric,
  podDemand,
  workloadDemand,
} from "./metrics-objects.ts";
import { kedaValue } from "./keda-metrics.ts";
import { SCALED_OBJECT_KIND } from "./objects/custom-objects.ts";
import type { ClusterEvents } from "./objects/events.ts";
import type { ObjectStore } from "./objects/object-requests.ts";
import { isWatch, watchObjects } from "./objects/watch.ts";
import { replicasToPatch, replicasToPut, writeKept } from "./objects/write-kept.ts";
import { inKeyOrder, Pages, table, wantsTable } from "./list-answer.ts";
import { serviceAnswer } from "./services.ts";
import {
  foreignResources,
  groupVersion,
  isOf,
  type ServedWorld,
  worldWithin,
} from "./served-resources.ts";
import type { AcceptedWrite, SimulatedWorkload, Simulation } from "./simulation.ts";
import {
  badRequest,
  methodNotAllowed,
  metricNotFound,
  notFound,
  unsupportedMediaType,
} from "./status.ts";

/** Answers one request with the object to send, or throws a Refusal. `undefined`: no such path. */
export type KubeApi = (request: ServedRequest) => Promise<unknown>;

/** The store that makes writes durable. */
export interface DurableWrites {
  append(write: AcceptedWrite): Promise<void>;
  /** Settles when everything appended so far is durable. */
  settled(): Promise<void>;
}

/** What the API shows beside the simulated workloads. */
export interface ApiSettings extends Pick<ServedWorld, "noise" | "uid"> {
  /** True where the kinds of KEDA are installed. */
  readonly hasKeda: boolean;
  readonly store: ObjectStore;
  readonly events: ClusterEvents;
}

const MERGE_PATCH = "application/merge-patch+json";

/**
 * The Kubernetes API over a simulation. A write takes effect in memory at once and is answered when
 * it is durable. If that fails the client gets a 500, as from a server without a disk, and may not
 * conclude that the write had no effect.
 */
export const kubeApi = (
  simulation: Simulation,
  settings: ApiSettings,
  keep: DurableWrites,
): KubeApi => {
  const { store, events } = settings;
  const pages = new Pages();
  return async (request) => {
    const nowMs = simulation.now();
    const version = simulation.version + store.objects.version + events.version;
    const { noise, uid, hasKeda } = settings;
    const objects = { objectsVersion: store.objects.version, objects: store.objects.all() };
    const world = {
      noise,
      uid,
      nowMs,
      version,
      workloads: simulation.workloads(),
      ...objects,
      events: events.all(nowMs),
    };
    const installed = { hasKeda, foreign: foreignResources(world.workloads) };
    const described =
      descriptionOf(request, installed) ?? review(request) ?? serviceAnswer(request, world);
    if (described !== undefined) return described;
    const target = servedTarget(request.path, installed);
    if (!target) return undefined;
    const answer = writeKept(settings, world, target, request);
    if (answer !== undefined) return answer;
    switch (target.kind) {
      case "custom":
        return customMetrics(world, target.version, target.rest, readOnly(request));
      case "external":
        return externalMetrics(world, target.rest, readOnly(request));
      case "list":
        if (isWatch(request.query)) return watchObjects(simulation, store, target, request);
        return list(world, pages, target, request);
      case "object":
      case "status":
        return read(world, target, request);
      case "scale":
        return scaleOf(simulation, target, request, keep);
    }
  };
};

/** Without KEDA its kinds have no path. */
const servedTarget = (path: string, { hasKeda, foreign }: Installed): PathTarget | undefined => {
  const target = resolvePath(path, foreign);
  return !hasKeda &&
    target &&
    "resource" in target &&
    target.resource.group === SCALED_OBJECT_KIND.group
    ? undefined
    : target;
};

/** What the server says of itself. Undefined for every other request. */
const descriptionOf = ({ method, path }: ServedRequest, installed: Installed): unknown =>
  method === "GET" ? (discovery(path, installed) ?? openApi(path)) : undefined;

const readOnly = ({ method, query }: ServedRequest): URLSearchParams => {
  if (method !== "GET") throw methodNotAllowed();
  return query;
};

const list = (
  world: ServedWorld,
  pages: Pages,
  { resource, namespace }: Located,
  request: ServedRequest,
): unknown => {
  const query = readOnly(request);
  const items = () =>
    inKeyOrder(selectObjects(resource.list(worldWithin(world, namespace)), query, resource.fields));
  const head = { kind: `${resource.kind}List`, apiVersion: groupVersion(resource) };
  if (!resource.stored) return { ...head, metadata: {}, items: items() };
  const of = `${request.path}?${query.get("labelSelector") ?? ""}&${query.get("fieldSelector") ?? ""}`;
  const page = pages.page(
    { of, version: resource.custom ? world.objectsVersion : world.version, items },
    query,
  );
  return wantsTable(request.accept)
    ? table(resource, page.items, page.metadata, world.nowMs)
    : { ...head, ...page };
};

const read = (
  world: ServedWorld,
  { resource, namespace, name }: Located & { readonly name: string },
  request: ServedRequest,
): unknown => {
  readOnly(request);
  const object = resource
    .list(worldWithin(world, namespace))
    .find(({ metadata }) => metadata.name === name);
  if (!object)
    throw notFound(
      { group: resource.group, resource: resource.missingAs ?? resource.resource },
      name,
    );
  if (resource.stored && wantsTable(request.accept))
    return table(resource, [object], {}, world.nowMs);
  return { kind: resource.kind, apiVersion: groupVersion(resource), ...object };
};

const scaleOf = async (
  simulation: Simulation,
  { resource, namespace = "", name }: Located & { readonly name: string },
  request: ServedRequest,
  keep: DurableWrites,
): Promise<unknown> => {
  const workload = simulation.workload(namespace, name);
  if (!workload || !isOf(workload, resource))
    throw notFound({ group: resource.group, resource: resource.resource }, name);
  if (request.method === "GET") return scale(workload);
  const replicas = wantedReplicas(workload, request);
  if (asksForDryRun(request.query)) return scale(workload, replicas);
  if (replicas === workload.state.replicas) {
    // An update without a change is no write: version and generation stay. The state that it
    // confirms must be durable all the same.
    await keep.settled();
    return scale(workload);
  }
  const manager = request.query.get("fieldManager");
  const accepted = simulation.write({ namespace, name, replicas, ...(manager && { manager }) });
  const written = simulation.workload(namespace, name) ?? workload;
  await keep.append(accepted);
  return scale(written);
};

const wantedReplicas = (workload: SimulatedWorkload, request: ServedRequest): number => {
  if (request.method === "PUT") {
    if (request.contentType !== "application/json")
      throw unsupportedMediaType(["application/json"]);
    return replicasToPut(workload, parseJson(request.body));
  }
  if (request.method !== "PATCH") throw methodNotAllowed();
  if (request.contentType !== MERGE_PATCH) throw unsupportedMediaType([MERGE_PATCH]);
  return replicasToPatch(workload, parseJson(request.body));
};

/** The user of the one token that the server accepts. */
const USER = { username: "tidemark", groups: ["tidemark", "system:authenticated"] };

const REVIEWS: Readonly<Record<string, { readonly kind: string; readonly status: object }>> = {
  "/apis/authentication.k8s.io/v1/selfsubjectreviews": {
    kind: "SelfSubjectReview",
    status: { userInfo: USER },
  },
  "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews": {
    kind: "SelfSubjectAccessReview",
    status: { allowed: true },
  },
};

/**
 * The answer to a client that asks for its user or for a right: the only user may do everything.
 * Undefined for every other path.
 */
export const review = ({
  method,
  path,
  body,
}: {
  readonly method: string;
  readonly path: string;
  readonly body: string;
}): unknown => {
  const known = Object.hasOwn(REVIEWS, path) ? REVIEWS[path] : undefined;
  if (!known) return undefined;
  if (method !== "POST") throw methodNotAllowed();
  // No JSON is refused like an object of another kind.
  const posted = jsonIn(body);
  if (!isObject(posted) || posted["kind"] !== known.kind)
    throw badRequest(`the object provided is unrecognized: wanted a ${known.kind}`);
  return { ...posted, status: known.status };
};

/**
 * `GET /apis/custom.metrics.k8s.io/VERSION/namespaces/NAMESPACE/RESOURCE/NAME/METRIC`; a name of
 * "*" asks for all that the labelSelector selects. `…/metrics/METRIC` is a metric of the namespace.
 * Of an object that is no pod and no workload it is the metric of the workload whose manifest asks
 * it.
 */
const customMetrics = (
  world: ServedWorld,
  version: string,
  path: readonly string[],
  query: URLSearchParams,
): unknown => {
  const [namespace = "", resource = "", name = "", metric = ""] = path;
  const inside = worldWithin(world, namespace);
  if (resource === "metrics" && path.length === 3)
    return ofObject(inside, version, {
      metric: name,
      resource: "namespaces",
      name: namespace,
      namespace,
    });
  const isServed = inside.workloads.some((workload) => servedMetric(workload, metric));
  if (path.length !== 4 || !isServed) throw metricNotFound(metric, resource);
  if (metric !== DEMAND_METRIC && resource !== "pods")
    return ofObject(inside, version, { metric, resource, name, namespace });
  if (resource !== "pods" && resource !== DEPLOYMENTS) throw metricNotFound(metric, resource);
  const labelled = parseLabelSelector(query.get("labelSelector") ?? "");
  const { nowMs, workloads } = inside;
  const selected = workloads.filter(
    ({ model }) => name !== "*" || selects(labelled, podLabels(model)),
  );
  const values = selected.flatMap((workload) =>
    resource === "pods" ? podDemand(workload, metric, nowMs) : workloadDemand(workload, nowMs),
  );
  const named = name === "*" ? values : values.filter(({ describes }) => describes.name === name);
  if (named.length === 0 && name !== "*") throw metricNotFound(metric, `${resource} ${name}`);
  return customMetricList(version, metric, named, nowMs);
};

interface AskedObject {
  readonly metric: string;
  readonly resource: string;
  readonly name: string;
  readonly namespace: string;
}

const ofObject = (
  { workloads, nowMs }: ServedWorld,
  version: string,
  { metric, resource, name, namespace }: AskedObject,
): unknown => {
  const milli = workloads
    .map((workload) => objectMetric(workload, metric, nowMs))
    .find((value) => value !== undefined);
  if (milli === undefined || metric === DEMAND_METRIC)
    throw metricNotFound(metric, `${resource} ${name}`);
  return customMetricList(
    version,
    metric,
    [{ describes: { kind: resource, namespace, name, apiVersion: "" }, milli }],
    nowMs,
  );
};

/**
 * `GET /apis/external.metrics.k8s.io/v1beta1/namespaces/NAMESPACE/METRIC`: the demand on each
 * workload of the namespace that the labelSelector selects; of a metric that a manifest names, what
 * was asked with its selector.
 */
const externalMetrics = (
  world: ServedWorld,
  path: readonly string[],
  query: URLSearchParams,
): unknown => {
  const [namespace = "", metric = ""] = path;
  const selector = query.get("labelSelector") ?? "";
  const inside = worldWithin(world, namespace);
  if (path.length !== 2 || !inside.workloads.some((workload) => servedMetric(workload, metric)))
    throw metricNotFound(metric, "external metrics");
  const labelled = parseLabelSelector(metric === DEMAND_METRIC ? selector : "");
  const ofKeda = kedaValue(world, { namespace, metric, selector });
  const items = inside.workloads.flatMap((workload) => {
    const item = externalMetric(workload, metric, { nowMs: world.nowMs, selector });
    return item && selects(labelled, item.metricLabels)
      ? [ofKeda === undefined ? item : { ...item, value: `${Math.round(ofKeda * 1000)}m` }]
      : [];
  });
  return {
    kind: "ExternalMetricValueList",
    apiVersion: "external.metrics.k8s.io/v1beta1",
    metadata: {},
    items,
  };
};
