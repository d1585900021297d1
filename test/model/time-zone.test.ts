import { describe, expect, it } from "vitest";
import { readDay, DAY_MS } from "../../lib/rules/model/time-text.ts";
import {
  firstInstantAt,
  localDay,
  localText,
  offsetAt,
  zoneProblem,
} from "../../lib/rules/model/time-zone.ts";
import { DAY_MINUTES, firstDayOf, scanned, SWEPT, SWEPT_DAYS } from "./wall-scan.ts";

const day = (text: string): number => readDay(text) ?? Number.NaN;
const at = (zone: string, date: string, clock: string): string => {
  const [hours = 0, minutes = 0] = clock.split(":").map(Number);
  return new Date(firstInstantAt(zone, day(date), hours * 60 + minutes))
    .toISOString()
    .replace(":00.000Z", "Z");
};

/** Days with a change of the clock, and those beside them. */
const changed = (zone: string, first: number): readonly number[] =>
  Array.from({ length: SWEPT_DAYS }, (_, index) => first + index).filter(
    (each) => offsetAt(zone, (each - 1) * DAY_MS) !== offsetAt(zone, (each + 2) * DAY_MS),
  );

describe("firstInstantAt()", () => {
  it("is the end of a gap, the first of two instants in a fold, and the instant itself on every other day", () => {
    expect(at("Europe/Berlin", "2026-03-29", "02:30")).toBe("2026-03-29T01:00Z");
    expect(at("Europe/Berlin", "2026-03-29", "03:00")).toBe("2026-03-29T01:00Z");
    expect(at("Europe/Berlin", "2026-10-25", "02:30")).toBe("2026-10-25T00:30Z");
    expect(at("Europe/Berlin", "2026-10-25", "03:00")).toBe("2026-10-25T02:00Z");
    expect(at("America/New_York", "2026-03-08", "02:30")).toBe("2026-03-08T07:00Z");
    expect(at("Asia/Kathmandu", "2026-11-24", "08:00")).toBe("2026-11-24T02:15Z");
    expect(at("Europe/Berlin", "2026-11-24", "24:00")).toBe(
      at("Europe/Berlin", "2026-11-25", "00:00"),
    );
  });

  it("is midnight of the day after for every time of a day that a zone left out", () => {
    expect(at("Pacific/Apia", "2011-12-30", "00:00")).toBe("2011-12-30T10:00Z");
    expect(at("Pacific/Apia", "2011-12-30", "18:00")).toBe("2011-12-30T10:00Z");
    expect(at("Pacific/Apia", "2011-12-31", "00:00")).toBe("2011-12-30T10:00Z");
  });

  it.each(SWEPT)(
    "in %s never moves back for a later wall time, in steps of 15 minutes over 17 months",
    (zone, first) => {
      const from = firstDayOf(first);
      let before = Number.NEGATIVE_INFINITY;
      let seen = 0;
      for (let each = from; each < from + SWEPT_DAYS; each++) {
        for (let minutes = 0; minutes < DAY_MINUTES; minutes += 15) {
          const instant = firstInstantAt(zone, each, minutes);
          if (instant < before)
            throw new Error(
              `${zone}: day ${each}, minute ${minutes} is before the wall time before it`,
            );
          before = instant;
          seen++;
        }
      }
      expect(seen).toBe(SWEPT_DAYS * 96);
    },
  );

  it.each(SWEPT)(
    "in %s equals a look at every minute around each change of the clock",
    (zone, first) => {
      const days = changed(zone, firstDayOf(first));
      expect(days.length > 0).toBe(!["Asia/Kathmandu", "Etc/UTC"].includes(zone));
      for (const each of days) {
        for (const [wall, minute] of scanned(zone, { from: each, days: 1, stepMinutes: 15 })) {
          expect(
            firstInstantAt(zone, each, wall - each * DAY_MINUTES),
            `${zone}, day ${each}, minute ${wall - each * DAY_MINUTES}`,
          ).toBe(minute * 60_000);
        }
      }
    },
  );
});

describe("the local clock", () => {
  it("gives the date, the day and the clock of an instant", () => {
    const instant = Date.UTC(2026, 10, 24, 2, 15);
    expect(localText("Asia/Kathmandu", instant)).toBe("2026-11-24 08:00");
    expect(localText("America/New_York", instant + 5_000)).toBe("2026-11-23 21:15:05");
    expect(localDay("America/New_York", instant)).toBe(day("2026-11-23"));
  });
});

describe("zoneProblem()", () => {
  it.each([
    "Europe/Berlin",
    "Asia/Kolkata",
    "America/Argentina/Salta",
    "Etc/UTC",
    "US/Pacific",
    "America/Port-au-Prince",
  ])("accepts %s", (name) => {
    expect(zoneProblem(name)).toBeUndefined();
  });

  it.each([
    ["UTC", "write Etc/UTC"],
    ["EST", "write one such as Europe/Berlin, or Etc/UTC"],
    ["+02:00", "write one such as Europe/Berlin, or Etc/UTC"],
    ["Etc/GMT+5", "write one such as Europe/Berlin, or Etc/UTC"],
    ["Europe/Berln", "write Europe/Berlin"],
    ["Europe/BERLIN", "write Europe/Berlin"],
    ["europe/berlin", "write one such as Europe/Berlin, or Etc/UTC"],
    ["Mars/Olympus_Mons", "write one such as Europe/Berlin"],
  ])("refuses %s and says what to write", (name, fix) => {
    expect(zoneProblem(name)).toMatchObject({ fix });
  });
});
