import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { EARLIEST_MS, LATEST_MS, readInstant } from "../../lib/rules/model/time-text.ts";

describe("readInstant()", () => {
  it("always reads back what a date writes", () => {
    fc.assert(
      fc.property(fc.integer({ min: EARLIEST_MS, max: LATEST_MS }), (atMs) => {
        expect(readInstant(new Date(atMs).toISOString())).toBe(atMs);
      }),
    );
  });

  it.each([
    ["2026-03-01T12:00:00Z", "2026-03-01T12:00:00.000Z"],
    ["2026-03-01T12:00:00.5Z", "2026-03-01T12:00:00.500Z"],
    ["2026-03-01T12:00:00.123456789Z", "2026-03-01T12:00:00.123Z"],
    ["2026-03-01T12:00:00+05:30", "2026-03-01T06:30:00.000Z"],
    ["2026-03-01T00:10:00+00:30", "2026-02-28T23:40:00.000Z"],
    ["2026-12-31T23:30:00-01:45", "2027-01-01T01:15:00.000Z"],
    ["2026-12-31T23:30:00-01:00", "2027-01-01T00:30:00.000Z"],
    ["2028-02-29T00:00:00Z", "2028-02-29T00:00:00.000Z"],
    ["2000-02-29T00:00:00Z", "2000-02-29T00:00:00.000Z"],
  ])("reads %s", (text, same) => {
    expect(readInstant(text)).toBe(Date.parse(same));
  });

  it.each([
    "2026-02-30T00:00:00Z",
    "2026-02-29T00:00:00Z",
    "1900-02-29T00:00:00Z",
    "2026-04-31T00:00:00Z",
    "2026-00-10T00:00:00Z",
    "2026-13-01T00:00:00Z",
    "2026-01-00T00:00:00Z",
    "2026-01-01T24:00:00Z",
    "2026-01-01T23:60:00Z",
    "2026-01-01T23:59:60Z",
    "2026-01-01T23:59:00",
    "2026-01-01T23:59:00+24:00",
    "2026-01-01",
    "9999-12-31T23:59:59-00:01",
    "0000-01-01T00:00:00+00:01",
    "12026-01-01T00:00:00Z",
    "x2026-01-01T00:00:00Z",
    " 2026-01-01T00:00:00Z",
    "2026-01-01T00:00:00Zx",
    "2026-01-01T00:00:00Z ",
    "soon",
    "",
  ])("takes %j as no time", (text) => {
    expect(readInstant(text)).toBeUndefined();
  });
});
