import { describe, expect, it } from "vitest";
import { runs } from "../runs.ts";
import { PLANTED_TELLINGS, playTurns, TURN_DIALECTS } from "./turns-truth.ts";

/** `npm run prove -- thresholds` plays 100,000 of each dialect. */
const RUNS = runs(500);

describe("what is said of the values at which a count turns", () => {
  it.each(TURN_DIALECTS)("is true of the rules of the dialect %s", (dialect) => {
    const { fault, drawn, measured, told } = playTurns(dialect, RUNS);
    expect(fault).toBeUndefined();
    // A property of nothing proves nothing: most metrics have a value at which they turn.
    expect(told).toBeGreaterThan(measured * 0.8);
    expect(measured).toBeGreaterThan(drawn * 0.2);
  });

  it.each(Object.entries(PLANTED_TELLINGS))(
    "is found to be wrong where a mistake of %s is planted",
    (_mistake, telling) => {
      expect(playTurns("hpa", { numRuns: 2_000, seed: 1 }, telling).fault).toBeDefined();
    },
  );
});
