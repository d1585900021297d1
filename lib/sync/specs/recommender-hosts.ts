import { foreignWords } from "../../model/foreign-words.ts";
import type { ApiFailure } from "../../model/observation.ts";
import { ANY_HOST, type AutoscalerRecord, type ClusterRecord } from "../../model/records.ts";

/**
 * Why a sync may not ask the recommender of this autoscaler; undefined where it may. A person who may write objects in one namespace must not choose which hosts the functions call, so the
 * hosts of autoscalers from objects are those that the cluster allows. Fails to a hold: a metric without an answer never shrinks a workload.
 */
export const refusedRecommender = (
  { name, recommenderHosts = [] }: Pick<ClusterRecord, "name" | "recommenderHosts">,
  { origin }: Pick<AutoscalerRecord, "origin">,
  url: string,
): ApiFailure | undefined => {
  if (origin === undefined) return undefined;
  const host = URL.canParse(url) ? new URL(url) : undefined;
  if (recommenderHosts.some((allowed) => allowed === ANY_HOST || allowed === host?.hostname || allowed === host?.host)) return undefined;
  const message = `Cannot ask the recommender at "${foreignWords(host?.host ?? "")}": cluster "${name}" allows ${allowedWords(recommenderHosts)} to autoscalers that are read from it; allow it with cluster add --replace --recommender-host`;
  return { code: 0, reason: "RecommenderNotAllowed", message };
};

const allowedWords = (hosts: readonly string[]): string => (hosts.length === 0 ? "no recommender" : `only the recommenders ${hosts.join(", ")}`);
