import type { Recommender } from "../../../model/spec-watermark.ts";
import { recorder } from "../../steps/watermark/recorder.ts";
import { readyPods, type Subject } from "./measure.ts";
import { recommenderRequest } from "./recommender.ts";

/** What must be asked of a recommender before its autoscaler is decided. */
export interface RecommenderQuestion {
  readonly recommender: Recommender;
  readonly request: Readonly<Record<string, unknown>>;
}

/** The question, or `undefined` where the original would not get as far: no recommender, a missing mark, or no ready pod (watermark.md 2.16). */
export const recommenderQuestion = (subject: Subject, nowMs: number): RecommenderQuestion | undefined => {
  const { recommender } = subject.spec;
  if (recommender?.highMilli === undefined || recommender.lowMilli === undefined || subject.spec.invalid !== undefined) return undefined;
  const ready = readyPods(subject, recorder([], nowMs));
  if (ready.kind === "failed") return undefined;
  const where = { namespace: subject.namespace, current: subject.scale.specReplicas, ready: ready.value };
  return { recommender, request: recommenderRequest(subject.spec, recommender, where) };
};
