/**
 * Where Tidemark does something else than the original, always the safer thing; each is listed in docs/watermark.md. The recorded decisions of single functions are compared with all of them off.
 */
export interface Deviations {
  /** min and max hold while a metric is unavailable; the original forgets them (watermark.md 2.18 b). */
  readonly boundsWithoutMetrics: boolean;
  /** A target without running pods goes to minReplicas; the original writes 1 (2.18 m). */
  readonly neverBelowMin: boolean;
  /** A zero that is not tolerated, or a spec without any source, never shrinks; the original does (2.18 c, k). */
  readonly noShrinkOnNothing: boolean;
}

export const SAFE: Deviations = { boundsWithoutMetrics: true, neverBelowMin: true, noShrinkOnNothing: true };
