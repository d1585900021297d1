/** The pause of a cluster or an autoscaler; absent when it has none, or its time is over. */
export const pausedBy = (
  record: { readonly paused?: { readonly by: string; readonly atMs: number; readonly untilMs?: number } },
  nowMs: number,
): { readonly by: string; readonly untilMs?: number } | undefined =>
  record.paused && nowMs < (record.paused.untilMs ?? Number.POSITIVE_INFINITY) ? record.paused : undefined;
