import { describe, expect, it } from "vitest";
import { runs } from "../runs.ts";
import { shareOf } from "./converted.ts";

/** Share of the safe sequences that must convert. */
const LEAST_SHARE = 0.95;

/**
 * One of three is converted and played here; all are at night, and by `npm run bench -- convert`.
 */
const EVERY = runs(1).numRuns > 1 ? 1 : 3;

describe.each(["hpa", "watermark"] as const)(
  "the safe sequences of %s, converted to PodAutoscalers",
  (dialect) => {
    it("always decide the same, and at least 95 % of them convert", () => {
      const { sequences, same, different, refused } = shareOf(dialect, EVERY);
      expect(sequences).toBeGreaterThan(300 / EVERY);
      expect(different).toEqual([]);
      expect([same / sequences >= LEAST_SHARE, ...refused]).toEqual([true, ...refused]);
    });
  },
);
