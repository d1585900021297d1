import type { ScaleAnswer, ScaleWrite } from "../../../lib/stack/cluster/cluster-client.ts";
import { PROTOBUF } from "../../../lib/stack/cluster/wire/answer.ts";
import type { ApiFailure, ScaleReading } from "../../../lib/rules/model/observation.ts";
import type { SpecKindName } from "../../../lib/rules/model/spec.ts";
import { type Published, published } from "../../cluster/wire/published.ts";
import type { Effect, SimulatedCluster, Workload } from "../cluster.ts";
import type { Listing } from "../objects/list-objects.ts";
import { tellNow } from "../objects/tell-objects.ts";
import {
  type Failing,
  podMetricsOf,
  podsOf,
  rivalsOf,
  UNAVAILABLE,
  UNREADABLE,
} from "../observe.ts";
import type { RivalAnswers } from "../rivals.ts";
import type { IdentityAnswer } from "../swaps.ts";
import {
  type ApiRequest,
  type Collection,
  CUSTOM,
  type ListRequest,
  type StatusRequest,
} from "./api-requests.ts";
import type { WireAnswer } from "./broken-answers.ts";
import {
  type Raw,
  rawMetricValue,
  rawObject,
  rawPod,
  rawPodMetrics,
  rawScaledObject,
  rawWorkload,
} from "./raw-objects.ts";

/**
 * What the sync that asks does not get at present: in its observation, and in its LISTs of objects.
 */
export interface Troubles {
  readonly failing?: Failing;
  readonly listing?: Listing;
}

export interface ApiServer {
  readonly answer: (
    request: ApiRequest,
    caller: {
      readonly troubles: Troubles;
      readonly effect: (effect: Effect) => void;
      readonly identity?: IdentityAnswer;
    },
  ) => WireAnswer;
}

const KEDA = "keda.sh";

/** Served groups with their version. */
const GROUPS: ReadonlyMap<string, string> = new Map([
  [CUSTOM.group, CUSTOM.version],
  [KEDA, "v1alpha1"],
  ["datadoghq.com", "v1alpha1"],
  ["metrics.k8s.io", "v1beta1"],
]);

/** An API server may give fewer objects than it is asked for: so that a few make several pages. */
const PAGE_MAX: Readonly<Record<Collection["of"], number>> = {
  workloads: 4,
  pods: 25,
  "pod metrics": Number.POSITIVE_INFINITY,
  hpas: 4,
  "scaled objects": 4,
  datadog: 4,
  objects: 4,
};

const failure = (code: number, reason: string, message: string): ApiFailure => ({
  code,
  reason,
  message,
});
const EXISTS = failure(409, "AlreadyExists", "the event is there already");
const NO_EVENT = failure(404, "NotFound", "there is no such event");
const NO_METRIC = failure(404, "NotFound", "there is no such metric");
const MODIFIED = failure(409, "Conflict", "the object has been modified");
const NO_GROUP = failure(404, "NotFound", "the server could not find the requested resource");

/** The API server of a simulated cluster, as HTTP clients see it. */
export const apiServer = (site: SimulatedCluster, nowMs: () => number): ApiServer => {
  const pages = pagesOf();
  const events = new Set<string>();
  return {
    answer: (request, { troubles, effect, identity = "its own" }) => {
      switch (request.kind) {
        case "identity":
          return identityAnswer(site, identity);
        case "group":
          return groupAnswer(request.group, troubles);
        case "resources":
          return ok({
            kind: "APIResourceList",
            resources: [{ name: CUSTOM.plural, kind: CUSTOM.kind, namespaced: true }],
          });
        case "read":
          return isUnreadable(troubles, request.target.name)
            ? statusAnswer(UNREADABLE)
            : readAnswer(request, site.read(request.namespace, request.target));
        case "put":
          return putAnswer(request.write, site.put(request.write, effect));
        case "list":
          return listAnswer(site, nowMs(), { request, troubles, pages });
        case "metric":
          return metricAnswer(site, nowMs(), { request, troubles });
        case "status":
          return toldAnswer(site, request);
        case "event":
          return eventAnswer(events, request);
      }
    },
  };
};

/** The Status object of a refusal. */
export const statusAnswer = ({ code, reason, message }: ApiFailure): WireAnswer => ({
  status: code,
  body: JSON.stringify({
    kind: "Status",
    apiVersion: "v1",
    status: "Failure",
    code,
    reason,
    message,
  }),
});

const ok = (object: object): WireAnswer => ({ status: 200, body: JSON.stringify(object) });

const groupAnswer = (group: string, { failing }: Troubles): WireAnswer => {
  const version = GROUPS.get(group);
  if (version === undefined || (group === KEDA && failing?.rivals === "no group"))
    return statusAnswer(NO_GROUP);
  return ok({
    kind: "APIGroup",
    name: group,
    versions: [{ version }],
    preferredVersion: { version },
  });
};

const NO_IDENTITY: Readonly<Record<Exclude<IdentityAnswer, "its own">, ApiFailure>> = {
  forbidden: failure(403, "Forbidden", "the user cannot get this"),
  missing: failure(404, "NotFound", "there is no such namespace"),
  restarting: failure(503, "ServiceUnavailable", "the API server starts"),
};

const identityAnswer = (site: SimulatedCluster, answer: IdentityAnswer): WireAnswer =>
  answer === "its own"
    ? ok({ kind: "Namespace", metadata: { name: "kube-system", uid: site.identity } })
    : statusAnswer(NO_IDENTITY[answer]);

const isUnreadable = ({ failing }: Troubles, name: string): boolean =>
  failing?.scales.has(name) === true;

const readAnswer = (
  { target, scale }: Extract<ApiRequest, { kind: "read" }>,
  reading: ScaleReading,
): WireAnswer => {
  if (reading.kind === "failed") return statusAnswer(reading.failure);
  const { uid, resourceVersion, generation, specReplicas, statusReplicas, selector } = reading;
  const metadata = {
    name: target.name,
    uid,
    resourceVersion,
    ...(generation !== undefined && { generation }),
  };
  const [label = "", value = ""] = selector.split("=");
  return scale
    ? ok({
        kind: "Scale",
        metadata,
        spec: { replicas: specReplicas },
        status: { replicas: statusReplicas, selector },
      })
    : ok({
        kind: target.kind,
        metadata,
        spec: { replicas: specReplicas, selector: { matchLabels: { [label]: value } } },
        status: { replicas: statusReplicas },
      });
};

const putAnswer = ({ target, targetUid, replicas }: ScaleWrite, answer: ScaleAnswer): WireAnswer =>
  answer.kind === "applied"
    ? ok({
        kind: "Scale",
        metadata: { name: target.name, uid: targetUid, resourceVersion: answer.resourceVersion },
        spec: { replicas },
      })
    : statusAnswer(answer.failure);

/** Autoscalers name their metric after themselves; a twin scales the workload of another. */
const METRIC = /^load-(?:twin-of-)?(.*)$/;

const metricAnswer = (
  site: SimulatedCluster,
  nowMs: number,
  {
    request,
    troubles: { failing },
  }: { readonly request: Extract<ApiRequest, { kind: "metric" }>; readonly troubles: Troubles },
): WireAnswer => {
  const [, name = ""] = METRIC.exec(request.metric) ?? [];
  const known = [...site.workloads.values()].find(
    ({ namespace, target }) => namespace === request.namespace && target.name === name,
  );
  if (!known) return statusAnswer(NO_METRIC);
  if (failing?.metrics.has(name)) return statusAnswer(UNAVAILABLE);
  return ok({
    kind: "ExternalMetricValueList",
    metadata: {},
    items: [rawMetricValue(known.gone ? 0 : known.load, nowMs)],
  });
};

const toldAnswer = (
  { objects }: SimulatedCluster,
  { of, namespace, name, body: { metadata, status } }: StatusRequest,
): WireAnswer => {
  const about = { of, namespace, name, ...metadata };
  const { written } = tellNow(objects, [{ kind: "status", about, status }]);
  return written === 1
    ? ok({ kind: of.kind, metadata: { name, namespace } })
    : statusAnswer(MODIFIED);
};

const eventAnswer = (
  events: Set<string>,
  { name, isNew }: Extract<ApiRequest, { kind: "event" }>,
): WireAnswer => {
  if (events.has(name) === isNew) return statusAnswer(isNew ? EXISTS : NO_EVENT);
  events.add(name);
  return ok({ kind: "Event", metadata: { name } });
};

/**
 * What is left of the LISTs that were not read to their end: each goes on with what its first page
 * saw.
 */
interface Pages {
  readonly taken: (token: string) => readonly Raw[] | undefined;
  readonly left: (items: readonly Raw[]) => string;
}

const pagesOf = (): Pages => {
  const rests = new Map<string, readonly Raw[]>();
  let made = 0;
  return {
    taken: (token) => rests.get(token),
    left: (items) => {
      const token = `rest-${++made}`;
      rests.set(token, items);
      return token;
    },
  };
};

interface Asked {
  readonly request: ListRequest;
  readonly troubles: Troubles;
}

const listAnswer = (
  site: SimulatedCluster,
  nowMs: number,
  { request, troubles, pages }: Asked & { readonly pages: Pages },
): WireAnswer => {
  const { collection, limit, token } = request;
  const hidden = hiddenBy(troubles, collection);
  if (hidden) return statusAnswer(hidden);
  const items =
    token === undefined ? itemsOf(site, nowMs, { request, troubles }) : pages.taken(token);
  if (items === undefined) return statusAnswer(UNREADABLE);
  const size = Math.min(limit, PAGE_MAX[collection.of]);
  const rest = items.slice(size);
  const metadata =
    rest.length > 0 ? { continue: pages.left(rest), remainingItemCount: rest.length } : {};
  const list = { metadata, items: items.slice(0, size) };
  const message = MESSAGES[collection.of];
  if (message === undefined || !request.acceptsProtobuf || site.name !== SPEAKS_PROTOBUF)
    return ok({ kind: "List", ...list });
  return {
    status: 200,
    body: encoder().encode(message, list),
    headers: { "content-type": PROTOBUF },
  };
};

/**
 * Why a LIST of other controllers is not answered. The group of Datadog is served for
 * WatermarkPodAutoscalers; the operator that has DatadogPodAutoscalers is not installed.
 */
const hiddenBy = ({ failing }: Troubles, { of }: Collection): ApiFailure | undefined => {
  if (of === "datadog") return (failing && HIDDEN[failing.rivals]) ?? NO_GROUP;
  if (failing === undefined || (of !== "hpas" && of !== "scaled objects" && of !== "objects"))
    return undefined;
  if (of === "scaled objects" && failing.rivals === "no group") return NO_GROUP;
  return HIDDEN[failing.rivals];
};

const HIDDEN: Readonly<Partial<Record<RivalAnswers, ApiFailure>>> = {
  failed: UNREADABLE,
  forbidden: failure(403, "Forbidden", "the user cannot list this"),
  missing: NO_GROUP,
};

/**
 * One cluster answers protobuf where its client reads it, the others JSON: to encode it costs more
 * than the rest of a request.
 */
const SPEAKS_PROTOBUF = "eu-2";

const MESSAGES: Readonly<Partial<Record<Collection["of"], string>>> = {
  workloads: "k8s.io.api.apps.v1.DeploymentList",
  pods: "k8s.io.api.core.v1.PodList",
  "pod metrics": "k8s.io.metrics.pkg.apis.metrics.v1beta1.PodMetricsList",
  hpas: "k8s.io.api.autoscaling.v2.HorizontalPodAutoscalerList",
};

let known: Published | undefined;
/** The published schema, read once: most runs need none. */
const encoder = (): Published => {
  known ??= published();
  return known;
};

const keyOf = ({ namespace, target }: Workload): string => `${namespace}/${target.name}`;

/** What a LIST has, in the order of namespace and name; undefined where it fails as a whole. */
const itemsOf = (
  site: SimulatedCluster,
  nowMs: number,
  { request: { collection, namespace }, troubles }: Asked,
): readonly Raw[] | undefined => {
  if (collection.of === "objects")
    return objectItems(site, nowMs, { kind: collection.kind.kind, namespace, troubles });
  const { failing } = troubles;
  return [...site.workloads.values()]
    .filter(
      (workload) => !workload.gone && (namespace ?? workload.namespace) === workload.namespace,
    )
    .toSorted((one, other) => (keyOf(one) < keyOf(other) ? -1 : 1))
    .flatMap((workload) => itemsOfWorkload(collection.of, workload, { nowMs, failing }));
};

/** What a workload contributes to a LIST. */
const itemsOfWorkload = (
  of: Exclude<Collection["of"], "objects">,
  workload: Workload,
  { nowMs, failing }: { readonly nowMs: number; readonly failing: Failing | undefined },
): readonly Raw[] => {
  const { namespace, target } = workload;
  switch (of) {
    case "workloads":
      return target.kind === "Deployment" ? [rawWorkload(workload)] : [];
    case "pods":
      return podsOf(workload, nowMs).map((pod) => rawPod(namespace, pod));
    case "pod metrics":
      return failing?.metrics.has(target.name)
        ? []
        : podMetricsOf(workload, nowMs).map((metrics) => rawPodMetrics(namespace, metrics));
    case "hpas":
    case "datadog":
      return [];
    case "scaled objects":
      return rivalsOf(workload).map(({ name }) => rawScaledObject(name, workload));
  }
};

const objectItems = (
  { objects }: SimulatedCluster,
  nowMs: number,
  {
    kind,
    namespace,
    troubles,
  }: {
    readonly kind: SpecKindName;
    readonly namespace: string | undefined;
    readonly troubles: Troubles;
  },
): readonly Raw[] | undefined => {
  const { listing } = troubles;
  if (listing?.failing.has(kind)) return undefined;
  return objects
    .at(nowMs - (listing?.staleMs ?? 0))
    .filter(
      (object) => object.of.kind === kind && (namespace ?? object.namespace) === object.namespace,
    )
    .map(rawObject);
};
