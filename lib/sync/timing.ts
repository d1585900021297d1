/**
 * How long things may take, and how much at once, in one place: the safety of the protocol rests on the order of these numbers (docs/protocol.md, "Time"). The template states the same
 * function timeout, and a test compares them.
 */
export interface Timing {
  /** Longest life of one invocation: the platform, or a watchdog, ends it then whatever it is doing. */
  readonly lifeMs: number;
  /** What one sync takes at most before it stops starting anything new; the sync period, if that is shorter. */
  readonly softDeadlineMs: number;
  /** Time that the API server is given for one PUT (`?timeout=`). */
  readonly putTimeoutMs: number;
  /** Largest difference between any two clocks that take part. */
  readonly clockDifferenceMs: number;
  readonly leaseMs: number;
  /** Scales written between two updates of the head: what a sync that dies leaves open at most. More would be hardly faster. */
  readonly scalesPerWave: number;
  /** After this, specs are read again even if the head names the same version: it heals an edit that died before it raised the version. */
  readonly specsFreshMs: number;
}

const lifeMs = 30_000;
const clockDifferenceMs = 4_000;

export const DEFAULT_TIMING: Timing = {
  lifeMs,
  softDeadlineMs: 10_000,
  putTimeoutMs: 5_000,
  clockDifferenceMs,
  // Above the life, so that nobody claims while the holder may still be at work; given back early by every sync that ends.
  leaseMs: lifeMs + clockDifferenceMs,
  scalesPerWave: 500,
  specsFreshMs: 60_000,
};

/** A message that is older than this many periods is dropped: later ones do its work. */
export const STALE_PERIODS = 3;

/** When a PUT of an intent decided at `nowMs` can no longer take effect, on any clock. */
export const deadlineOf = (nowMs: number, { lifeMs: life, putTimeoutMs, clockDifferenceMs: difference }: Timing): number =>
  nowMs + life + putTimeoutMs + difference;

/** Own clock before which a PUT under this deadline may still be sent. */
export const sendUntil = (deadlineMs: number, { putTimeoutMs, clockDifferenceMs: difference }: Timing): number =>
  deadlineMs - putTimeoutMs - difference;
