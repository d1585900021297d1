import type { ScaleReading } from "../../model/observation.ts";
import { podSelectorText, type Questions } from "../../model/query.ts";
import type { HpaMetric } from "../../model/spec-hpa.ts";
import { type SourceSpec, sourceOf } from "../../sources/sources.ts";

/** A metric that is asked, and whether its arithmetic needs the pods of the workload. */
export interface Asked {
  readonly source: SourceSpec;
  readonly needsPods: boolean;
}

/**
 * The questions of metrics. One that cannot be asked is left out: its metric fails when it is
 * decided.
 */
export const questionsOf = (
  asked: readonly Asked[],
  namespace: string,
  scale: ScaleReading,
): Questions => {
  const about = { namespace, podSelector: podSelectorText(scale) };
  const metrics = asked
    .map(({ source }) => sourceOf(source).queryOf(source, about))
    .filter((query) => query !== undefined);
  return { metrics, pods: asked.some(({ needsPods }) => needsPods) };
};

/** The questions of metrics in the words of autoscaling/v2. */
export const hpaQuestions = (
  metrics: readonly HpaMetric[],
  namespace: string,
  scale: ScaleReading,
): Questions =>
  questionsOf(
    metrics.map((source) => ({ source, needsPods: needsPods(source) })),
    namespace,
    scale,
  );

/**
 * Averages of values that are not of pods use no pods (hpa.md 3.7), and neither do their
 * watermarks. Which target makes an average differs (hpa.md 2.5).
 */
const needsPods = (metric: HpaMetric): boolean => {
  if (sourceOf(metric).samplesOf === "pods") return true;
  if (metric.marks !== undefined) return false;
  return metric.type === "Object"
    ? metric.target.type === "Value"
    : metric.target.averageValueMilli === undefined;
};
