/** When a replay decides. */
interface SyncTimes {
  readonly fromMs: number;
  readonly untilMs: number;
  readonly periodMs: number;
  /** Syncs of which the instants are recorded, in order of time. */
  readonly recordedMs?: Float64Array;
}

/**
 * The instants of the syncs: a period apart, and each at the recorded instant that is nearest to
 * it within half a period. So a sync reads what the recorded sync read: with a period of minutes,
 * one that came a little earlier would read the value of the sync before.
 */
export function* syncsOf({
  fromMs,
  untilMs,
  periodMs,
  recordedMs = new Float64Array(),
}: SyncTimes): Generator<number> {
  let at = 0;
  for (let nowMs = fromMs; nowMs < untilMs; ) {
    yield nowMs;
    const dueMs = nowMs + periodMs;
    while ((recordedMs[at + 1] ?? Number.POSITIVE_INFINITY) <= dueMs) at++;
    nowMs = nearest(dueMs, periodMs / 2, [recordedMs[at], recordedMs[at + 1]]);
  }
}

const nearest = (
  dueMs: number,
  mostMs: number,
  recordedMs: readonly (number | undefined)[],
): number => {
  let [foundMs, leastMs] = [dueMs, mostMs];
  for (const atMs of recordedMs) {
    const offMs = Math.abs((atMs ?? Number.POSITIVE_INFINITY) - dueMs);
    if (offMs >= leastMs) continue;
    foundMs = atMs ?? dueMs;
    leastMs = offMs;
  }
  return foundMs;
};
