/** How many writes are under way at once, as the answers teach it. */
export interface WriteWidth {
  readonly now: () => number;
  /** Takes one answer; `throttled`: the server said that it was asked too much. Returns the width from here on. */
  readonly answered: (throttled: boolean) => number;
}

const FIRST = 8;
/** Connections are bounded by this too (lib/cluster/limits.ts). */
export const WIDTH_MAX = 64;
/** Answers per place after which a width is judged: fewer would judge the start. */
const ROUNDS = 3;
/** A wider one must bring so much more, or it only makes the server's queue longer. */
const GAIN = 1.15;

/**
 * Doubles while that makes the answers come faster, and stays at the fastest. A server near by is busy at eight already; one that is 50 ms away answers four times as much at 32.
 * Told that it asks too much, it halves and stays there: a slower sync is better than refused scales.
 */
export const writeWidth = (clock: () => number): WriteWidth => {
  let width = FIRST;
  let best = { width, perMs: 0 };
  let found = false;
  let answers = 0;
  let sinceMs = clock();
  const judge = (): void => {
    const perMs = answers / Math.max(1, clock() - sinceMs);
    if (perMs > best.perMs * GAIN) {
      best = { width, perMs };
      width = Math.min(WIDTH_MAX, width * 2);
      found = width === best.width;
    } else {
      width = best.width;
      found = true;
    }
    answers = 0;
    sinceMs = clock();
  };
  return {
    now: () => width,
    answered: (throttled) => {
      if (throttled) {
        width = Math.max(1, Math.floor(width / 2));
        found = true;
      } else if (!found && ++answers >= width * ROUNDS) judge();
      return width;
    },
  };
};
