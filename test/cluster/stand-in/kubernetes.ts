import { gzipSync } from "node:zlib";
import type { IssueOptions } from "./certificates.ts";
import { type Answer, json, type Seen, type StandIn, standIn, status } from "./server.ts";

export type Raw = Record<string, unknown>;

/**
 * A small stateful API server: objects by the path of their collection, LISTs with limit and
 * continue, GET and PUT of scales.
 */
export interface Kubernetes extends StandIn {
  /** "/apis/apps/v1/deployments" → its objects. */
  readonly collections: Map<string, Raw[]>;
  /** Documents served as they are: discovery, metric values. */
  readonly documents: Map<string, unknown>;
  /** Asked before anything else; an answer here wins. */
  readonly overrides: { match: (seen: Seen) => boolean; answer: Answer }[];
  readonly paths: () => string[];
}

export const kubernetes = async (options: IssueOptions = {}): Promise<Kubernetes> =>
  kubernetesOn(await standIn(options));

/** The same over connections of another kind. */
export const kubernetesOn = <Server extends Pick<StandIn, "answer" | "seen">>(
  server: Server,
): Server & Pick<Kubernetes, "collections" | "documents" | "overrides" | "paths"> => {
  const collections = new Map<string, Raw[]>();
  const documents = new Map<string, unknown>();
  const overrides: Kubernetes["overrides"] = [];
  server.answer = (seen, response, socket) => {
    const override = overrides.find(({ match }) => match(seen));
    const answer = override?.answer ?? route(collections, documents, seen);
    answer(seen, response, socket);
  };
  return Object.assign(server, {
    collections,
    documents,
    overrides,
    paths: () =>
      server.seen.map(({ method, url }) => `${method} ${decodeURIComponent(url.pathname)}`),
  });
};

const route = (
  collections: ReadonlyMap<string, Raw[]>,
  documents: ReadonlyMap<string, unknown>,
  seen: Seen,
): Answer => {
  const path = decodeURIComponent(seen.url.pathname);
  const document = documents.get(path);
  if (document !== undefined) return json(200, document);
  const { base, namespace, plural, name, scale } = partsOf(path);
  const collection = collections.get(`${base}/${plural}`);
  if (!collection) return (_seen, response) => response.writeHead(404).end("404 page not found");
  const there = collection.filter(
    (object) => namespace === undefined || metadataOf(object)["namespace"] === namespace,
  );
  if (name === undefined) {
    const metadataOnly = seen.headers.accept?.includes("as=PartialObjectMetadataList") === true;
    const without = new Set(
      [
        ...(seen.url.searchParams.get("fieldSelector") ?? "").matchAll(
          /metadata\.namespace!=([^,]+)/g,
        ),
      ].map(([, left]) => left),
    );
    const left =
      without.size === 0
        ? there
        : there.filter((one) => !without.has(metadataOf(one)["namespace"] as string));
    const shown = page(left, seen.url.searchParams);
    return packed(
      metadataOnly
        ? { ...shown, items: (shown["items"] as Raw[]).map(({ metadata }) => ({ metadata })) }
        : shown,
    );
  }
  const object = there.find((one) => metadataOf(one)["name"] === name);
  if (!object)
    return status(404, "NotFound", `${plural}.${base.split("/")[2] ?? ""} "${name}" not found`);
  if (!scale) return json(200, object);
  return seen.method === "PUT"
    ? putScale(object, JSON.parse(seen.body))
    : json(200, scaleOf(object));
};

const PACKED_FROM_BYTES = 128 * 1024;

/** As an API server does, a large answer is packed. */
const packed =
  (body: unknown): Answer =>
  ({ headers }, response) => {
    const text = JSON.stringify(body);
    const content = { "content-type": "application/json" };
    if (text.length < PACKED_FROM_BYTES || headers["accept-encoding"] !== "gzip")
      response.writeHead(200, content).end(text);
    else
      response
        .writeHead(200, { ...content, "content-encoding": "gzip" })
        .end(gzipSync(text, { level: 1 }));
  };

const partsOf = (
  path: string,
): { base: string; namespace?: string; plural: string; name?: string; scale: boolean } => {
  const match =
    /^(?<base>\/api\/v1|\/apis\/[^/]+\/[^/]+)(\/namespaces\/(?<namespace>[^/]+))?\/(?<plural>[^/]+)(\/(?<name>[^/]+))?(?<scale>\/scale)?$/.exec(
      path,
    );
  const { base = "", namespace, plural = "", name, scale } = match?.groups ?? {};
  return {
    base,
    plural,
    scale: scale !== undefined,
    ...(namespace !== undefined && { namespace }),
    ...(name !== undefined && { name }),
  };
};

const metadataOf = (object: Raw): Raw => object["metadata"] as Raw;

const page = (all: readonly Raw[], query: URLSearchParams): Raw => {
  const start = Number(query.get("continue") ?? 0);
  const end = start + Number(query.get("limit") ?? Number.POSITIVE_INFINITY);
  const rest =
    end < all.length ? { continue: String(end), remainingItemCount: all.length - end } : {};
  return { metadata: { resourceVersion: "1", ...rest }, items: all.slice(start, end) };
};

const scaleOf = (object: Raw): Raw => {
  const { name, namespace, uid, resourceVersion } = metadataOf(object);
  const spec = object["spec"] as {
    replicas: number;
    selector: { matchLabels?: Record<string, string> };
  };
  const selector = Object.entries(spec.selector.matchLabels ?? {}).map(
    ([key, value]) => `${key}=${value}`,
  );
  return {
    kind: "Scale",
    metadata: { name, namespace, uid, resourceVersion },
    spec: { replicas: spec.replicas },
    status: {
      replicas: (object["status"] as { replicas: number }).replicas,
      selector: selector.join(","),
    },
  };
};

const putScale = (
  object: Raw,
  body: { metadata: { uid: string; resourceVersion: string }; spec: { replicas: number } },
): Answer => {
  const metadata = metadataOf(object);
  if (
    body.metadata.uid !== metadata["uid"] ||
    body.metadata.resourceVersion !== metadata["resourceVersion"]
  ) {
    return status(
      409,
      "Conflict",
      "the object has been modified; please apply your changes to the latest version and try again",
    );
  }
  metadata["resourceVersion"] = String(Number(metadata["resourceVersion"]) + 1);
  metadata["generation"] = Number(metadata["generation"]) + 1;
  (object["spec"] as Raw)["replicas"] = body.spec.replicas;
  return json(200, scaleOf(object));
};

export const workload = (namespace: string, name: string, replicas = 2): Raw => ({
  metadata: {
    namespace,
    name,
    uid: `uid-${namespace}-${name}`,
    resourceVersion: "7",
    generation: 3,
  },
  spec: { replicas, selector: { matchLabels: { app: name } } },
  status: { replicas },
});

export const pod = (namespace: string, app: string, index = 0): Raw => ({
  metadata: { namespace, name: `${app}-${index}`, labels: { app } },
  spec: { containers: [{ name: "main", resources: { requests: { cpu: "100m" } } }] },
  status: {
    phase: "Running",
    startTime: "2026-05-01T12:00:00Z",
    conditions: [{ type: "Ready", status: "True", lastTransitionTime: "2026-05-01T12:00:10Z" }],
  },
});

export const podMetrics = (namespace: string, app: string, index = 0, cpu = "80m"): Raw => ({
  metadata: { namespace, name: `${app}-${index}`, labels: { app } },
  timestamp: "2026-05-01T12:01:00Z",
  window: "15s",
  containers: [{ name: "main", usage: { cpu, memory: "64Mi" } }],
});

/** Fills a stand-in with workloads, given as namespace and name, and their pods with metrics. */
export const fillWith = (
  server: Pick<Kubernetes, "collections">,
  apps: readonly (readonly [string, string])[],
  podsEach = 2,
): void => {
  const indices = Array.from({ length: podsEach }, (_, index) => index);
  server.collections.set(
    "/apis/apps/v1/deployments",
    apps.map(([ns, app]) => workload(ns, app)),
  );
  server.collections.set(
    "/api/v1/pods",
    apps.flatMap(([ns, app]) => indices.map((index) => pod(ns, app, index))),
  );
  server.collections.set(
    "/apis/metrics.k8s.io/v1beta1/pods",
    apps.flatMap(([ns, app]) => indices.map((index) => podMetrics(ns, app, index))),
  );
};
