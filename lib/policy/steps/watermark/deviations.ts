/**
 * Where Tidemark does something else than the original, always the safer thing; each is listed in docs/watermark.md. Tests of single functions run the original's side as well.
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
export const AS_THE_ORIGINAL: Deviations = { boundsWithoutMetrics: false, neverBelowMin: false, noShrinkOnNothing: false };
