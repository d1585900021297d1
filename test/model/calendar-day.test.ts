import { describe, expect, it } from "vitest";
import {
  dateOf,
  dayOf,
  dayText,
  readDay,
  WEEKDAYS,
  weekdayOf,
} from "../../lib/rules/model/time-text.ts";

describe("a day of the calendar", () => {
  it("has the date and the weekday that Date gives it, on every day of 140 years", () => {
    const start = Date.UTC(1960, 0, 1) / 86_400_000;
    const end = Date.UTC(2100, 11, 31) / 86_400_000;
    for (let day = start; day <= end; day++) {
      const date = new Date(day * 86_400_000);
      const text = date.toISOString().slice(0, 10);
      if (
        dayText(day) !== text ||
        readDay(text) !== day ||
        (weekdayOf(day) + 1) % 7 !== date.getUTCDay()
      )
        throw new Error(`${text} is read as ${dayText(day)}`);
    }
    expect(dateOf(start)).toEqual({ year: 1960, month: 1, day: 1 });
  });

  it("is none for a date that does not exist", () => {
    for (const text of [
      "2026-02-29",
      "2026-13-01",
      "2026-04-31",
      "2026-1-1",
      "26-01-01",
      "tomorrow",
    ])
      expect(readDay(text)).toBeUndefined();
    expect(dayOf(2028, 2, 29)).toBeDefined();
    expect(WEEKDAYS[weekdayOf(readDay("2026-11-24") ?? 0)]).toBe("Tue");
  });
});
