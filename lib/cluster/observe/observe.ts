import type { AutoscalerUid, Namespace } from "../../model/ids.ts";
import { labelIndex } from "../../model/label-index.ts";
import type { Answer, ApiFailure, MetricAnswers, Observation, Pod, PodMetrics, ScaleReading } from "../../model/observation.ts";
import { mapInTurns } from "../in-turns.ts";
import type { Observed, ObservedCluster, ObserveLimits, Watched } from "../port.ts";
import { MAX_OBSERVE_BYTES, MAX_OBSERVE_CALLS } from "../request-limits.ts";
import type { ApiSession } from "../scale.ts";
import { callBudget } from "../transport/budget.ts";
import type { Memory } from "./memory.ts";
import { askCustom, askExternal, type CustomAnswer, type ExternalAnswer } from "./metrics.ts";
import { observeMonitors } from "./monitors.ts";
import { type NamespaceNeeds, needsOf } from "./needs.ts";
import { type ByNamespace, observePodMetrics, observePods } from "./pods.ts";
import { observeRivals } from "./rivals.ts";
import { type Observing, observeScales, type Scales, targetKey } from "./workloads.ts";

/**
 * Reads what the watched autoscalers need, in two rounds. The first reads scales, because the metric queries and the search for rivals depend on them. The second reads pods, PodMetrics,
 * custom and external metrics and rivals in parallel. Monitors are read meanwhile. An answer that is too late is missing only for the autoscalers that need it.
 */
export const observe = async (session: ApiSession, memory: Memory, watched: readonly Watched[], limits: ObserveLimits): Promise<ObservedCluster> => {
  const budget = callBudget({ budgetMs: limits.budgetMs, maxCalls: MAX_OBSERVE_CALLS, maxBytes: MAX_OBSERVE_BYTES, elapsed: session.elapsed });
  const observing: Observing = { session, budget, limits, memory };
  const monitors = observeMonitors(observing, watched);
  const scales = await observeScales(observing, watched);
  const [views, rivalsOf, monitorOf] = await Promise.all([measured(observing, watched, scales), observeRivals(observing, watched, scales), monitors]);
  const observed = await mapInTurns(watched, (autoscaler): readonly [AutoscalerUid, Observed] => {
    const { uid, namespace, spec } = autoscaler;
    const monitor = monitorOf(autoscaler);
    const key = targetKey({ namespace, target: spec.target });
    const scale = scales.get(key) ?? NOT_OBSERVED;
    const otherStack = memory.otherStacks.holds(key, scale, session.fieldManager);
    const view = views.get(namespace)?.(uid) ?? EMPTY_VIEW;
    const observation = { scale, ...view, ...(monitor && { monitor }) };
    return [uid, { observation, ...rivalsOf(namespace, spec.target), ...(otherStack && { otherStack }) }];
  });
  return { observations: new Map(observed), ...budget.spent() };
};

/** The answers of the second round. */
const measured = async (observing: Observing, watched: readonly Watched[], scales: Scales) => {
  const needs = await needsOf(watched, scales);
  const [pods, podMetrics, custom, external] = await Promise.all([
    observePods(observing, namespacesThat(needs, "pods")),
    observePodMetrics(observing, namespacesThat(needs, "podMetrics")),
    askAll(
      needs.map(({ namespace, custom: queries }) => ({ namespace, queries })),
      (namespace, query) => askCustom(observing, namespace, query),
    ),
    askAll(
      needs.map(({ namespace, external: queries }) => ({ namespace, queries })),
      (namespace, query) => askExternal(observing, namespace, query),
    ),
  ]);
  return new Map(needs.map((need) => [need.namespace, viewsOf(need, { pods, podMetrics, custom, external })]));
};

/** The observation of an autoscaler without its scale. */
type View = Omit<Observation, "scale">;

const EMPTY_VIEW: View = { pods: labelIndex([]), answers: { custom: new Map(), external: new Map() }, others: [] };

const NOT_OBSERVED: ScaleReading = {
  kind: "failed",
  failure: { code: 0, reason: "NotObserved", message: "Cannot read the scale: nothing was asked" },
};

const namespacesThat = (needs: readonly NamespaceNeeds[], need: "pods" | "podMetrics"): ReadonlySet<Namespace> =>
  new Set(needs.flatMap((needed) => (needed[need] ? [needed.namespace] : [])));

interface Answers {
  readonly pods: ByNamespace<Pod>;
  readonly podMetrics: ByNamespace<PodMetrics>;
  readonly custom: ReadonlyMap<Namespace, ReadonlyMap<string, CustomAnswer>>;
  readonly external: ReadonlyMap<Namespace, ReadonlyMap<string, ExternalAnswer>>;
}

/** The observation of each autoscaler of a namespace. It is the same for all, except where the pods could not be read. */
const viewsOf = ({ namespace, neighbours, podMetrics, withoutPods }: NamespaceNeeds, answers: Answers): ((uid: AutoscalerUid) => View) => {
  const pods = answers.pods.get(namespace);
  const resource = podMetrics ? answers.podMetrics.get(namespace) : undefined;
  const own: MetricAnswers = {
    custom: answers.custom.get(namespace) ?? new Map(),
    external: answers.external.get(namespace) ?? new Map(),
    ...(resource && { resource }),
  };
  const whole: View = { pods: pods?.kind === "answered" ? pods.items : EMPTY_VIEW.pods, answers: own, others: neighbours };
  if (pods?.kind !== "failed") return () => whole;
  // Fails to a missing metric: pods that could not be read are not "no pods", so that no metric is usable and no overlap is excluded. Metrics stay only where the decision does not
  // depend on pods.
  const blind: View = { ...whole, answers: allFailed(own, pods.failure) };
  return (uid) => (withoutPods.has(uid) ? whole : blind);
};

const allFailed = (answers: MetricAnswers, failure: ApiFailure): MetricAnswers => {
  const failed: Answer<never> = { kind: "failed", failure };
  const each = <Item>(map: ReadonlyMap<string, Answer<Item>>): ReadonlyMap<string, Answer<Item>> =>
    new Map([...map.keys()].map((key) => [key, failed]));
  return { custom: each(answers.custom), external: each(answers.external), ...(answers.resource && { resource: failed }) };
};

/** Sends each different query of each namespace once. */
const askAll = async <Query, Found>(
  needed: readonly { readonly namespace: Namespace; readonly queries: ReadonlyMap<string, Query> }[],
  ask: (namespace: Namespace, query: Query) => Promise<Found>,
): Promise<ReadonlyMap<Namespace, ReadonlyMap<string, Found>>> => {
  const answered = needed.map(async ({ namespace, queries }) => {
    const pairs = await Promise.all([...queries].map(async ([key, query]) => [key, await ask(namespace, query)] as const));
    return [namespace, new Map(pairs)] as const;
  });
  return new Map(await Promise.all(answered));
};
