import type { ClusterClient, Observed, ObservedCluster, Watched } from "../cluster/port.ts";
import type { AutoscalerUid } from "../model/ids.ts";
import type { ApiFailure } from "../model/observation.ts";
import { recommenderQuestion } from "../policy/dialects.ts";
import type { RuleFailures } from "./rule-failures.ts";
import { eachDone } from "../store/table/all-done.ts";

const PARALLEL = 8;

/**
 * Asks the recommenders of the autoscalers that have one. The question says how many pods are ready, so it follows the observation; `decide` itself never waits. A recommender that
 * does not answer in time counts as a missing metric: its autoscaler holds.
 */
export const withRecommendations = async (
  client: ClusterClient,
  watched: readonly Watched[],
  cluster: ObservedCluster,
  context: {
    readonly nowMs: number;
    readonly timeoutMs: number;
    readonly refused: (url: string) => ApiFailure | undefined;
    readonly failures: RuleFailures;
  },
): Promise<ObservedCluster> => {
  const questions = watched.flatMap((autoscaler) => {
    const observed = cluster.observations.get(autoscaler.uid);
    if (!observed) return [];
    const { uid, spec, namespace } = autoscaler;
    const question = context.failures.guarded(
      uid,
      () => recommenderQuestion(spec, { namespace, observation: observed.observation, nowMs: context.nowMs }),
      () => undefined,
    );
    return question ? [{ uid, observed, question }] : [];
  });
  if (questions.length === 0) return cluster;
  const observations = new Map<AutoscalerUid, Observed>(cluster.observations);
  await eachDone(questions, PARALLEL, async ({ uid, observed, question }) => {
    const failure = context.refused(question.recommender.url);
    const recommender = failure
      ? ({ kind: "failed", failure } as const)
      : await client.recommend(question.recommender, question.request, context.timeoutMs);
    const { observation } = observed;
    observations.set(uid, { ...observed, observation: { ...observation, answers: { ...observation.answers, recommender } } });
  });
  return { ...cluster, observations, calls: cluster.calls + questions.length };
};
