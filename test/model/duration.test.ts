import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readDuration } from "../../lib/rules/model/time-text.ts";

describe("readDuration()", () => {
  it.each([
    ["90s", 90_000],
    ["1m30s", 90_000],
    ["1h2m3s", 3_723_000],
    ["1m0s", 60_000],
    ["1.5h", 5_400_000],
    ["1.h", 3_600_000],
    [".5s", 500],
    [".25s", 250],
    ["1.25s", 1_250],
    ["1500us", 1.5],
    ["500µs", 0.5],
    ["250000ns", 0.25],
    ["250ms", 250],
    ["1s250ms", 1_250],
    ["7d", 604_800_000],
    ["1w2d", 777_600_000],
    ["30s1m", 90_000],
    ["0", 0],
    ["0s", 0],
  ])("reads %s", (text, ms) => {
    expect(readDuration(text)).toBe(ms);
  });

  it.each([
    "",
    "5",
    "s",
    "-2h",
    "+2h",
    "2H",
    "1M",
    "5 s",
    "2 hours",
    "1m 30s",
    "soon",
    "1y",
    "1..5h",
    "0x10s",
    "1e3s",
    "1m30",
  ])("takes %j as no duration", (text) => {
    expect(readDuration(text)).toBeUndefined();
  });

  it("never needs longer than the length of the text", () => {
    const started = performance.now();
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 50_000 }),
        (length) => readDuration(`${"1".repeat(length)}!`) === undefined,
      ),
      { numRuns: 20 },
    );
    expect(performance.now() - started).toBeLessThan(5_000);
  });
});
