import type { Namespace } from "../../model/ids.ts";
import type { Answer, ApiFailure, CustomMetricValue, ExternalMetricValue } from "../../model/observation.ts";
import type { CustomQuery, ExternalQuery, ObjectQuery } from "../../model/query.ts";
import { inNamespace, segment } from "../paths.ts";
import { customValues, externalValues, readAll, type ValuesReader } from "../read/metrics.ts";
import { unknownKind } from "../read/scale.ts";
import { MAX_METRIC_BYTES } from "../request-limits.ts";
import type { CallBudget } from "../transport/budget.ts";
import type { ApiRequest } from "../transport/send.ts";
import type { Observing } from "./workloads.ts";

export type CustomAnswer = Answer<readonly CustomMetricValue[]>;
export type ExternalAnswer = Answer<readonly ExternalMetricValue[]>;

const CUSTOM_GROUP = "custom.metrics.k8s.io";
/** Newest first, in the order of preference of the controller. */
const CUSTOM_VERSIONS = ["v1beta2", "v1beta1"];
const EXTERNAL_GROUP = "external.metrics.k8s.io";

/** Sends one query to custom.metrics.k8s.io, within the share of the namespace. */
export const askCustom = async (observing: Observing, namespace: Namespace, query: CustomQuery, budget: CallBudget): Promise<CustomAnswer> => {
  const base = await customBase(observing);
  if (base.kind === "failed") return base;
  const request = query.for === "pods" ? podsRequest(base.value, namespace, query) : await objectRequest(observing, base.value, namespace, query);
  if ("kind" in request) return request;
  return askValues(observing, { ...request, flow: namespace }, customValues(), budget);
};

/** Sends one query to external.metrics.k8s.io, within the share of the namespace. */
export const askExternal = (
  observing: Pick<Observing, "session">,
  namespace: Namespace,
  query: ExternalQuery,
  budget: CallBudget,
): Promise<ExternalAnswer> => {
  const request = {
    path: `/apis/${EXTERNAL_GROUP}/v1beta1${inNamespace(namespace)}/${segment(query.metric)}`,
    resource: `${query.metric}.${EXTERNAL_GROUP}`,
    query: selector("labelSelector", query.metricSelector),
    flow: namespace,
  };
  return askValues(observing, request, externalValues(), budget);
};

const askValues = async <Item>(
  { session }: Pick<Observing, "session">,
  request: ApiRequest,
  values: ValuesReader<Item>,
  budget: CallBudget,
): Promise<Answer<readonly Item[]>> => {
  const answer = await session.transport.get({ ...request, maxBytes: MAX_METRIC_BYTES, onItem: values.take }, budget);
  if (answer.kind === "failed") return answer;
  return answer.streamed ? values.answer() : readAll(values, answer.body["items"]);
};

const customBase = async ({ session, budget }: Observing): Promise<{ readonly kind: "found"; readonly value: string } | Failed> => {
  const versions = await session.discovery.groupVersions(CUSTOM_GROUP, budget);
  if (versions.kind === "failed") return versions;
  const version = CUSTOM_VERSIONS.find((known) => versions.value.includes(known));
  if (version === undefined) return failed(404, "NotFound", `no custom metrics API (${CUSTOM_GROUP}) registered`);
  return { kind: "found", value: `/apis/${CUSTOM_GROUP}/${version}` };
};

const podsRequest = (base: string, namespace: Namespace, query: Extract<CustomQuery, { for: "pods" }>): ApiRequest => ({
  path: `${base}${inNamespace(namespace)}/pods/*/${segment(query.metric)}`,
  resource: `pods.${CUSTOM_GROUP}`,
  query: { ...selector("labelSelector", query.podSelector), ...selector("metricLabelSelector", query.metricSelector) },
});

/** The request for an object. A Namespace of the core group has its own path; every other object is in the namespace of the autoscaler (hpa.md 2.5). */
const objectRequest = async (
  { session, budget }: Observing,
  base: string,
  namespace: Namespace,
  query: ObjectQuery,
): Promise<ApiRequest | Failed> => {
  const parameters = selector("metricLabelSelector", query.metricSelector);
  if (query.kind === "Namespace" && query.group === "") {
    return { path: `${base}${inNamespace(query.name)}/metrics/${segment(query.metric)}`, resource: `namespaces.${CUSTOM_GROUP}`, query: parameters };
  }
  const kind = await session.discovery.kindPath({ apiVersion: query.group === "" ? "v1" : `${query.group}/`, kind: query.kind }, budget);
  if (kind.kind === "failed") return kind.failure.code === 404 ? { kind: "failed", failure: unknownKind(query.kind, query.group) } : kind;
  return {
    path: `${base}${inNamespace(namespace)}/${segment(kind.value.resource)}/${segment(query.name)}/${segment(query.metric)}`,
    resource: `${kind.value.resource}.${CUSTOM_GROUP}`,
    query: parameters,
  };
};

type Failed = { readonly kind: "failed"; readonly failure: ApiFailure };

const failed = (code: number, reason: string, message: string): Failed => ({ kind: "failed", failure: { code, reason, message } });

const selector = (name: string, text: string): Record<string, string> => (text === "" ? {} : { [name]: text });
