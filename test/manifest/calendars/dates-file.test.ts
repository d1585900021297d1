import { describe, expect, it } from "vitest";
import { readDates } from "../../../lib/rules/manifest/calendars/dates-file.ts";
import { dayText, readDay } from "../../../lib/rules/model/time-text.ts";

const TODAY = readDay("2026-03-01") ?? 0;
const dates = (text: string): readonly string[] =>
  readDates("de.ics", text, TODAY).days.map(dayText);
const calendar = (...events: readonly string[]): string =>
  [
    "BEGIN:VCALENDAR",
    "VERSION:2.0",
    ...events.map((event) => `BEGIN:VEVENT\n${event}\nEND:VEVENT`),
    "END:VCALENDAR",
    "",
  ]
    .join("\n")
    .replaceAll("\n", "\r\n");

describe("readDates() of dates, one or one range a line", () => {
  it("reads dates, ranges, comments and empty lines", () => {
    expect(dates("# closed\n2026-12-24/2026-12-26 # Christmas\r\n\n 2027-01-01 \n")).toEqual([
      "2026-12-24",
      "2026-12-25",
      "2026-12-26",
      "2027-01-01",
    ]);
  });

  it.each([
    ["2026-02-30", 'line 1: "2026-02-30" is no date'],
    ["2026-12-25\n25.12.2026", 'line 2: "25.12.2026" is no date'],
    ["2026-12-26/2026-12-24", "ends before it begins"],
    ["2026-01-01/2028-01-01", "has 731 days, and the limit of a calendar is 400"],
  ])("refuses %j with its line", (text, words) => {
    expect(() => dates(text)).toThrow(words);
  });
});

describe("readDates() of an iCalendar file", () => {
  it("reads whole days, with the day after the last as their end, or with a length", () => {
    const text = calendar(
      "DTSTART;VALUE=DATE:20261225\nDTEND;VALUE=DATE:20261227\nSUMMARY:Christmas",
      "DTSTART;VALUE=DATE:20270101\nSUMMARY:New Year",
      "DTSTART;VALUE=DATE:20270501\nDURATION:P2D\nSUMMARY:May",
    );
    expect(dates(text)).toEqual([
      "2026-12-25",
      "2026-12-26",
      "2027-01-01",
      "2027-05-01",
      "2027-05-02",
    ]);
  });

  it("writes yearly rules out to the end of the year after next, and says so where they have no end", () => {
    const open = readDates(
      "de.ics",
      calendar("DTSTART;VALUE=DATE:20240229\nRRULE:FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=29"),
      TODAY,
    );
    expect(open.days.map(dayText)).toEqual(["2024-02-29", "2028-02-29"]);
    expect(open.repeatsUntil).toBe(readDay("2028-12-31"));
    const ended = calendar(
      "DTSTART;VALUE=DATE:20251003\nRRULE:FREQ=YEARLY;UNTIL=20271231T000000Z\nEXDATE;VALUE=DATE:20261003",
    );
    expect(readDates("de.ics", ended, TODAY)).toEqual({
      days: ["2025-10-03", "2027-10-03"].map(readDay),
    });
    expect(
      dates(calendar("DTSTART;VALUE=DATE:20251003\nRRULE:FREQ=YEARLY;INTERVAL=2;COUNT=2")),
    ).toEqual(["2025-10-03", "2027-10-03"]);
  });

  it("unfolds lines, and leaves out what is cancelled, alarms and other components", () => {
    const text = calendar(
      "DTSTART;VALUE=DA\n TE:20261225\nBEGIN:VALARM\nDURATION:PT5M\nEND:VALARM",
      "DTSTART;VALUE=DATE:20261226\nSTATUS:CANCELLED",
    ).replace(
      "BEGIN:VEVENT",
      "BEGIN:VTIMEZONE\r\nBEGIN:STANDARD\r\nDTSTART:19701025T030000\r\nEND:STANDARD\r\nEND:VTIMEZONE\r\nBEGIN:VEVENT",
    );
    expect(dates(text)).toEqual(["2026-12-25"]);
  });

  it.each([
    [
      "DTSTART:20261225T080000Z\nSUMMARY:Meeting",
      'line 4: event "Meeting": DTSTART must be a date',
    ],
    ["DTSTART;VALUE=DATE:20261225\nRRULE:FREQ=WEEKLY", "RRULE with FREQ=WEEKLY is not read"],
    [
      "DTSTART;VALUE=DATE:20261225\nRRULE:FREQ=YEARLY;BYDAY=1MO",
      "RRULE with BYDAY=1MO is not read",
    ],
    ["DTSTART;VALUE=DATE:20261225\nRDATE;VALUE=DATE:20261231", "RDATE is not read"],
    [
      "DTSTART;VALUE=DATE:20261225\nDTEND;VALUE=DATE:20261225",
      "its end must be a date after its start",
    ],
    [
      "DTSTART;VALUE=DATE:20261225\nRRULE:FREQ=YEARLY\nEXDATE:20271225T000000Z",
      "EXDATE must have dates",
    ],
  ])("refuses by name what it does not read: %j", (event, words) => {
    expect(() => dates(calendar(event))).toThrow(words);
  });
});

describe("readDates() of a small file that stands for millions of days", () => {
  const event = "DTSTART:00010101\nDURATION:P400D\nRRULE:FREQ=YEARLY";
  it.each([
    ["an iCalendar file", calendar(...Array.from({ length: 100 }, () => event)), 3],
    [
      "an iCalendar file with events in one year",
      calendar(...Array.from({ length: 51 }, () => "DTSTART:20260101\nDURATION:P400D")),
      203,
    ],
    ["a list of ranges", "2026-01-01/2027-02-04\n".repeat(51), 51],
  ])(
    "refuses it before it is written out, with the line that is one too many: %s",
    (_, text, line) => {
      const before = process.memoryUsage().heapUsed;
      const startMs = performance.now();
      expect(() => dates(text)).toThrow(
        `Cannot read "de.ics", line ${line}: the file has more than 20000 days up to here, and a calendar has at most 400; leave out past dates and events that began long ago`,
      );
      expect(performance.now() - startMs).toBeLessThan(1_000);
      expect(process.memoryUsage().heapUsed - before).toBeLessThan(50_000_000);
    },
  );

  it("reads a file of twenty holidays since 1900, whose past dates the command leaves out", () => {
    const holidays = Array.from(
      { length: 20 },
      (__, at) => `DTSTART:190001${String(at + 1).padStart(2, "0")}\nRRULE:FREQ=YEARLY`,
    );
    expect(dates(calendar(...holidays))).toHaveLength(20 * 129);
  });
});
