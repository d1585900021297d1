/** Says how many scales the next wave may have. */
export interface WavePace {
  readonly most: () => number;
  readonly made: (scales: number) => void;
  /** Time in which there was nothing to make says nothing of the speed. */
  readonly waited: (ms: number) => void;
}

/** The first wave is small, because the speed of the cluster is not known yet. */
const FIRST_WAVE = 100;

/** Allows as many scales as can be made until `softUntilMs` at the speed of the waves before. An intent for which no time is left would only end as refused. */
export const wavePace = (clock: () => number, softUntilMs: number, perWave: number): WavePace => {
  let startMs = clock();
  let done = 0;
  return {
    most: () => {
      const leftMs = softUntilMs - clock();
      if (leftMs <= 0) return 0;
      const perMs = done / Math.max(1, clock() - startMs);
      return done === 0 ? Math.min(FIRST_WAVE, perWave) : Math.min(perWave, Math.floor(perMs * leftMs));
    },
    made: (scales) => {
      done += scales;
    },
    waited: (ms) => {
      startMs += ms;
    },
  };
};
