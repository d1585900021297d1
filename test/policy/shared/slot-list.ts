/**
 * The controller's own list of recommendations, as hpa.md 3.8 writes it: what the runs of
 * lib/rules/policy/shared/recommendations.ts must decide like.
 */
export interface Slot {
  readonly replicas: number;
  readonly atMs: number;
}

/**
 * One more recommendation: the last slot that is older than the window is used again, or the list
 * grows.
 */
export const recordedSlot = (
  slots: readonly Slot[],
  replicas: number,
  nowMs: number,
  windowMs: number,
): readonly Slot[] => {
  const expired = slots.findLastIndex(({ atMs }) => atMs < nowMs - windowMs);
  return expired < 0
    ? [...slots, { replicas, atMs: nowMs }]
    : slots.with(expired, { replicas, atMs: nowMs });
};
