import { describe, expect, it } from "vitest";
import type { Calendar, ScheduleEntry } from "../../../lib/rules/model/schedule.ts";
import { outlookOf } from "../../../lib/rules/policy/bounds/outlook.ts";
import { NOON } from "../../noon.ts";
import { entry } from "./schedules.ts";

const look = (schedule: readonly ScheduleEntry[], calendars: readonly Calendar[] = []) =>
  outlookOf({ minReplicas: 2, maxReplicas: 20, schedule }, calendars, NOON);

const messages = (
  schedule: readonly ScheduleEntry[],
  calendars?: readonly Calendar[],
): readonly string[] => {
  const { refused, warnings } = look(schedule, calendars);
  return [
    ...refused.map(({ index, message }) => `refused ${index}: ${message}`),
    ...warnings.map(({ index, message }) => `${index}: ${message}`),
  ];
};

describe("outlookOf()", () => {
  it("finds nothing in a schedule that means what it says", () => {
    expect(
      messages([
        entry({ minReplicas: 10 }),
        entry({ name: "night", from: "20:00", to: "24:00", maxReplicas: 5 }),
      ]),
    ).toEqual([]);
  });

  it("refuses windows that never are, and those that are always empty", () => {
    const never = "it has no window within 400 days:";
    expect(
      messages([
        entry({ dates: "2026-07-01/2026-07-03", except: "2026-06-01/2026-07-31", minReplicas: 3 }),
      ]),
    ).toEqual([
      `refused 0: ${never} every window is excepted, or a change of the clock leaves it no time; check days, dates and except`,
    ]);
    expect(
      messages([entry({ dates: "2026-03-29", from: "02:10", to: "02:50", minReplicas: 3 })])[0],
    ).toContain(`refused 0: ${never}`);
    expect(messages([entry({ except: "2026-01-01/2027-12-31", minReplicas: 3 })])[0]).toContain(
      `refused 0: ${never}`,
    );
  });

  it("warns of dates that are all past, and says nothing of dates that are farther ahead", () => {
    expect(messages([entry({ dates: "2025-12-24", minReplicas: 3 })])).toEqual([
      "0: its dates are all past, so it sets nothing; remove it, or write later dates",
    ]);
    expect(messages([entry({ dates: "2028-12-24", minReplicas: 3 })])).toEqual([]);
  });

  it("warns where the last window ended earlier today, so that a manifest that was right in the morning is accepted in the evening", () => {
    const past = ["0: its dates are all past, so it sets nothing; remove it, or write later dates"];
    expect(
      messages([entry({ dates: "2026-03-01", from: "08:00", to: "09:00", minReplicas: 3 })]),
    ).toEqual(past);
    expect(
      messages([
        entry({ dates: "2026-02-27/2026-03-01", from: "08:00", to: "09:00", minReplicas: 3 }),
      ]),
    ).toEqual(past);
    expect(
      messages([entry({ dates: "2026-03-01", from: "08:00", to: "18:00", minReplicas: 3 })]),
    ).toEqual([]);
  });

  it("warns of lengths that a change of the clock changes, with the first such day", () => {
    expect(messages([entry({ days: "Sun", from: "01:00", to: "04:00", minReplicas: 3 })])).toEqual([
      "0: a change of the clock makes it 2 h long, not 3 h, in the window of 2026-03-29",
    ]);
    expect(messages([entry({ from: "02:10", to: "02:50", minReplicas: 3 })])).toEqual([
      "0: a change of the clock leaves it no time, not 0.67 h, in the window of 2026-03-29",
    ]);
  });

  it("warns of overlaps of equal priority that set a field to different values", () => {
    const day = entry({ minReplicas: 10 });
    const lunch = entry({ name: "lunch", from: "11:00", to: "13:00", minReplicas: 15 });
    expect(messages([day, lunch])).toEqual([
      '1: it overlaps "office" with equal priority, first at 2026-03-02 11:00: the larger minReplicas, 15, counts; give one of them a higher priority',
    ]);
    expect(messages([day, { ...lunch, priority: 1 }])).toEqual([]);
    expect(messages([day, { ...lunch, minReplicas: 10 }])).toEqual([]);
    expect(messages([day, { ...lunch, fromMinute: 17 * 60, toMinute: 20 * 60 }])).toEqual([]);
  });

  it("warns of a floor above the ceiling, also where two entries make it", () => {
    expect(messages([entry({ minReplicas: 30 })])).toEqual([
      '0: at 2026-03-01 08:00 minReplicas is 30 by the schedule "office", above maxReplicas, so that 30 counts for both; set both',
    ]);
    const cap = entry({ name: "cap", from: "12:00", to: "14:00", maxReplicas: 5 });
    expect(messages([entry({ minReplicas: 10 }), cap])).toEqual([
      '0: at 2026-03-01 12:00 minReplicas is 10 by the schedule "office", above maxReplicas, so that 10 counts for both; set both',
    ]);
  });
});
