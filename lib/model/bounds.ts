import type { OverrideScope, ScopedOverride } from "./override.ts";
import type { Calendar } from "./schedule.ts";

/** What people have set beside the manifest: overrides that may meet the autoscaler, and the calendars of the fleet. */
export interface SetByPeople {
  readonly overrides: readonly ScopedOverride[];
  readonly calendars: readonly Calendar[];
}

export const NOTHING_SET: SetByPeople = { overrides: [], calendars: [] };

/** Where a bound comes from, and when that ends. */
export type BoundSource =
  | { readonly kind: "manifest" }
  /** `ramp`: the bound is on its way to the value of the entry, or from it. */
  | { readonly kind: "schedule"; readonly name: string; readonly untilMs: number; readonly ramp?: "in" | "out" }
  | {
      readonly kind: "override";
      readonly id: string;
      readonly scope: OverrideScope;
      readonly by: string;
      readonly reason: string;
      /** Absent for a hold without an end. */
      readonly untilMs?: number;
    }
  /** The ceiling was below the floor, and follows it. */
  | { readonly kind: "floor" };

export interface Bound {
  readonly replicas: number;
  readonly source: BoundSource;
}

/** The bounds of an autoscaler at an instant. */
export interface EffectiveBounds {
  readonly min: Bound;
  readonly max: Bound;
  /** Present while an entry of the schedule pauses the autoscaler. */
  readonly paused?: Extract<BoundSource, { readonly kind: "schedule" }>;
  /** What holds the autoscaler: nothing is written while there is one. */
  readonly holds: readonly Extract<BoundSource, { readonly kind: "override" }>[];
  /** Present where the schedule names a calendar that the fleet does not have: min, max and pause are then a guess. */
  readonly unknownCalendar?: UnknownCalendar;
}

/** A calendar that is named and not there. */
export interface UnknownCalendar {
  readonly name: string;
  /** The path of the field that names it. */
  readonly field: string;
}
