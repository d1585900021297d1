import type { ScaleWrite } from "../../../lib/stack/cluster/cluster-client.ts";
import { IDENTITY_PATH } from "../../../lib/stack/cluster/transport/same-cluster.ts";
import { PROTOBUF } from "../../../lib/stack/cluster/wire/answer.ts";
import { namespace as namespaceOf } from "../../../lib/rules/model/ids.ts";
import type { TargetRef } from "../../../lib/rules/model/spec-common.ts";
import { SPEC_KINDS, type SpecKind } from "../../../lib/rules/model/spec.ts";

/** What a LIST is of. */
export type Collection =
  | { readonly of: "workloads" | "pods" | "pod metrics" | "hpas" | "scaled objects" | "datadog" }
  | { readonly of: "objects"; readonly kind: SpecKind };

export interface ListRequest {
  readonly kind: "list";
  readonly collection: Collection;
  /** Absent: the whole cluster. */
  readonly namespace: string | undefined;
  readonly limit: number;
  readonly token: string | undefined;
  readonly acceptsProtobuf: boolean;
}

/** The object that a write-back names, as its client read it. */
export interface StatusRequest {
  readonly kind: "status";
  readonly of: SpecKind;
  readonly namespace: string;
  readonly name: string;
  readonly body: {
    readonly metadata: { readonly uid: string; readonly resourceVersion: string };
    readonly status: Readonly<Record<string, unknown>>;
  };
}

/** A request, once its path is understood. */
export type ApiRequest =
  | { readonly kind: "group"; readonly group: string }
  | { readonly kind: "resources" }
  | { readonly kind: "identity" }
  | {
      readonly kind: "read";
      readonly namespace: string;
      readonly target: TargetRef;
      readonly scale: boolean;
    }
  | { readonly kind: "put"; readonly write: ScaleWrite }
  | { readonly kind: "metric"; readonly namespace: string; readonly metric: string }
  | { readonly kind: "event"; readonly name: string; readonly isNew: boolean }
  | StatusRequest
  | ListRequest;

/** One request over HTTP. */
export interface Wire {
  readonly method: string;
  readonly url: URL;
  readonly body: string;
  /** The formats that the client reads. */
  readonly accept: string;
}

export const CUSTOM = { group: "games.example", version: "v1", kind: "Fleet", plural: "fleets" };

const objectsOf = (kind: SpecKind): readonly [string, Collection] => [
  `${kind.group}/${kind.version}/${kind.plural}`,
  { of: "objects", kind },
];

const COLLECTIONS: ReadonlyMap<string, Collection> = new Map<string, Collection>([
  ["apps/v1/deployments", { of: "workloads" }],
  ["v1/pods", { of: "pods" }],
  ["metrics.k8s.io/v1beta1/pods", { of: "pod metrics" }],
  ["autoscaling/v2/horizontalpodautoscalers", { of: "hpas" }],
  ["keda.sh/v1alpha1/scaledobjects", { of: "scaled objects" }],
  ["datadoghq.com/v1alpha1/datadogpodautoscalers", { of: "datadog" }],
  ...SPEC_KINDS.map(objectsOf),
]);

/** Group and version, namespace, plural, name and subresource. */
const PATH =
  /^\/apis?\/((?:[^/]+\/)?v[^/]+)(?:\/namespaces\/([^/]+))?\/([^/]+)(?:\/([^/]+))?(?:\/([^/]+))?$/;
const GROUP = /^\/apis\/([^/]+)$/;

interface Parts extends Wire {
  readonly apiVersion: string;
  readonly namespace: string | undefined;
  readonly plural: string;
  readonly name: string | undefined;
  readonly subresource: string | undefined;
}

/**
 * The request behind a method, a path and a body. A client that asks for anything else has a
 * mistake.
 */
export const apiRequest = (wire: Wire): ApiRequest => {
  const path = decodeURIComponent(wire.url.pathname);
  const [, group] = GROUP.exec(path) ?? [];
  if (group !== undefined) return { kind: "group", group };
  if (path === IDENTITY_PATH) return { kind: "identity" };
  if (path === `/apis/${CUSTOM.group}/${CUSTOM.version}`) return { kind: "resources" };
  const [, apiVersion = "", namespace, plural = "", name, subresource] = PATH.exec(path) ?? [];
  const request = requestOf({ ...wire, apiVersion, namespace, plural, name, subresource });
  if (!request)
    throw new TypeError(`the simulated API server does not know ${wire.method} ${path}`);
  return request;
};

const requestOf = (parts: Parts): ApiRequest | undefined => {
  const { method, apiVersion, namespace = "", plural } = parts;
  if (apiVersion === "external.metrics.k8s.io/v1beta1")
    return { kind: "metric", namespace, metric: plural };
  if (apiVersion === "events.k8s.io/v1") return eventRequest(parts);
  if (method === "PATCH") return statusRequest(parts);
  if (parts.name !== undefined) return scaleRequest(parts, parts.name);
  const collection = COLLECTIONS.get(`${apiVersion}/${plural}`);
  return collection && listRequest(parts, collection);
};

const listRequest = ({ url, namespace, accept }: Parts, collection: Collection): ListRequest => ({
  kind: "list",
  collection,
  namespace,
  limit: Number(url.searchParams.get("limit") ?? Number.POSITIVE_INFINITY),
  token: url.searchParams.get("continue") ?? undefined,
  acceptsProtobuf: accept.includes(PROTOBUF),
});

const scaleRequest = (
  { method, body, apiVersion, namespace = "", plural, subresource }: Parts,
  name: string,
): ApiRequest | undefined => {
  if (plural !== CUSTOM.plural && plural !== "deployments") return undefined;
  const target = { apiVersion, kind: plural === CUSTOM.plural ? CUSTOM.kind : "Deployment", name };
  if (method === "GET")
    return { kind: "read", namespace, target, scale: subresource !== undefined };
  const { metadata, spec } = JSON.parse(body) as {
    readonly metadata: { readonly uid: string; readonly resourceVersion: string };
    readonly spec: { readonly replicas: number };
  };
  const { uid: targetUid, resourceVersion } = metadata;
  return {
    kind: "put",
    write: {
      namespace: namespaceOf(namespace),
      target,
      targetUid,
      resourceVersion,
      replicas: spec.replicas,
    },
  };
};

const statusRequest = ({
  body,
  apiVersion,
  namespace = "",
  plural,
  name = "",
}: Parts): StatusRequest | undefined => {
  const of = SPEC_KINDS.find((kind) => kind.apiVersion === apiVersion && kind.plural === plural);
  return (
    of && { kind: "status", of, namespace, name, body: JSON.parse(body) as StatusRequest["body"] }
  );
};

const eventRequest = ({ method, body, name }: Parts): ApiRequest => {
  const isNew = method === "POST";
  const { metadata } = JSON.parse(body) as { readonly metadata?: { readonly name: string } };
  return { kind: "event", name: name ?? metadata?.name ?? "", isNew };
};
