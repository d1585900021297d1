import * as z from "zod";
import { boundsSchema, override } from "./holds.ts";
import { count, flag, only, ref, text, time, type ViewOf } from "./view-of.ts";

/** What a schedule sets, and what it will come to. */

const boundsChange = boundsSchema.extend({
  at: time,
  local: text.describe("the same instant by the clock of `timeZone`: `2026-03-02 07:00`"),
  timeZone: text,
  climbsTo: count.describe("present where a ramp begins: the floor climbs to it").exactOptional(),
  climbsUntil: time.exactOptional(),
});
export type BoundsChangeView = ViewOf<typeof boundsChange>;

const window = z.object({
  rampFrom: time.describe("present where the floor climbs before the window").exactOptional(),
  from: time,
  until: time,
  rampUntil: time.describe("present where the bounds fall after the window").exactOptional(),
  exceptedBy: text
    .describe(
      "present for a window that is left out: the name of the calendar that has its day, or `except` for the entry's own dates",
    )
    .exactOptional(),
});
export type ScheduleWindowView = ViewOf<typeof window>;

const lane = z.object({
  name: text,
  timeZone: text,
  minReplicas: count.exactOptional(),
  maxReplicas: count.exactOptional(),
  paused: flag.exactOptional(),
  suspended: only.describe("the entry is kept and sets nothing").exactOptional(),
  windows: z.array(window).describe("in order of time, also those that are left out"),
});
export type ScheduleLaneView = ViewOf<typeof lane>;

const clockChange = z.object({
  at: time,
  timeZone: text,
  before: text.describe("the offset from UTC: `+01:00`"),
  after: text,
});
export type ClockChangeView = ViewOf<typeof clockChange>;

export const scheduleSchema = boundsSchema.extend({
  ...ref,
  at: time,
  until: time.describe("the end of `lanes`, `clockChanges` and `overrides`"),
  changes: z
    .array(boundsChange)
    .describe(
      "the next changes of the bounds, within 400 days, as many as were asked for; a ramp is one where it begins and one where it ends",
    ),
  lanes: z.array(lane).describe("each entry of the schedule, in the order of the manifest"),
  overrides: z.array(override).describe("those that are in force before `until`"),
  clockChanges: z.array(clockChange).describe("changes of the clock in the zones of the entries"),
  missingCalendars: z
    .array(z.object({ name: text, field: text.describe("path of the field that names it") }))
    .describe("calendars that the schedule names and the fleet does not have"),
});
export type ScheduleView = ViewOf<typeof scheduleSchema>;

/** The schedules of one screen. */
export const scheduleSet = z.object({
  schedules: z.array(scheduleSchema).describe("in the order of `names`"),
  unread: z
    .array(z.object({ ...ref, message: text }))
    .describe("autoscalers whose stored manifest this release cannot read"),
});
export type SchedulesView = ViewOf<typeof scheduleSet>;
