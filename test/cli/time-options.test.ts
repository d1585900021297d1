import { describe, expect, it } from "vitest";
import { futureMs, lengthMs, pastMs } from "../../lib/command/options/time-options.ts";
import { NOON } from "../noon.ts";

describe("pastMs()", () => {
  it.each([
    ["90s", NOON - 90_000],
    ["2h", NOON - 7_200_000],
    ["1h30m", NOON - 5_400_000],
    ["7d", NOON - 604_800_000],
    ["0.5h", NOON - 1_800_000],
    ["1m30s", NOON - 90_000],
    ["2026-03-01T10:00:00Z", NOON - 7_200_000],
    ["2026-03-01 10:00:00z", NOON - 7_200_000],
    ["2026-03-01T11:00:00+01:00", NOON - 7_200_000],
  ])("reads %s", (text, ms) => {
    expect(pastMs("--since", text, NOON)).toBe(ms);
  });

  it.each([
    "",
    "2",
    "soon",
    "2 parsecs",
    "-2h",
    "2026-03-32",
    "24:00",
    "25:10",
    "someday",
    "monday 9",
    "2026-13-01T00:00:00Z",
    "2026-02-30T00:00:00Z",
    "h",
  ])("refuses %j by name", (text) => {
    expect(() => pastMs("--since", text, NOON)).toThrow(
      expect.objectContaining({
        name: "TidemarkError",
        code: "cli.usage",
        message: `Cannot read --since "${text}": give a duration such as "90s" or "7d", a time such as "2026-03-01T12:00:00Z", or "09:00", "monday", "yesterday 18:30" or "2026-03-01"`,
      }),
    );
  });
});

describe("a time that is out of bounds", () => {
  it.each([
    ["--at", "2026-03-01T12:00:01Z", "that is a future time; it is now 2026-03-01T12:00:00Z"],
    ["--since", "99999999999d", "the earliest time is 1970-01-01T00:00:00Z"],
    ["--since", "1969-12-31T23:59:59Z", "the earliest time is 1970-01-01T00:00:00Z"],
  ])("is refused in the past: %s %s", (option, text, problem) => {
    expect(() => pastMs(option, text, NOON)).toThrow(`Cannot use ${option} "${text}": ${problem}`);
  });

  it("is refused in the future", () => {
    expect(() => futureMs("--until", "99999999999d", NOON)).toThrow(
      'Cannot use --until "99999999999d": the latest time is 9999-12-31T23:59:59Z',
    );
    expect(() => futureMs("--until", "2026-02-30T00:00:00Z", NOON)).toThrow("Cannot read --until");
  });
});

describe("futureMs()", () => {
  it("reads a duration and a time ahead", () => {
    expect(futureMs("--until", "2h", NOON)).toBe(NOON + 7_200_000);
    expect(futureMs("--until", "2026-03-01T12:00:01Z", NOON)).toBe(NOON + 1_000);
  });

  it("refuses a time that has come", () => {
    expect(() => futureMs("--until", "2026-03-01T12:00:00Z", NOON)).toThrow(
      'Cannot use --until "2026-03-01T12:00:00Z": that time has passed; it is now 2026-03-01T12:00:00Z',
    );
    expect(() => futureMs("--until", "0s", NOON)).toThrow('Cannot use --until "0s"');
  });
});

describe("lengthMs()", () => {
  it("takes one second and more, unless told that less will do", () => {
    expect(lengthMs("--period", "1s")).toBe(1000);
    expect(lengthMs("--period", "1m30s")).toBe(90_000);
    expect(lengthMs("--initial-readiness-delay", "0", 0)).toBe(0);
    expect(() => lengthMs("--period", "999ms")).toThrow(
      'Cannot read --period "999ms": give a duration of at least 1s, such as "15s" or "1m30s"',
    );
    expect(() => lengthMs("--x", "often", 0)).toThrow(
      'Cannot read --x "often": give a duration, such as "15s" or "1m30s"',
    );
  });
});
