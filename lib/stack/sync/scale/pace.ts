import { MAX_SOCKETS } from "../../cluster/request-limits.ts";

/** How many writes are under way at once. The answers change it. */
export interface WriteWidth {
  readonly now: () => number;
  /**
   * Takes one answer after `tookMs`; `throttled` means that the server answered 429. Returns the
   * width from here on.
   */
  readonly answered: (throttled: boolean, tookMs: number) => number;
}

/** A server near by writes 1,000 scales in 0.8 of the time that it takes with eight at once. */
const FIRST = 16;
/** A write that waited for a connection would make its width look slow. */
export const WIDTH_MAX = MAX_SOCKETS;
/**
 * The first answers at a new width are not judged, this many for each write under way: they wait
 * for new connections.
 */
const START_ROUNDS = 1;
/** A width is judged by this many answers for each write under way. */
const ROUNDS = 3;
/**
 * A wider width must bring this factor more answers, or it only makes the server's queue longer.
 */
const GAIN = 1.15;
/**
 * Where answers take this many times as long as the quickest, the writes wait for each other
 * already.
 */
const QUEUED = 2.5;

/**
 * Doubles the width while that makes the answers come faster and no queue shows, and stays at the
 * fastest. A server near by is busy at 16 already; a server that is 50 ms away answers four times
 * as much at 64. After a 429 the width halves and stays there: a slower sync is better than refused
 * scales.
 */
export const writeWidth = (clock: () => number): WriteWidth => {
  let width = FIRST;
  let best = { width, perMs: 0 };
  let settled = false;
  /** Answers since the width changed. */
  let answers = 0;
  let sinceMs = clock();
  let quickestMs = Number.POSITIVE_INFINITY;
  const judge = (): void => {
    const tookMs = Math.max(1, clock() - sinceMs);
    const perMs = (width * ROUNDS) / tookMs;
    if (perMs > best.perMs * GAIN) best = { width, perMs };
    // With so many under way all the time, a write takes one round.
    const isQueued = tookMs / ROUNDS > QUEUED * Math.max(1, quickestMs);
    const wider = Math.min(WIDTH_MAX, width * 2);
    settled = best.width < width || isQueued || wider === width;
    width = settled ? best.width : wider;
    answers = 0;
  };
  const count = (): void => {
    answers++;
    if (answers === width * START_ROUNDS) sinceMs = clock();
    if (answers >= width * (START_ROUNDS + ROUNDS)) judge();
  };
  return {
    now: () => width,
    answered: (throttled, tookMs) => {
      quickestMs = Math.min(quickestMs, tookMs);
      if (throttled) {
        width = Math.max(1, Math.floor(width / 2));
        settled = true;
      } else if (!settled) count();
      return width;
    },
  };
};

/** Says how many scales the next wave may have. */
interface WavePace {
  readonly most: () => number;
  readonly made: (scales: number) => void;
  /** Time in which there was nothing to make says nothing of the speed. */
  readonly waited: (ms: number) => void;
}

/** The first wave is small, because the speed of the cluster is not known yet. */
const FIRST_WAVE = 100;

/**
 * Allows as many scales as can be made until `softUntilMs` at the speed of the waves before. An
 * intent for which no time is left would only end as refused.
 */
export const wavePace = (clock: () => number, softUntilMs: number, perWave: number): WavePace => {
  let startMs = clock();
  let done = 0;
  return {
    most: () => {
      const leftMs = softUntilMs - clock();
      if (leftMs <= 0) return 0;
      const perMs = done / Math.max(1, clock() - startMs);
      return done === 0
        ? Math.min(FIRST_WAVE, perWave)
        : Math.min(perWave, Math.floor(perMs * leftMs));
    },
    made: (scales) => {
      done += scales;
    },
    waited: (ms) => {
      startMs += ms;
    },
  };
};
