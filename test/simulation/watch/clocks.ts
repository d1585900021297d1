/** Largest difference of any two clocks: what no reader of two clocks can do better than. */
export const CLOCK_ALLOWANCE_MS = 4_000;

/** One dialect keeps times in whole seconds (watermark.md 2.9). */
export const WHOLE_SECOND_MS = 1_000;
