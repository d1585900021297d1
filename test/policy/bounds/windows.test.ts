import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readDay, DAY_MS } from "../../../lib/rules/model/time-text.ts";
import type { ScheduleEntry } from "../../../lib/rules/model/schedule.ts";
import {
  edgesOf,
  windowsAround,
  windowsBetween,
} from "../../../lib/rules/policy/bounds/windows.ts";
import { entry } from "./schedules.ts";

const day = (text: string): number => readDay(text) ?? Number.NaN;
const minutes = (ms: number): string => new Date(ms).toISOString().slice(0, 16);

const shown = (
  of: ScheduleEntry,
  first: string,
  last: string,
  calendars: Parameters<typeof windowsBetween>[1] = [],
): readonly string[] =>
  windowsBetween(of, calendars, { firstDay: day(first), lastDay: day(last) }).map(
    ({ startMs, endMs }) => `${minutes(startMs)} ${minutes(endMs)}`,
  );

describe("the windows of a schedule entry", () => {
  it("start on their weekdays at the local time, before and after a change of the clock", () => {
    expect(shown(entry({ days: "Fri Sun" }), "2026-10-23", "2026-10-30")).toEqual([
      "2026-10-23T06:00 2026-10-23T15:00",
      "2026-10-25T07:00 2026-10-25T16:00",
      "2026-10-30T07:00 2026-10-30T16:00",
    ]);
  });

  it("start on the nth weekday of a month, and on the nth from its end", () => {
    expect(
      shown(entry({ days: "1Mon -1Fri 5Tue" }), "2026-11-01", "2026-12-31").map((text) =>
        text.slice(0, 10),
      ),
    ).toEqual(["2026-11-02", "2026-11-27", "2026-12-07", "2026-12-25", "2026-12-29"]);
  });

  it("start on dates and in ranges of dates with their year, but not on excepted ones", () => {
    const sale = entry({
      dates: "2026-12-24/2027-01-02 2027-03-01",
      except: "2026-12-25/2026-12-31 2027-01-01",
    });
    expect(shown(sale, "2026-01-01", "2027-12-31").map((text) => text.slice(0, 10))).toEqual([
      "2026-12-24",
      "2027-01-02",
      "2027-03-01",
    ]);
  });

  it("leave out the dates of the calendar that they name, and none while the fleet has no such calendar", () => {
    const office = entry({ exceptFrom: "de" });
    const de = { name: "de", days: [day("2026-12-25"), day("2026-12-26")] };
    expect(shown(office, "2026-12-24", "2026-12-27", [de])).toHaveLength(2);
    expect(shown(office, "2026-12-24", "2026-12-27", [{ ...de, name: "fr" }])).toHaveLength(4);
  });

  it("end the next day where `to` is not after `from`, and at midnight with 24:00", () => {
    expect(shown(entry({ from: "22:00", to: "06:00" }), "2026-11-24", "2026-11-24")).toEqual([
      "2026-11-24T21:00 2026-11-25T05:00",
    ]);
    expect(shown(entry({ from: "08:00", to: "08:00" }), "2026-11-24", "2026-11-24")).toEqual([
      "2026-11-24T07:00 2026-11-25T07:00",
    ]);
    expect(shown(entry({ from: "22:00", to: "24:00" }), "2026-11-24", "2026-11-24")).toEqual([
      "2026-11-24T21:00 2026-11-24T23:00",
    ]);
  });

  it("end on the weekday of `toDay`: Friday 20:00 to Monday 08:00, and a week later where the same weekday would be too early", () => {
    expect(
      shown(
        entry({ days: "Fri", from: "20:00", to: "08:00", toDay: "Mon" }),
        "2026-11-27",
        "2026-11-30",
      ),
    ).toEqual(["2026-11-27T19:00 2026-11-30T07:00"]);
    expect(
      shown(
        entry({ days: "Fri", from: "20:00", to: "08:00", toDay: "Fri" }),
        "2026-11-27",
        "2026-11-30",
      ),
    ).toEqual(["2026-11-27T19:00 2026-12-04T07:00"]);
    expect(
      shown(
        entry({ days: "Fri", from: "08:00", to: "20:00", toDay: "Fri" }),
        "2026-11-27",
        "2026-11-30",
      ),
    ).toEqual(["2026-11-27T07:00 2026-11-27T19:00"]);
  });

  it("have the length that a change of the clock gives them, and are none where it leaves them no time", () => {
    const long = ({ startMs, endMs }: { startMs: number; endMs: number }): number =>
      (endMs - startMs) / 60_000;
    const length = (from: string, to: string, date: string): number =>
      long(edgesOf(entry({ from, to }), day(date)));
    expect(length("01:00", "04:00", "2026-03-29")).toBe(120);
    expect(length("01:00", "04:00", "2026-10-25")).toBe(240);
    expect(length("02:30", "03:15", "2026-03-29")).toBe(15);
    expect(length("02:10", "02:50", "2026-03-29")).toBe(0);
    expect(shown(entry({ from: "02:10", to: "02:50" }), "2026-03-28", "2026-03-30")).toHaveLength(
      2,
    );
  });

  it("are none on a day that its zone left out", () => {
    expect(shown(entry({ timeZone: "Pacific/Apia" }), "2011-12-29", "2011-12-31")).toHaveLength(2);
  });
});

const ZONES = [
  "Europe/Berlin",
  "America/New_York",
  "Australia/Lord_Howe",
  "Africa/Casablanca",
  "Antarctica/Troll",
  "Asia/Kathmandu",
  "Pacific/Apia",
];
const clock = fc.integer({ min: 0, max: 1_439 });

describe("windows of neighbouring entries", () => {
  it("[a, b) and [b, a) always cover every instant exactly once, at every change of the clock", () => {
    const instant = fc.integer({ min: Date.UTC(2026, 0, 1), max: Date.UTC(2027, 5, 1) });
    fc.assert(
      fc.property(
        fc.constantFrom(...ZONES),
        fc.uniqueArray(clock, { minLength: 2, maxLength: 2 }),
        instant,
        (timeZone, [a = 0, b = 0], nowMs) => {
          const parts = [
            { ...entry(), timeZone, fromMinute: a, toMinute: b },
            { ...entry(), timeZone, fromMinute: b, toMinute: a },
          ];
          const inside = parts.flatMap((part) =>
            windowsAround(part, [], nowMs).filter(
              ({ startMs, endMs }) => startMs <= nowMs && nowMs < endMs,
            ),
          );
          expect(inside).toHaveLength(1);
        },
      ),
    );
  });

  it("that are looked at around an instant are always all that hold or ramp then", () => {
    const any = fc.record({
      timeZone: fc.constantFrom(...ZONES),
      fromMinute: clock,
      toMinute: fc.integer({ min: 0, max: 1_440 }),
      toWeekday: fc.option(fc.integer({ min: 0, max: 6 }), { nil: undefined }),
      rampInMs: fc.integer({ min: 0, max: DAY_MS }),
      rampOutMs: fc.integer({ min: 0, max: DAY_MS }),
    });
    const instant = fc.integer({ min: Date.UTC(2026, 0, 1), max: Date.UTC(2027, 5, 1) });
    fc.assert(
      fc.property(any, instant, ({ toWeekday, ...fields }, nowMs) => {
        const of = { ...entry(), ...fields, ...(toWeekday !== undefined && { toWeekday }) };
        const today = Math.floor(nowMs / DAY_MS);
        const holds = ({ rampInMs, rampOutMs }: { rampInMs: number; rampOutMs: number }): boolean =>
          rampInMs <= nowMs && nowMs < rampOutMs;
        const wide = windowsBetween(of, [], { firstDay: today - 30, lastDay: today + 30 });
        expect(windowsAround(of, [], nowMs).filter(holds)).toEqual(wide.filter(holds));
      }),
    );
  });
});
