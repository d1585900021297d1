import type { ScaleReading } from "../model/observation.ts";
import type { Questions, RecommenderQuestion } from "../model/query.ts";
import type { AutoscalerSpec } from "../model/spec.ts";
import type { Seen } from "./dialect.ts";
import { askDialect } from "./dialects.ts";

/**
 * The queries of one autoscaler. A metric with an unreadable selector has no query, and fails when it is decided. Without a readable selector of the target there
 * is no query about its pods. `namespace` is that of the autoscaler.
 */
export const questions = (spec: AutoscalerSpec, namespace: string, scale: ScaleReading): Questions =>
  askDialect(spec, (dialect, own) => dialect.questions(own, namespace, scale));

/** What a cluster is asked for one autoscaler, as the cluster is told it (lib/cluster/port.ts). */
export const asksOf = (
  spec: AutoscalerSpec,
  namespace: string,
): { readonly questions: (scale: ScaleReading) => Questions; readonly asksMonitor: boolean } => ({
  questions: (scale) => questions(spec, namespace, scale),
  asksMonitor: askDialect(spec, (dialect, own) => dialect.asksMonitor(own)),
});

/** What must be asked of an external recommender, once the cluster was read. */
export const recommenderQuestion = (spec: AutoscalerSpec, seen: Seen): RecommenderQuestion | undefined =>
  askDialect(spec, (dialect, own) => dialect.recommenderQuestion(own, seen));
