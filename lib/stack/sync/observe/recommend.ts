import type { ClusterClient, Observed, Watched } from "../../cluster/cluster-client.ts";
import { OF_THE_MACHINE } from "../../cluster/transport/exchange.ts";
import { fairGate } from "../../turns/gate.ts";
import type { AutoscalerUid, Namespace } from "../../../rules/model/ids.ts";
import type { Answer, ApiFailure, RecommenderReply } from "../../../rules/model/observation.ts";
import type { RecommenderQuestion } from "../../../rules/model/query.ts";
import { recommenderQuestion } from "../../../rules/policy/dialects.ts";
import { foreignText } from "../../../rules/model/foreign-text.ts";
import { ANY_HOST, type ClusterRecord } from "../../../rules/model/records.ts";
import type { RuleFailures } from "../rule-failures.ts";

/** Questions in flight: of all namespaces, and of one; a slow one gives its place to others. */
const PARALLEL = { all: 32, slow: 64, ofNamespace: 8, slowMs: 100 } as const;

interface Context {
  readonly nowMs: number;
  /** Milliseconds that are left for all questions. */
  readonly leftMs: () => number;
  readonly refused: (url: string) => ApiFailure | undefined;
  readonly failures: RuleFailures;
}

/** Asks the recommenders of the autoscalers that have one. */
export interface Recommenders {
  /** What is observed of an autoscaler, with the reply of its recommender; a promise until then. */
  readonly replied: (uid: AutoscalerUid, observed: Observed) => Observed | Promise<Observed>;
  /** How many were asked so far. */
  readonly calls: () => number;
}

/**
 * The question says how many pods are ready, so it follows the observation; `decide` itself never
 * waits. The autoscalers without a recommender do not wait for an answer (rounds.ts), and
 * namespaces take turns. A recommender that does not answer in time counts as a missing metric: its
 * autoscaler holds.
 */
export const askRecommenders = (
  client: ClusterClient,
  watched: readonly Watched[],
  { nowMs, leftMs, refused, failures }: Context,
): Recommenders => {
  const byUid = new Map(watched.map((autoscaler) => [autoscaler.uid, autoscaler]));
  const gate = fairGate({
    places: PARALLEL.all,
    ofFlow: PARALLEL.ofNamespace,
    elapsed: () => performance.now(),
    slow: { afterMs: PARALLEL.slowMs, places: PARALLEL.slow, after: OF_THE_MACHINE.after },
  });
  let calls = 0;
  const ask = async (
    namespace: Namespace,
    observed: Observed,
    { recommender: of, request }: RecommenderQuestion,
  ): Promise<Observed> => {
    const failure = refused(of.url);
    const recommender: Answer<RecommenderReply> = failure
      ? { kind: "failed", failure }
      : await gate.run(namespace, () => client.recommend(of, request, Math.max(1, leftMs())));
    const { observation } = observed;
    return { ...observed, observation: { ...observation, recommender } };
  };
  return {
    calls: () => calls,
    replied: (uid, observed) => {
      const autoscaler = byUid.get(uid);
      if (autoscaler === undefined) return observed;
      const { spec, namespace } = autoscaler;
      const question = failures.guarded(
        uid,
        () => recommenderQuestion(spec, { namespace, observation: observed.observation, nowMs }),
        () => undefined,
      );
      if (question === undefined) return observed;
      calls++;
      return ask(namespace, observed, question);
    },
  };
};

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
