import * as z from "zod";
import type { NativePolicy } from "../../rules/model/spec-native.ts";
import { count, text, time, type ViewOf } from "./view-of.ts";

const direction = z.enum(["scaleUp", "scaleDown"]);
export type DirectionView = z.infer<typeof direction>;

/** Windows that any scale closes, for dialects that have them. */
const forbidden = z.object({
  direction,
  windowSeconds: z.number(),
  until: time.describe("when the window ends; absent while no window is active").exactOptional(),
});
export type ForbiddenView = ViewOf<typeof forbidden>;

const timer = z.object({
  name: text.describe('such as "Scale up sustain"'),
  seconds: z.number(),
  since: time.describe("when it began; absent while it has not begun").exactOptional(),
  until: time.describe("when it has lasted long enough").exactOptional(),
});
export type TimerView = ViewOf<typeof timer>;

const flap = z.object({
  reversals: count,
  periodSeconds: z.number(),
  made: count.describe("reversals made inside the period"),
  until: time.describe("when a scale-down fits again; absent when one fits now").exactOptional(),
});
export type FlapView = ViewOf<typeof flap>;

const stabilization = z.object({
  direction,
  windowSeconds: z.number(),
  held: z
    .object({ replicas: count, until: time })
    .describe(
      "the recommendation that holds the count, and when it leaves the window; absent when none does",
    )
    .exactOptional(),
});
export type StabilizationView = ViewOf<typeof stabilization>;

const POLICY_TYPES = [
  "Pods",
  "Percent",
  "Factor",
] as const satisfies readonly NativePolicy["type"][];

const rate = z.object({
  direction,
  type: z.enum(POLICY_TYPES),
  value: z.number(),
  periodSeconds: z.number(),
  countedChanges: z
    .literal("SameDirection")
    .describe("present when only changes of the own direction of the rate count")
    .exactOptional(),
  added: count.describe("pods added inside the period, by `events`"),
  removed: count.describe("pods removed inside the period"),
  events: z.array(
    z.object({ change: z.int(), at: time, leaves: time, eventId: text.exactOptional() }),
  ),
});
export type RateView = ViewOf<typeof rate>;

export const windows = z.object({
  problem: text
    .describe(
      "why the windows cannot be read; then the autoscaler holds, and the other fields are empty",
    )
    .exactOptional(),
  notStored: text
    .describe(
      "of an earlier instant: what is not stored any more, so that its fields are empty or absent",
    )
    .exactOptional(),
  recommendations: z
    .array(z.object({ replicas: count, first: time, last: time }))
    .describe("runs of equal recommendations, oldest first"),
  stabilization: z.array(stabilization),
  rates: z.array(rate),
  forbidden: z
    .array(forbidden)
    .describe("windows that any scale closes, for dialects that have them")
    .exactOptional(),
  timers: z.array(timer).describe("conditions that must last before they count").exactOptional(),
  flap: flap.exactOptional(),
  pausedUntil: time.describe("the pause of the manifest; absent when it has ended").exactOptional(),
});
export type WindowsView = ViewOf<typeof windows>;
