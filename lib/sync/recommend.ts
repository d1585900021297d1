import type { ClusterClient, Observed, ObservedCluster, Watched } from "../cluster/port.ts";
import type { AutoscalerUid } from "../model/ids.ts";
import { recommenderQuestion } from "../policy/metrics/watermark/question.ts";
import { eachDone } from "../store/table/all-done.ts";

const PARALLEL = 8;

/**
 * Asks the recommenders of the autoscalers that have one. Asked after the cluster was read, because the question says how many pods are ready; never inside `decide`. One that
 * is not answered in time is a metric that is missing: its autoscaler holds.
 */
export const withRecommendations = async (
  client: ClusterClient,
  watched: readonly Watched[],
  seen: ObservedCluster,
  now: { readonly nowMs: number; readonly timeoutMs: number },
): Promise<ObservedCluster> => {
  const asked = watched.flatMap((one) => {
    const observed = seen.observations.get(one.uid);
    const question = observed && questionOf(one, observed, now.nowMs);
    return question ? [{ one, observed, question }] : [];
  });
  if (asked.length === 0) return seen;
  const observations = new Map<AutoscalerUid, Observed>(seen.observations);
  await eachDone(asked, PARALLEL, async ({ one, observed, question }) => {
    const recommender = await client.recommend(question.recommender, question.request, now.timeoutMs);
    const { observation } = observed;
    observations.set(one.uid, { ...observed, observation: { ...observation, answers: { ...observation.answers, recommender } } });
  });
  return { ...seen, observations, calls: seen.calls + asked.length };
};

const questionOf = ({ spec, namespace }: Watched, { observation }: Observed, nowMs: number) =>
  spec.dialect === "watermark" && observation.scale.kind === "read"
    ? recommenderQuestion({ spec, namespace, scale: observation.scale, observation }, nowMs)
    : undefined;
