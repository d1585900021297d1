import type { EffectiveBounds } from "../../../rules/model/override.ts";
import type { Decision, FailedRead } from "../../../rules/model/decision.ts";
import type { Answer, ApiFailure, Observation } from "../../../rules/model/observation.ts";
import { parseSelector } from "../../../rules/model/selector-text.ts";
import type { BoundsInForce } from "../../../rules/model/windows.ts";
import type { DecideInput } from "../../../rules/policy/decide.ts";
import type { Evaluation } from "../../../rules/model/scale-records.ts";
import type { Verdict, After } from "../hand-over.ts";

/**
 * What a sync found and decided for one autoscaler, as the journal stores it and the status of its
 * object says it. It is made once for both.
 */
export const evaluationOf = (verdict: Verdict, after: After): Evaluation | undefined => {
  const known = evaluations.get(verdict);
  if (known?.after === after) return known.evaluation;
  const outcome = outcomeAfter(verdict, after);
  const evaluation = outcome && Object.assign(outcome, behindOf(verdict, after));
  evaluations.set(verdict, { after, evaluation });
  return evaluation;
};

const evaluations = new WeakMap<
  Verdict,
  { readonly after: After; readonly evaluation: Evaluation | undefined }
>();

/**
 * An evaluation; without the ready pods, where none was made yet. A summary needs one of each
 * autoscaler in every sync, and the journal few.
 */
export const briefEvaluation = (verdict: Verdict, after: After): Evaluation | undefined => {
  const known = evaluations.get(verdict);
  return known?.after === after ? known.evaluation : outcomeAfter(verdict, after);
};

const outcomeAfter = (verdict: Verdict, after: After): Evaluation | undefined => {
  const { autoscaler, because } = verdict;
  if (autoscaler.kind === "unreadable") return undefined;
  const { uid, namespace, name } = autoscaler.record;
  const entry = after.entries.get(uid);
  const gauges = after.gaugesOf(uid);
  const refused = verdict.kind === "scale" ? after.refused.get(uid) : undefined;
  const decision = verdict.kind === "unevaluated" ? undefined : verdict.decision;
  const made: Making = Object.assign(outcomeOf({ uid, namespace, name }, verdict), { because });
  if (verdict.kind !== "unevaluated") addCircumstances(made, verdict);
  const contested = after.contestedOf(verdict);
  if (refused) made.refused = refused;
  if (contested) made.contested = contested;
  made.metrics = decision?.metrics ?? [];
  made.steps = decision?.steps ?? [];
  made.events = after.eventsOf(uid) ?? [];
  if (entry) made.status = entry.windows.status;
  if (entry?.totals) made.totals = entry.totals;
  if (gauges) made.gauges = gauges;
  return made as Evaluation;
};

/**
 * An evaluation while it is made, member by member: one of each autoscaler is made in every sync.
 * Its members are stored in this order.
 */
type Making = { -readonly [Member in keyof Evaluation]?: Evaluation[Member] | undefined };

/**
 * What surrounds the decision: the hold, the other controllers, the failed read; and the bounds of
 * this sync, with the generation of the spec.
 */
const addCircumstances = (
  made: Making,
  verdict: Exclude<Verdict, { readonly kind: "unevaluated" }>,
): void => {
  const { rivals, waiting, input, autoscaler, decision } = verdict;
  const failedRead = failedReadOf(input.observation, decision);
  if (verdict.kind === "hold" && verdict.withoutHold) made.withoutHold = verdict.withoutHold;
  if (rivals) made.rivals = rivals;
  if (waiting) made.waiting = waiting;
  if (failedRead) made.failedRead = failedRead;
  const { scale } = input.observation;
  if (scale.kind === "read" && scale.podsRefused) made.podsRefused = scale.podsRefused;
  made.bounds = boundsOf(decision, input);
  made.generation = autoscaler.record.generation;
};

/**
 * What costs more than the decision: the ready pods, what is behind each metric, and which sources
 * were slow.
 */
const behindOf = (verdict: Verdict, after: After): Partial<Evaluation> => {
  if (verdict.kind === "unevaluated") return {};
  const ready = readyPods(verdict.input.observation);
  const slow = after.slowOf(verdict);
  return {
    metrics: after.metricsOf(verdict),
    ...(ready !== undefined && { ready }),
    ...(slow.length > 0 && { slow }),
  };
};

/** The bounds that held: the manifest's where nothing else set any. */
export const boundsOf = (
  { bounds }: Pick<Decision, "bounds">,
  { spec }: Pick<DecideInput, "spec">,
): BoundsInForce =>
  bounds ? boundsInForce(bounds) : { min: spec.minReplicas, max: spec.maxReplicas };

const boundsInForce = ({ min, max, paused, holds, forecast }: EffectiveBounds): BoundsInForce => ({
  min: min.replicas,
  max: max.replicas,
  ...(min.source.kind !== "manifest" && { minBy: min.source }),
  ...(max.source.kind !== "manifest" && { maxBy: max.source }),
  ...(paused && { paused }),
  ...(holds.length > 0 && { holds }),
  ...(forecast && { forecast }),
});

/** Absent where the pods of the workload are not known. */
const readyPods = ({ scale, pods, podsUnread }: Observation): number | undefined => {
  if (podsUnread || scale.kind === "failed" || scale.selector === "") return undefined;
  const reading = parseSelector(scale.selector);
  return reading.kind === "invalid"
    ? undefined
    : pods
        .select(reading.selector)
        .filter(({ ready, deleting }) => ready?.status === "True" && !deleting).length;
};

const outcomeOf = (
  { uid, namespace, name }: Pick<Evaluation, "uid" | "namespace" | "name">,
  verdict: Verdict,
): Pick<Evaluation, "uid" | "namespace" | "name" | "kind" | "failed" | "from" | "to"> => {
  if (verdict.kind === "unevaluated") return { uid, namespace, name, kind: "hold", failed: true };
  const { decision } = verdict;
  if (verdict.kind === "scale")
    return {
      uid,
      namespace,
      name,
      kind: "scale",
      failed: false,
      from: verdict.decision.from,
      to: verdict.decision.to,
    };
  const failed = decision.kind === "hold" && decision.failed;
  return decision.from === undefined
    ? { uid, namespace, name, kind: "hold", failed }
    : { uid, namespace, name, kind: "hold", failed, from: decision.from };
};

/**
 * The failed read behind a failed decision, by its code, so that the state of a cluster does not
 * depend on words. The scale comes first: without it no metric counts.
 */
const failedReadOf = (
  { scale, answers, recommender }: Observation,
  decision: Decision,
): FailedRead | undefined => {
  if (decision.kind !== "hold" || !decision.failed) return undefined;
  if (scale.kind === "failed") return { of: "scale", code: scale.failure.code };
  const all: readonly (Answer<unknown> | undefined)[] = [...answers.values(), recommender];
  const failures = all.flatMap((answer) => (answer?.kind === "failed" ? [answer.failure] : []));
  const own = failures.find((failure) => isNamedBy(decision, failure));
  return own && { of: "metric", code: own.code };
};

/**
 * True for a failure that this decision reports. The answers are shared by all autoscalers of a
 * namespace, so another one's failure may be among them.
 */
const isNamedBy = ({ because, metrics }: Decision, { message }: ApiFailure): boolean =>
  because.message.includes(message) ||
  metrics.some((metric) => metric.kind === "failed" && metric.message.includes(message));
