import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  cronTimes,
  spansBetween,
  weeklyWindows,
} from "../../../../lib/rules/manifest/import/schedules/timed.ts";

const windows = (start: string, end: string) =>
  weeklyWindows(spansBetween(cronTimes(start) as number[], cronTimes(end) as number[]));

describe("weeklyWindows() between two cron lines", () => {
  it.each([
    [
      "office hours",
      "0 8 * * 1-5",
      "0 18 * * 1-5",
      [{ days: ["Mon-Fri"], from: "08:00", to: "18:00" }],
    ],
    ["nights", "0 22 * * *", "0 6 * * *", [{ days: ["Mon-Sun"], from: "22:00", to: "06:00" }]],
    [
      "a weekend",
      "0 20 * * FRI",
      "30 7 * * 1",
      [{ days: ["Fri"], from: "20:00", to: "07:30", toDay: "Mon" }],
    ],
    [
      "a working week without a break",
      "0 8 * * MON",
      "0 8 * * 1",
      [{ days: ["Mon"], from: "08:00", to: "08:00", toDay: "Mon" }],
    ],
    [
      "a start on working days with an end on Fridays",
      "0 8 * * 4,5",
      "0 18 * * 5",
      [
        { days: ["Thu"], from: "08:00", to: "18:00", toDay: "Fri" },
        { days: ["Fri"], from: "08:00", to: "18:00" },
      ],
    ],
    [
      "two times a day",
      "0 8,14 * * 0",
      "0 10,16 * * 7",
      [
        { days: ["Sun"], from: "08:00", to: "10:00" },
        { days: ["Sun"], from: "14:00", to: "16:00" },
      ],
    ],
  ])("writes %s as people would", (_what, start, end, expected) => {
    expect(windows(start, end)).toEqual(expected);
  });

  it.each(["0 8 25 12 *", "0 8 * 6 *", "0 8 * *", "61 8 * * *", "0 8 * * 8", "@yearly", "x"])(
    "do not read %j, and say why",
    (line) => {
      expect(cronTimes(line)).toMatchObject({ unread: expect.stringContaining(line) });
    },
  );

  it("read the steps, macros and names of cron lines, and Sunday first for AWS", () => {
    expect(cronTimes("0/30 9-10 ? * MON")).toEqual([540, 570, 600, 630]);
    expect(cronTimes("@weekly")).toEqual([6 * 1440]);
    expect(cronTimes("0 0 ? * 2", 1)).toEqual([0]);
    expect(cronTimes("0 0 ? * SUN", 1)).toEqual([6 * 1440]);
  });

  it("always end at the first end after each start, at most a week later", () => {
    const week = 7 * 1440;
    const minutes = fc.uniqueArray(fc.integer({ min: 0, max: week - 1 }), {
      minLength: 1,
      maxLength: 5,
    });
    fc.assert(
      fc.property(minutes, minutes, (starts, ends) => {
        for (const { start, minutes: length } of spansBetween(starts, ends)) {
          expect(ends).toContain((start + length) % week);
          expect(length >= 1 && length <= week).toBe(true);
          expect(ends.every((end) => ((end - start + week) % week || week) >= length)).toBe(true);
        }
      }),
    );
  });
});
