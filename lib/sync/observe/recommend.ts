import limited from "p-limit";
import type { ClusterClient, Observed, ObservedCluster, Watched } from "../../cluster/cluster-client.ts";
import type { AutoscalerUid, Namespace } from "../../model/ids.ts";
import type { Answer, ApiFailure, RecommenderReply } from "../../model/observation.ts";
import type { RecommenderQuestion } from "../../model/query.ts";
import { recommenderQuestion } from "../../policy/dialects.ts";
import type { RuleFailures } from "../decide/pure-part.ts";

/** Questions in flight: of all namespaces, and of one namespace. */
const PARALLEL = { all: 32, ofNamespace: 8 } as const;

interface Context {
  readonly nowMs: number;
  /** Milliseconds that are left for all questions. */
  readonly leftMs: () => number;
  readonly refused: (url: string) => ApiFailure | undefined;
  readonly failures: RuleFailures;
}

/**
 * Asks the recommenders of the autoscalers that have one. The question says how many pods are ready, so it follows the observation; `decide` itself never waits. The autoscalers without a
 * recommender do not wait for an answer: the others come later (`later`). A recommender that does not answer in time counts as a missing metric: its autoscaler holds.
 */
export const withRecommendations = (
  client: ClusterClient,
  watched: readonly Watched[],
  cluster: ObservedCluster,
  context: Context,
): ObservedCluster => {
  const questions = watched.flatMap((autoscaler) => {
    const { uid, spec, namespace } = autoscaler;
    const observed = cluster.observations.get(uid);
    if (!observed) return [];
    const question = context.failures.guarded(
      uid,
      () => recommenderQuestion(spec, { namespace, observation: observed.observation, nowMs: context.nowMs }),
      () => undefined,
    );
    return question ? [{ autoscaler, observed, question }] : [];
  });
  const { later } = cluster;
  const following = later && (async () => withRecommendations(client, watched, await later(), context));
  if (questions.length === 0) return { ...cluster, ...(following && { later: following }) };
  const observations = new Map(cluster.observations);
  for (const { autoscaler } of questions) observations.delete(autoscaler.uid);
  const asked = askAll(client, questions, context);
  return { ...cluster, observations, later: () => answered({ ...cluster, calls: cluster.calls + questions.length }, asked, following) };
};

interface Question {
  readonly autoscaler: Watched;
  readonly observed: Observed;
  readonly question: RecommenderQuestion;
}

type Replies = readonly (readonly [AutoscalerUid, Observed])[];

/** The replies of each namespace, which come when all of its questions are answered. Each namespace has as many questions in flight as the others, so that a slow one does not hold them up. */
const askAll = (client: ClusterClient, questions: readonly Question[], context: Context): ReadonlyMap<Namespace, Promise<Replies>> => {
  const byNamespace = Map.groupBy(questions, ({ autoscaler }) => autoscaler.namespace);
  const ofAll = limited(PARALLEL.all);
  const each = Math.min(PARALLEL.ofNamespace, Math.max(1, Math.floor(PARALLEL.all / byNamespace.size)));
  const ask = async ({ autoscaler: { uid }, observed, question: { recommender: of, request } }: Question): Promise<Replies[number]> => {
    const failure = context.refused(of.url);
    const recommender: Answer<RecommenderReply> = failure
      ? { kind: "failed", failure }
      : await ofAll(() => client.recommend(of, request, Math.max(1, context.leftMs())));
    const { observation } = observed;
    return [uid, { ...observed, observation: { ...observation, recommender } }];
  };
  return new Map(
    [...byNamespace].map(([namespace, asking]) => {
      const ofNamespace = limited(each);
      return [namespace, Promise.all(asking.map((question) => ofNamespace(() => ask(question))))];
    }),
  );
};

/** Waits for the replies of half of the namespaces, so that the slow ones are decided in a round of their own. */
const answered = async (
  cluster: ObservedCluster,
  asked: ReadonlyMap<Namespace, Promise<Replies>>,
  following: (() => Promise<ObservedCluster>) | undefined,
): Promise<ObservedCluster> => {
  const { later: _ofCluster, ...read } = cluster;
  const replied = await firstHalf(asked);
  const left = new Map([...asked].filter(([namespace]) => !replied.has(namespace)));
  const part = { ...read, observations: new Map([...replied.values()].flat()) };
  if (left.size > 0) return { ...part, later: () => answered(read, left, following) };
  return { ...part, ...(following && { later: following }) };
};

const firstHalf = (asked: ReadonlyMap<Namespace, Promise<Replies>>): Promise<ReadonlyMap<Namespace, Replies>> =>
  new Promise((resolve, reject) => {
    const replied = new Map<Namespace, Replies>();
    for (const [namespace, replies] of asked) {
      replies.then((all) => {
        replied.set(namespace, all);
        if (replied.size >= asked.size / 2) resolve(new Map(replied));
      }, reject);
    }
  });
