import { externalQuery, type Questions, type RecommenderQuestion } from "../../model/query.ts";
import type { WatermarkSpec } from "../../model/spec-watermark.ts";
import type { Seen } from "../dialect.ts";
import { asList } from "../shared/questions.ts";
import { readyPods } from "./metrics/measure.ts";
import { recommenderRequest } from "./metrics/recommender.ts";

/** Every source counts ready pods (watermark.md 2.4); usage comes from metrics.k8s.io. */
export const watermarkQuestions = ({ metrics, recommender, counts }: WatermarkSpec): Questions => ({
  pods: counts === "ready" && (metrics.length > 0 || recommender !== undefined),
  podMetrics: metrics.some(({ source }) => source === "Resource"),
  custom: [],
  external: metrics.filter(({ source }) => source === "External").flatMap((metric) => asList(externalQuery(metric))),
});

/** The question, or `undefined` where the original would not get as far: no scale, no recommender, a missing mark, or no ready pod (watermark.md 2.16). */
export const recommenderQuestion = (spec: WatermarkSpec, { namespace, observation, nowMs }: Seen): RecommenderQuestion | undefined => {
  const { recommender } = spec;
  const { scale } = observation;
  if (scale.kind === "failed" || spec.invalid !== undefined) return undefined;
  if (recommender?.highMilli === undefined || recommender.lowMilli === undefined) return undefined;
  const ready = readyPods({ spec, namespace, scale, observation, nowMs });
  if (ready.kind === "failed") return undefined;
  return { recommender, request: recommenderRequest(spec, recommender, { namespace, current: scale.specReplicas, ready: ready.value }) };
};
