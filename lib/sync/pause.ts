/** A pause as a cluster or an autoscaler carries it, while it lasts. */
export const pausedBy = (
  record: { readonly paused?: { readonly by: string; readonly atMs: number; readonly untilMs?: number } },
  nowMs: number,
): { readonly by: string; readonly untilMs?: number } | undefined =>
  record.paused && nowMs < (record.paused.untilMs ?? Number.POSITIVE_INFINITY) ? record.paused : undefined;
