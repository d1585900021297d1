import type { Namespace } from "../../../rules/model/ids.ts";
import type {
  Answer,
  ApiFailure,
  MetricValue,
  PodMetrics,
} from "../../../rules/model/observation.ts";
import type { MetricQuery } from "../../../rules/model/query.ts";
import { type MetricRequest, readValues, valuesReader } from "../../../rules/sources/source.ts";
import { answererOf } from "../../../rules/sources/sources.ts";
import { inNamespace, segment } from "../discovery.ts";
import { unknownKind } from "../scale.ts";
import { MAX_METRIC_BYTES } from "../request-limits.ts";
import type { CallBudget } from "../transport/budget.ts";
import { listPodMetrics } from "./pods.ts";
import type { ByNamespace } from "./read-scope.ts";
import type { Observing } from "./workloads.ts";

type Failed = { readonly kind: "failed"; readonly failure: ApiFailure };

/** True for a question that is answered by one LIST for many namespaces. */
export const isListed = (query: MetricQuery): boolean => answererOf(query).asking.way === "list";

/** Asks a question for these namespaces by LISTs. */
export const askList = (
  observing: Observing,
  query: MetricQuery,
  namespaces: ReadonlySet<Namespace>,
): Promise<ByNamespace<PodMetrics>> => {
  const { asking } = answererOf(query);
  if (asking.way !== "list")
    throw new TypeError(`The question "${query.for}" is not answered by a LIST`);
  return listPodMetrics(observing, asking, namespaces);
};

/**
 * Asks one question of a namespace, within the share of the namespace. A refused call is a failure
 * value.
 */
export const askEach = async (
  observing: Observing,
  namespace: Namespace,
  query: MetricQuery,
  budget: CallBudget,
): Promise<Answer<readonly MetricValue[]>> => {
  const { asking } = answererOf(query);
  if (asking.way !== "each")
    throw new TypeError(`The question "${query.for}" is not answered by a GET`);
  const request = asking.request(query, namespace);
  const base = await baseOf(observing, request);
  if (base.kind === "failed") return base;
  const below = await segmentsOf(observing, request);
  if (below.kind === "failed") return below;
  const { amountOf } = asking;
  const values = valuesReader(asking.read, amountOf && ((item) => amountOf(item, query)));
  const answer = await observing.session.transport.get(
    {
      path: `${base.path}${inNamespace(request.namespace)}/${below.segments.map(segment).join("/")}`,
      resource: request.group === "" ? below.resource : `${below.resource}.${request.group}`,
      query: request.parameters ?? {},
      flow: namespace,
      maxBytes: request.maxBytes ?? MAX_METRIC_BYTES,
      onItem: values.take,
    },
    budget,
  );
  if (answer.kind === "failed") return answer;
  return answer.streamed ? values.answer() : readValues(values, answer.body["items"]);
};

/**
 * The newest version that both sides know. Of a request with one version discovery is not asked.
 */
const baseOf = async (
  { session, budget }: Observing,
  { group, versions, absent }: MetricRequest,
): Promise<Failed | { readonly kind: "found"; readonly path: string }> => {
  const [only, ...more] = versions;
  if (more.length === 0)
    return { kind: "found", path: group === "" ? `/api/${only}` : `/apis/${group}/${only}` };
  const served = await session.discovery.groupVersions(group, budget);
  if (served.kind === "failed") return served;
  const version = versions.find((known) => served.value.includes(known));
  if (version !== undefined) return { kind: "found", path: `/apis/${group}/${version}` };
  return {
    kind: "failed",
    failure: {
      code: 404,
      reason: "NotFound",
      message: absent ?? `the API group "${group}" is not served`,
    },
  };
};

/** The segments below the namespace. A kind becomes its plural, which discovery knows. */
const segmentsOf = async (
  { session, budget }: Observing,
  { kind: of, path, resource }: MetricRequest,
): Promise<
  | Failed
  | { readonly kind: "found"; readonly segments: readonly string[]; readonly resource: string }
> => {
  if (of === undefined) return { kind: "found", segments: path, resource };
  const found = await session.discovery.kindPath(
    { apiVersion: of.group === "" ? "v1" : `${of.group}/`, kind: of.kind },
    budget,
  );
  if (found.kind === "failed")
    return found.failure.code === 404
      ? { kind: "failed", failure: unknownKind(of.kind, of.group) }
      : found;
  return {
    kind: "found",
    segments: [found.value.resource, ...path],
    resource: found.value.resource,
  };
};
