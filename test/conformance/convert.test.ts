import { describe, expect, it } from "vitest";
import { shareOf } from "./converted.ts";

/** Share of the safe sequences that must convert. */
const LEAST_SHARE = 0.95;

describe.each(["hpa", "watermark"] as const)("the safe sequences of %s, converted to PodAutoscalers", (dialect) => {
  it("always decide the same, and at least 95 % of them convert", () => {
    const { sequences, same, different, refused } = shareOf(dialect);
    expect(sequences).toBeGreaterThan(300);
    expect(different).toEqual([]);
    expect([same / sequences >= LEAST_SHARE, ...refused]).toEqual([true, ...refused]);
  });
});
