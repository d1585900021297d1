/**
 * In place of d3-interpolate, which scales load for colours, dates and objects too: the scales of
 * the page lead from numbers to numbers. `build/dashboard.ts` puts it there.
 */
export const interpolateNumber =
  (from: number, to: number): ((part: number) => number) =>
  (part) =>
    from * (1 - part) + to * part;

/** The name by which a scale of d3 asks for what suits its values. */
export const interpolate = interpolateNumber;

export const interpolateRound =
  (from: number, to: number): ((part: number) => number) =>
  (part) =>
    Math.round(interpolateNumber(from, to)(part));

/** Only scales of colours ask for it, of which the page has none. */
export const piecewise = (): never => {
  throw new TypeError("The page has no scale of several parts");
};
