import type { QuestionKey, ScaleReading } from "./observation.ts";
import { canonicalSelector } from "./selector.ts";
import { parseSelector } from "./selector-text.ts";
import type { Recommender } from "./spec-watermark.ts";

/**
 * What one metric asks. `for` names the source that answers (lib/rules/sources), and the other
 * members are texts of that source. A source makes its queries in one place, so that equal
 * questions have equal members in the same order.
 */
export interface MetricQuery {
  readonly for: string;
}

/** What a sync must ask before it can decide an autoscaler. */
export interface Questions {
  /**
   * True when a metric needs the pods of the namespace. The search for overlapping selectors needs
   * them too, where the namespace has another autoscaler.
   */
  readonly pods: boolean;
  readonly metrics: readonly MetricQuery[];
}

/** What must be asked of an external recommender before its autoscaler can be decided. */
export interface RecommenderQuestion {
  readonly recommender: Recommender;
  readonly request: Readonly<Record<string, unknown>>;
}

/** Key of a query inside its namespace. Equal queries are sent once. */
export const queryKey = <Query extends MetricQuery>(query: Query): QuestionKey =>
  JSON.stringify(Object.values(query));

/** Canonical text of the selector in a scale; `undefined` when it is empty or cannot be read. */
export const podSelectorText = (scale: ScaleReading): string | undefined => {
  if (scale.kind === "failed" || scale.selector === "") return undefined;
  const reading = parseSelector(scale.selector);
  return reading.kind === "selector" ? canonicalSelector(reading.selector) : undefined;
};
