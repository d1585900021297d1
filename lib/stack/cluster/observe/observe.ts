import type { AutoscalerUid, Namespace } from "../../../rules/model/ids.ts";
import { labelIndex } from "../../../rules/model/selector.ts";
import type {
  Answer,
  Answers,
  Observation,
  Pod,
  PodMetrics,
  QuestionKey,
  MeasuredSamples,
  ScaleReading,
} from "../../../rules/model/observation.ts";
import type { Observed, ObservedCluster, ObserveLimits, Watched } from "../cluster-client.ts";
import { mapYielding } from "../map-yielding.ts";
import {
  FLOW_SHARE_MS,
  FLOWS_PATIENCE_MS,
  MAX_OBSERVE_BYTES,
  MAX_OBSERVE_CALLS,
} from "../request-limits.ts";
import type { ApiSession } from "../scale.ts";
import { callBudget } from "../transport/budget.ts";
import { askList } from "./ask.ts";
import { namespaceCalls } from "./namespace-calls.ts";
import type { ClientMemory } from "./memory.ts";
import { heavyWork } from "./heavy-work.ts";
import { missingPods } from "./missing-pods.ts";
import { type Monitors, observeMonitors } from "./monitors.ts";
import { type NamespaceNeeds, needsOf } from "./needs.ts";
import { observePods } from "./pods.ts";
import type { ByNamespace } from "./read-scope.ts";
import { type AskedQuestions, askQueries, overShareOf } from "./questions.ts";
import { observeRivals, type Rivals } from "./rivals.ts";
import { type Observing, observeScales, type Scales, targetKey } from "./workloads.ts";

/**
 * Reads what the watched autoscalers need. LISTs of all namespaces come first: scales, then pods,
 * PodMetrics and rivals; monitors are read meanwhile. What is asked for only one namespace (metrics
 * of its adapters, single scales) goes on beside them. An answer that is too late is missing only
 * for the autoscalers that need it.
 *
 *     LISTs          ── scales ──┬── pods, PodMetrics, rivals ──┬ decided first
 *     shop, bank …      scales   │   metrics ───────────────────┘
 *     slow              scales ──┴── metrics ─────────────────────── … ────┬ a later round
 */
export const observeWatched = async (
  session: ApiSession,
  memory: ClientMemory,
  watched: readonly Watched[],
  limits: ObserveLimits,
): Promise<ObservedCluster> => {
  const budget = callBudget({
    budgetMs: limits.budgetMs,
    maxCalls: MAX_OBSERVE_CALLS,
    maxBytes: MAX_OBSERVE_BYTES,
    elapsed: session.elapsed,
  });
  const calls = namespaceCalls({
    budget,
    slow: memory.slow,
    elapsed: session.elapsed,
    after: session.after,
  });
  const observing: Observing = { session, budget, calls, limits, memory };
  const observingMonitors = observeMonitors(observing, watched);
  const scales = new Map<string, ScaleReading>();
  await observeScales(observing, watched, scales);
  await calls.within(FLOW_SHARE_MS, FLOWS_PATIENCE_MS);
  const unread = watched.filter(
    ({ namespace, spec }) => !scales.has(targetKey({ namespace, target: spec.target })),
  );
  const needs = await needsOf(watched, scales);
  const questions = askQueries(observing, needs, unread);
  const [pods, listed, rivals, monitors] = await Promise.all([
    observePods(
      observing,
      new Set(needs.flatMap((need) => (need.pods ? [need.namespace] : []))),
      (seen) => missingPods(seen, watched, scales),
    ),
    askLists(observing, needs),
    observeRivals(observing, watched, scales),
    observingMonitors,
  ]);
  await questions.askLate(scales);
  await calls.within(FLOW_SHARE_MS, FLOWS_PATIENCE_MS);
  const reading: Reading = {
    observing,
    scales,
    questions,
    rivals,
    monitors,
    needs: new Map(needs.map((need) => [need.namespace, need])),
    pods,
    listed,
  };
  const first = await observedNow(reading, watched, {
    shareMs: FLOW_SHARE_MS,
    late: heavyWork(reading.pods, watched),
  });
  return limits.inRounds ? first : allOf(first);
};

/** What is read once, and what comes in while it is asked. */
interface Reading {
  readonly observing: Observing;
  readonly scales: Scales;
  readonly questions: AskedQuestions;
  readonly needs: ReadonlyMap<Namespace, NamespaceNeeds>;
  readonly pods: ByNamespace<Pod>;
  readonly listed: Listed;
  readonly rivals: Rivals;
  readonly monitors: Monitors;
}

/** The observations of those whose answers have all come, and how to wait for the others. */
const observedNow = async (
  reading: Reading,
  watched: readonly Watched[],
  {
    shareMs,
    late = NONE_LATE,
  }: { readonly shareMs: number; readonly late?: ReadonlySet<Namespace> },
): Promise<ObservedCluster> => {
  const { observing, questions } = reading;
  const views = new Map<Namespace, (uid: AutoscalerUid) => View>();
  const viewOf = (namespace: Namespace, uid: AutoscalerUid): View => {
    const known = views.get(namespace) ?? viewsOf(namespace, reading);
    views.set(namespace, known);
    return known(uid);
  };
  const missing: Watched[] = [];
  const observations = new Map<AutoscalerUid, Observed>();
  await mapYielding(watched, (autoscaler) => {
    const { uid, namespace } = autoscaler;
    if (!late.has(namespace) && isRead(reading, autoscaler) && questions.areAnswered(autoscaler))
      observations.set(uid, observedOf(reading, autoscaler, viewOf(namespace, uid)));
    else missing.push(autoscaler);
  });
  const part = { observations, ...observing.budget.spent() };
  if (missing.length === 0) questions.end();
  return missing.length === 0
    ? part
    : { ...part, later: () => observedLater(reading, missing, 2 * shareMs) };
};

const NONE_LATE: ReadonlySet<Namespace> = new Set();

/**
 * True where the LISTs that it needs are read. The LISTs of a heavy namespace are read after the
 * first round.
 */
const isRead = (
  { needs, pods, listed, rivals, monitors }: Reading,
  { namespace, asksMonitor }: Watched,
): boolean => {
  if (!rivals.areRead(namespace) || (asksMonitor && !monitors.areRead(namespace))) return false;
  const need = needs.get(namespace);
  if (need === undefined) return true;
  return (
    (!need.pods || pods.has(namespace)) &&
    [...need.listed.keys()].every((key) => listed.get(key)?.has(namespace) === true)
  );
};

/**
 * Waits for at least one of the autoscalers that are missing, for twice as long as in the round
 * before.
 */
const observedLater = async (
  reading: Reading,
  missing: readonly Watched[],
  shareMs: number,
): Promise<ObservedCluster> => {
  const { calls, limits } = reading.observing;
  calls.beginLate();
  await calls.within(shareMs, limits.budgetMs);
  // The scale of some may have come just now: their questions are asked before it counts that none
  // is open.
  await reading.questions.askLate(reading.scales);
  calls.beginLate();
  const isOver = calls.areDone();
  const part = await observedNow(reading, missing, { shareMs });
  if (isOver && part.later)
    throw new TypeError(
      `${missing.length - part.observations.size} autoscalers wait for answers, and no question is open`,
    );
  return part.observations.size === 0 && part.later ? part.later() : part;
};

const allOf = async (first: ObservedCluster): Promise<ObservedCluster> => {
  const observations = new Map(first.observations);
  let { later, ...part } = first;
  while (later) {
    const next: ObservedCluster = await later();
    for (const [uid, observed] of next.observations) observations.set(uid, observed);
    ({ later, ...part } = next);
  }
  return { ...part, observations };
};

const observedOf = (
  { observing: { memory, session }, scales, questions, rivals, monitors }: Reading,
  autoscaler: Watched,
  view: View,
): Observed => {
  const { uid, namespace, spec } = autoscaler;
  const monitor = monitors.of(autoscaler);
  const key = targetKey({ namespace, target: spec.target });
  const scale = scales.get(key) ?? NOT_OBSERVED;
  const otherStack = memory.otherStacks.holds(key, scale, session.fieldManager);
  const overShare =
    scale.kind === "failed" ? overShareOf(scale) : questions.overShare(uid, namespace);
  // One of each autoscaler is made in every sync, and most have nothing beside the scale and the
  // LISTs: V8 copies fastest what comes first.
  const observation: Observation = monitor ? { ...view, scale, monitor } : { ...view, scale };
  const observed: Observed = { ...rivals.of(namespace, spec.target), observation };
  return overShare === undefined && !otherStack
    ? observed
    : {
        ...observed,
        ...(overShare !== undefined && { overShare }),
        ...(otherStack && { otherStack }),
      };
};

/** The observation of an autoscaler without its scale. */
type View = Omit<Observation, "scale">;

const EMPTY_VIEW: View = { pods: labelIndex([]), podsUnread: true, answers: new Map(), others: [] };

const NOT_OBSERVED: ScaleReading = {
  kind: "failed",
  failure: { code: 0, reason: "NotObserved", message: "Cannot read the scale: nothing was asked" },
};

type Listed = ReadonlyMap<QuestionKey, ByNamespace<PodMetrics>>;

const askLists = async (
  observing: Observing,
  needs: readonly NamespaceNeeds[],
): Promise<Listed> => {
  const queries = new Map(needs.flatMap(({ listed }) => [...listed]));
  return new Map(
    await Promise.all(
      [...queries].map(async ([key, query]) => {
        const namespaces = new Set(
          needs.flatMap(({ listed, namespace }) => (listed.has(key) ? [namespace] : [])),
        );
        return [key, await askList(observing, query, namespaces)] as const;
      }),
    ),
  );
};

/**
 * The answers that an autoscaler of the namespace may use: the answers of LISTs, and of the
 * namespace itself.
 */
const answersOf = (namespace: Namespace, { needs, questions, listed }: Reading): Answers => {
  const wanted = needs.get(namespace)?.listed;
  const own = questions.answersOf(namespace);
  if (wanted === undefined || wanted.size === 0) return own;
  const answers = new Map<QuestionKey, Answer<MeasuredSamples>>();
  for (const key of wanted.keys()) {
    const answer = listed.get(key)?.get(namespace);
    if (answer) answers.set(key, answer);
  }
  for (const [key, answer] of own) answers.set(key, answer);
  return answers;
};

/**
 * The observation of each autoscaler of a namespace. It is the same for all, except where the pods
 * could not be read.
 */
const viewsOf = (namespace: Namespace, reading: Reading): ((uid: AutoscalerUid) => View) => {
  const need = reading.needs.get(namespace);
  const pods = reading.pods.get(namespace);
  const answers = answersOf(namespace, reading);
  const others = need?.neighbours ?? [];
  const whole: View =
    pods?.kind === "answered"
      ? { pods: pods.items, answers, others }
      : { ...EMPTY_VIEW, answers, others };
  if (pods?.kind !== "failed") return () => whole;
  // On doubt, a missing metric: pods that could not be read are not "no pods", so that no metric is
  // usable and no overlap is excluded. Metrics stay only where the decision does not depend on
  // pods.
  const failed: Answer<never> = { kind: "failed", failure: pods.failure };
  const blind: View = {
    ...whole,
    answers: new Map([...answers.keys()].map((key) => [key, failed])),
  };
  return (uid) => (need?.withoutPods.has(uid) ? whole : blind);
};
