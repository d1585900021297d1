import { foreignText } from "../../model/foreign-text.ts";
import type { ApiFailure } from "../../model/observation.ts";
import { ANY_HOST, type ClusterRecord } from "../../model/records.ts";

const HTTP = "http:";
/** Begins a host of the list that may be asked without TLS. */
const PLAIN = "http://";

type Allowing = Pick<ClusterRecord, "name" | "recommenderHosts">;

/**
 * Why no recommender at this URL may be asked; undefined where one may. A person who may apply a manifest, or write an object in one namespace, must not choose which hosts of the network the functions
 * call, so the hosts are those that the cluster allows, and the right that connects clusters is needed to change them.
 */
export const refusedUrl = ({ name, recommenderHosts = [] }: Allowing, text: string): string | undefined => {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url && (url.username !== "" || url.password !== "")) return "its URL has a user or a password, and they would be stored and shown; remove them";
  if (url && recommenderHosts.some((allowed) => allows(allowed, url))) return undefined;
  const scheme = url?.protocol === HTTP ? PLAIN : "";
  const option = `--recommender-host ${foreignText(`${scheme}${url?.host ?? "HOST"}`)}`;
  return `cluster "${name}" allows ${allowedWords(recommenderHosts)}; let a person who may connect clusters allow it: tidemark cluster add ${name} --replace ${option}`;
};

/** "recommender.example.com" and "recommender.example.com:8443" allow https, and http only behind "http://". */
const allows = (allowed: string, { protocol, host, hostname }: URL): boolean => {
  const isPlain = allowed.startsWith(PLAIN);
  const pattern = isPlain ? allowed.slice(PLAIN.length) : allowed;
  return isPlain === (protocol === HTTP) && (pattern === ANY_HOST || pattern === hostname || pattern === host);
};

/** The failure of the recommender in a sync. On doubt, hold: a metric without an answer never shrinks a workload. */
export const refusedRecommender = (cluster: Allowing, text: string): ApiFailure | undefined => {
  const why = refusedUrl(cluster, text);
  if (why === undefined) return undefined;
  const host = URL.canParse(text) ? new URL(text).host : "";
  return { code: 0, reason: "RecommenderNotAllowed", message: `Cannot ask the recommender at "${foreignText(host)}": ${why}` };
};

const allowedWords = (hosts: readonly string[]): string => (hosts.length === 0 ? "no recommender" : `only the recommenders ${hosts.join(", ")}`);
