import * as z from "zod";
import type { UnknownCalendar, OverrideScope } from "../../rules/model/override.ts";
import { FORECAST_QUANTILES } from "../../rules/model/forecast.ts";
import { count, type FieldsOf, flag, only, ref, text, time, type ViewOf } from "./view-of.ts";

/* What people set for some time: pauses, the freeze, overrides, and the bounds that follow. */

export const pause = z.object({
  by: text,
  at: time,
  until: time.describe("absent for a pause without an end").exactOptional(),
});
export type PauseView = ViewOf<typeof pause>;

export const frozen = z.object({ by: text, at: time, reason: text });
export type FrozenView = ViewOf<typeof frozen>;

const SCOPES = [
  "fleet",
  "cluster",
  "namespace",
  "autoscaler",
] as const satisfies readonly OverrideScope[];
const scope = z.enum(SCOPES);

const overrideSet = {
  hold: flag.describe("nothing is written").exactOptional(),
  min: count.exactOptional(),
  max: count.exactOptional(),
  minFactor: z.number().describe("times the own minimum of each autoscaler").exactOptional(),
} as const;

/** What an override sets, as people write it: a hold, or bounds. */
export type OverrideSetView = ViewOf<z.ZodObject<typeof overrideSet>>;

/** An override with the place that it is for. */
export const override = z.object({
  id: text,
  scope,
  cluster: text.exactOptional(),
  namespace: text.exactOptional(),
  name: text.exactOptional(),
  state: z
    .enum(["active", "ahead", "expired"])
    .describe(
      "`ahead`: it begins later. An expired override is listed until the next edit of the same item",
    ),
  ...overrideSet,
  from: time,
  until: time.describe("absent for a hold without an end").exactOptional(),
  reason: text,
  by: text,
  at: time,
  force: flag.describe("true: it goes before overrides of narrower places").exactOptional(),
});
export type OverrideView = ViewOf<typeof override>;

/** Where a bound comes from, and when that ends. */
const boundSource = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("manifest") }),
  z
    .object({ kind: z.literal("floor") })
    .describe("the ceiling was below the floor, and follows it"),
  z.object({
    kind: z.literal("schedule"),
    name: text,
    until: time,
    ramp: z.enum(["in", "out"]).exactOptional(),
  }),
  z.object({
    kind: z.literal("override"),
    id: text,
    scope,
    by: text,
    reason: text,
    until: time.exactOptional(),
  }),
  z
    .object({
      kind: z.literal("forecast"),
      quantile: z.enum(FORECAST_QUANTILES),
      metric: text,
      at: time.describe("the quarter of an hour with the highest demand of the horizon"),
      from: time.describe("the end of the demand that the forecast was made from"),
    })
    .describe("raised by the forecast of a demand"),
]);
export type BoundSourceView = ViewOf<typeof boundSource>;

const bound = z.object({ replicas: count, by: boundSource });

/** The bounds in force, with where each comes from. */
export const boundsSchema = z.object({
  min: bound,
  max: bound,
  paused: boundSource.describe("present while the schedule pauses the autoscaler").exactOptional(),
  holds: z
    .array(boundSource)
    .describe("the overrides that hold the autoscaler; absent where none does")
    .exactOptional(),
  unknownCalendar: z
    .object({
      name: text,
      field: text.describe("path of the field that names it"),
    } satisfies FieldsOf<UnknownCalendar>)
    .describe(
      "present where the schedule names a calendar that the fleet does not have: the autoscaler then holds",
    )
    .exactOptional(),
  forecast: z
    .object({
      replicas: count
        .describe("pods that it asks for; absent where there is no forecast")
        .exactOptional(),
      text: text.describe("of which demand it is, or why there is none"),
    })
    .describe("present where the manifest takes the advice of forecasts")
    .exactOptional(),
});
export type BoundsView = ViewOf<typeof boundsSchema>;

const meeting = z.object({ ...ref, before: boundsSchema, after: boundsSchema });
export type OverrideMeeting = ViewOf<typeof meeting>;

export const overrideEdited = z.object({
  override,
  changed: flag.describe("false when nothing had to change, and for a dry run"),
  meets: z
    .array(meeting)
    .describe(
      "the autoscalers that a new override meets, with their bounds when it begins, at most 1,000; empty for the other edits",
    ),
  more: only.describe("present where more autoscalers are met than were looked at").exactOptional(),
  warnings: z.array(text),
});
export type OverrideEdited = ViewOf<typeof overrideEdited>;

/** A calendar of dates that the fleet keeps. An entry of a schedule names it with `exceptFrom`. */
export const calendar = z.object({
  name: text,
  dates: z.array(text).describe('"2026-12-25", in order'),
});
export type CalendarView = ViewOf<typeof calendar>;

export const calendarEdited = calendar.extend({
  changed: flag.describe("false when nothing had to change"),
  added: count.describe("dates that the calendar did not have before"),
  removed: count.describe("dates that it no longer has"),
});
export type CalendarEdited = ViewOf<typeof calendarEdited>;
