import type { Namespace } from "../../../rules/model/ids.ts";
import type { LabelIndex } from "../../../rules/model/selector.ts";
import type { Answer, ApiFailure, Pod, PodMetrics } from "../../../rules/model/observation.ts";
import type { MetricQuery } from "../../../rules/model/query.ts";
import type { Asking } from "../../../rules/sources/source.ts";
import { isTooLarge, passedOverFailure } from "../list.ts";
import { inNamespace, segment } from "../discovery.ts";
import { readPod, POD_LIST, POD_METRICS_LIST } from "../read/pods.ts";
import type { Listed } from "../read-page.ts";
import type { CallBudget } from "../transport/budget.ts";
import {
  answerOf,
  type ByNamespace,
  type Gathering,
  type Labelled,
  type PodList,
  readScope,
} from "./read-scope.ts";
import { covers, type Scope, scopesFor } from "./scopes.ts";
import type { Observing } from "./workloads.ts";

/**
 * Reads the pods of these namespaces, with the fields that rules use. It ends when those are read
 * that all namespaces share. Heavy ones are added as they come. `missing`: how many pods of each
 * target its workload counts that are not among the answers.
 */
export const observePods = (
  observing: Observing,
  namespaces: ReadonlySet<Namespace>,
  missing: (pods: ByNamespace<Pod>) => ReadonlyMap<string, number>,
): Promise<ByNamespace<Pod>> =>
  byNamespace(observing, namespaces, ({ namespace }) => ({
    path: `/api/v1${inNamespace(namespace)}/pods`,
    resource: "pods",
    protobuf: POD_LIST,
    convert: readPod,
    lasting: { missing },
  }));

type PodMetricsAsking = Extract<Asking<MetricQuery>, { readonly way: "list" }>;

/**
 * Reads the PodMetrics of these namespaces. metrics-server ignores the limit and answers in one
 * piece.
 */
export const listPodMetrics = async (
  observing: Observing,
  asking: PodMetricsAsking,
  namespaces: ReadonlySet<Namespace>,
): Promise<ByNamespace<PodMetrics>> => {
  if (namespaces.size === 0) return new Map();
  const { group, versions } = asking.request;
  const base = await listBase(observing, group, versions);
  const answers = await podMetricsAt(observing, asking, { namespaces, base });
  if (!isAbsent(answers)) return answers;
  forgetVersion(observing, group);
  const other = await listBase(observing, group, versions);
  // Asked again only where discovery names another version. Otherwise the 404 stands, and a metric
  // that is missing lets nothing shrink.
  return other === base ? answers : podMetricsAt(observing, asking, { namespaces, base: other });
};

const podMetricsAt = (
  observing: Observing,
  { request, read }: PodMetricsAsking,
  { namespaces, base }: { readonly namespaces: ReadonlySet<Namespace>; readonly base: string },
): Promise<ByNamespace<PodMetrics>> =>
  byNamespace(observing, namespaces, ({ namespace }) => ({
    path: `${base}${inNamespace(namespace)}/${request.path.map(segment).join("/")}`,
    resource: `${request.resource}.${request.group}`,
    protobuf: POD_METRICS_LIST,
    paged: false,
    convert: read,
  }));

const isAbsent = (answers: ByNamespace<PodMetrics>): boolean =>
  [...answers.values()].some((answer) => answer.kind === "failed" && answer.failure.code === 404);

const byNamespace = async <Item extends Labelled>(
  observing: Observing,
  namespaces: ReadonlySet<Namespace>,
  source: (scope: Scope) => PodList<Item>,
): Promise<ByNamespace<Item>> => {
  const answers = new Map<Namespace, Answer<LabelIndex<Item>>>();
  const read = async (scope: Scope, budget: CallBudget): Promise<void> => {
    const podList = source(scope);
    const coveredBy = (of: Scope) =>
      new Set([...namespaces].filter((namespace) => covers(of, namespace)));
    const { listed, gathering, ...whole } = await readScope(
      { ...observing, budget },
      { podList, whole: source({}).path, scope },
      coveredBy,
    );
    readLate(whole.heavy);
    const covered = coveredBy(whole.scope);
    // One tenant's objects may be more than an answer may have, and no page can be smaller. Each
    // namespace is then read, or fails, by itself.
    if (
      listed.kind === "failed" &&
      isTooLarge(listed.failure) &&
      podList.paged === false &&
      scope.namespace === undefined
    ) {
      await Promise.all([...covered].map((namespace) => read({ namespace }, budget)));
      return;
    }
    const failureOf = failures(podList.resource, listed, gathering);
    for (const namespace of covered) {
      const failure = failureOf(namespace);
      answers.set(
        namespace,
        failure ? { kind: "failed", failure } : answerOf(gathering, namespace),
      );
    }
  };
  const readLate = (heavy: readonly Scope[]): void => {
    for (const scope of heavy)
      if (scope.namespace !== undefined && namespaces.has(scope.namespace))
        observing.calls.listLate(scope.namespace, (budget) => read(scope, budget));
  };
  const scopes = scopesFor(
    namespaces,
    observing.limits,
    observing.memory.heavy.of(source({}).path),
  );
  readLate(scopes.filter(({ isHeavy }) => isHeavy));
  await Promise.all(
    scopes.filter(({ isHeavy }) => !isHeavy).map((scope) => read(scope, observing.budget)),
  );
  return answers;
};

/**
 * Why the objects of a namespace are not all read. On doubt, the metric is missing: a pod that was
 * passed over may be one of any autoscaler of its namespace. The other namespaces are whole.
 */
const failures = (
  resource: string,
  listed: Listed<unknown>,
  { shown }: Pick<Gathering<unknown>, "shown">,
): ((namespace: Namespace) => ApiFailure | undefined) => {
  if (listed.kind === "failed")
    return (namespace) => (shown.whole(namespace) ? undefined : listed.failure);
  const passedOver = new Map(listed.passedOver.map((object) => [object.namespace, object]));
  return (namespace) => {
    const unread = passedOver.get(namespace);
    return unread && passedOverFailure(resource, unread);
  };
};

/** The newest version of a group that both sides know. */
export const newestOf = (known: readonly string[], served: readonly string[]): string | undefined =>
  known.find((version) => served.includes(version));

/**
 * The path of the newest served version of a group whose objects are listed. Discovery is asked
 * once for a warm client. While discovery fails or shows no such group the oldest version is asked,
 * so that a missing API fails with the answer of its server.
 */
const listBase = async (
  { session, budget, memory }: Observing,
  group: string,
  versions: readonly string[],
): Promise<string> => {
  const known = memory.metricVersions.get(group);
  if (known !== undefined) return `/apis/${group}/${known}`;
  const served = await session.discovery.groupVersions(group, budget);
  const newest = served.kind === "found" ? newestOf(versions, served.value) : undefined;
  if (newest !== undefined) memory.metricVersions.set(group, newest);
  return `/apis/${group}/${newest ?? versions.at(-1)}`;
};

/**
 * Forgets the version after a 404: its server was replaced by one of another version. Discovery is
 * asked again.
 */
const forgetVersion = ({ session, memory }: Observing, group: string): void => {
  if (memory.metricVersions.delete(group)) session.discovery.forget(group);
};
