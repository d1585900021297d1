import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { goTime } from "../../../lib/rules/policy/watermark/steps/conclude.ts";

const ofThePlatform = (timeMs: number): string => {
  const text = new Date(timeMs).toISOString();
  return `${text.slice(0, 10)} ${text.slice(11, 19)} +0000 UTC`;
};

describe("goTime()", () => {
  it.each([
    ["the beginning", 0, "1970-01-01 00:00:00 +0000 UTC"],
    [
      "the zero time of Go, in a year of four digits",
      -62_135_596_800_000,
      "0001-01-01 00:00:00 +0000 UTC",
    ],
    ["the last millisecond of a day", Date.UTC(2026, 0, 2) - 1, "2026-01-01 23:59:59 +0000 UTC"],
    ["a leap day", Date.UTC(2028, 1, 29, 3, 4, 5), "2028-02-29 03:04:05 +0000 UTC"],
    [
      "the day after February of a year that is none",
      Date.UTC(2100, 2, 1),
      "2100-03-01 00:00:00 +0000 UTC",
    ],
    ["the leap day of a full century", Date.UTC(2000, 1, 29), "2000-02-29 00:00:00 +0000 UTC"],
  ])("prints %s", (_, timeMs, text) => {
    expect(goTime(timeMs)).toBe(text);
  });

  it("always says what the platform's calendar says", () => {
    const times = fc.integer({ min: Date.UTC(0, 0, 1), max: Date.UTC(9999, 11, 31, 23, 59, 59) });
    fc.assert(
      fc.property(times, (timeMs) => {
        expect(goTime(timeMs)).toBe(ofThePlatform(timeMs));
      }),
    );
  });
});
