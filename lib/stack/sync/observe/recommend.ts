import limited from "p-limit";
import type {
  ClusterClient,
  Observed,
  ObservedCluster,
  Watched,
} from "../../cluster/cluster-client.ts";
import type { AutoscalerUid, Namespace } from "../../../rules/model/ids.ts";
import type { Answer, ApiFailure, RecommenderReply } from "../../../rules/model/observation.ts";
import type { RecommenderQuestion } from "../../../rules/model/query.ts";
import { recommenderQuestion } from "../../../rules/policy/dialects.ts";
import { foreignText } from "../../../rules/model/foreign-text.ts";
import { ANY_HOST, type ClusterRecord } from "../../../rules/model/records.ts";
import type { RuleFailures } from "../rule-failures.ts";

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
 * Asks the recommenders of the autoscalers that have one. The question says how many pods are
 * ready, so it follows the observation; `decide` itself never waits. The autoscalers without a
 * recommender do not wait for an answer: the others come later (`later`). A recommender that does
 * not answer in time counts as a missing metric: its autoscaler holds.
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
      () =>
        recommenderQuestion(spec, {
          namespace,
          observation: observed.observation,
          nowMs: context.nowMs,
        }),
      () => undefined,
    );
    return question ? [{ autoscaler, observed, question }] : [];
  });
  const { later } = cluster;
  const following =
    later && (async () => withRecommendations(client, watched, await later(), context));
  if (questions.length === 0) return { ...cluster, ...(following && { later: following }) };
  const observations = new Map(cluster.observations);
  for (const { autoscaler } of questions) observations.delete(autoscaler.uid);
  const asked = askAll(client, questions, context);
  return {
    ...cluster,
    observations,
    later: () =>
      answered({ ...cluster, calls: cluster.calls + questions.length }, asked, following),
  };
};

interface Question {
  readonly autoscaler: Watched;
  readonly observed: Observed;
  readonly question: RecommenderQuestion;
}

type Replies = readonly (readonly [AutoscalerUid, Observed])[];

/**
 * The replies of each namespace, which come when all of its questions are answered. Each namespace
 * has as many questions in flight as the others, so that a slow one does not hold them up.
 */
const askAll = (
  client: ClusterClient,
  questions: readonly Question[],
  context: Context,
): ReadonlyMap<Namespace, Promise<Replies>> => {
  const byNamespace = Map.groupBy(questions, ({ autoscaler }) => autoscaler.namespace);
  const ofAll = limited(PARALLEL.all);
  const each = Math.min(
    PARALLEL.ofNamespace,
    Math.max(1, Math.floor(PARALLEL.all / byNamespace.size)),
  );
  const ask = async ({
    autoscaler: { uid },
    observed,
    question: { recommender: of, request },
  }: Question): Promise<Replies[number]> => {
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

/**
 * Waits for the replies of half of the namespaces, so that the slow ones are decided in a round of
 * their own.
 */
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

const firstHalf = (
  asked: ReadonlyMap<Namespace, Promise<Replies>>,
): Promise<ReadonlyMap<Namespace, Replies>> =>
  new Promise((resolve, reject) => {
    const replied = new Map<Namespace, Replies>();
    for (const [namespace, replies] of asked) {
      replies.then((all) => {
        replied.set(namespace, all);
        if (replied.size >= asked.size / 2) resolve(new Map(replied));
      }, reject);
    }
  });

const HTTP = "http:";
/** Begins a host of the list that may be asked without TLS. */
const PLAIN = "http://";

type Allowing = Pick<ClusterRecord, "name" | "recommenderHosts">;

/**
 * Why no recommender at this URL may be asked; undefined where one may. A person who may apply a
 * manifest, or write an object in one namespace, must not choose which hosts of the network the
 * functions call, so the hosts are those that the cluster allows, and the right that connects
 * clusters is needed to change them.
 */
export const refusedUrl = (
  { name, recommenderHosts = [] }: Allowing,
  text: string,
): string | undefined => {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url && (url.username !== "" || url.password !== ""))
    return "its URL has a user or a password, and they would be stored and shown; remove them";
  if (url && recommenderHosts.some((allowed) => allows(allowed, url))) return undefined;
  const scheme = url?.protocol === HTTP ? PLAIN : "";
  const option = `--recommender-host ${foreignText(`${scheme}${url?.host ?? "HOST"}`)}`;
  return `cluster "${name}" allows ${allowedWords(recommenderHosts)}; let a person who may connect clusters allow it: tidemark cluster add ${name} --replace ${option}`;
};

/**
 * "recommender.example.com" and "recommender.example.com:8443" allow https, and http only behind
 * "http://".
 */
const allows = (allowed: string, { protocol, host, hostname }: URL): boolean => {
  const isPlain = allowed.startsWith(PLAIN);
  const pattern = isPlain ? allowed.slice(PLAIN.length) : allowed;
  return (
    isPlain === (protocol === HTTP) &&
    (pattern === ANY_HOST || pattern === hostname || pattern === host)
  );
};

/**
 * The failure of the recommender in a sync. On doubt, hold: a metric without an answer never
 * shrinks a workload.
 */
export const refusedRecommender = (cluster: Allowing, text: string): ApiFailure | undefined => {
  const why = refusedUrl(cluster, text);
  if (why === undefined) return undefined;
  const host = URL.canParse(text) ? new URL(text).host : "";
  return {
    code: 0,
    reason: "RecommenderNotAllowed",
    message: `Cannot ask the recommender at "${foreignText(host)}": ${why}`,
  };
};

const allowedWords = (hosts: readonly string[]): string =>
  hosts.length === 0 ? "no recommender" : `only the recommenders ${hosts.join(", ")}`;
