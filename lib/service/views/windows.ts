import type { NativePolicy } from "../../model/spec-native.ts";

export interface WindowsView {
  /** Why the windows cannot be read; then the autoscaler holds, and the other fields are empty. */
  readonly problem?: string;
  /** Of an earlier instant: what is not stored any more, so that its fields are empty or absent. */
  readonly notStored?: string;
  /** Runs of equal recommendations, oldest first. */
  readonly recommendations: readonly { readonly replicas: number; readonly first: string; readonly last: string }[];
  readonly stabilization: readonly StabilizationView[];
  readonly rates: readonly RateView[];
  /** Windows that any scale closes, for dialects that have them. */
  readonly forbidden?: readonly ForbiddenView[];
  /** Conditions that must last before they count. */
  readonly timers?: readonly TimerView[];
  readonly flap?: FlapView;
  /** The pause of the manifest; absent when it has ended. */
  readonly pausedUntil?: string;
}

export interface ForbiddenView {
  readonly direction: Direction;
  readonly windowSeconds: number;
  /** When the window ends; absent while no window is active. */
  readonly until?: string;
}

export interface TimerView {
  /** The name of the timer, such as "Scale up sustain". */
  readonly name: string;
  readonly seconds: number;
  /** When it began, and when it has lasted long enough; absent while it has not begun. */
  readonly since?: string;
  readonly until?: string;
}

export interface FlapView {
  readonly reversals: number;
  readonly periodSeconds: number;
  /** Reversals made inside the period. */
  readonly made: number;
  /** When a scale-down fits again; absent when one fits now. */
  readonly until?: string;
}

export interface StabilizationView {
  readonly direction: Direction;
  readonly windowSeconds: number;
  /** The recommendation that holds the count, and when it leaves the window; absent when none does. */
  readonly held?: { readonly replicas: number; readonly until: string };
}

export interface RateView {
  readonly direction: Direction;
  readonly type: NativePolicy["type"];
  readonly value: number;
  readonly periodSeconds: number;
  /** Present when only changes of the rate's own direction count. */
  readonly countedChanges?: "SameDirection";
  /** Pods added and removed inside the period, by the scale events below. */
  readonly added: number;
  readonly removed: number;
  readonly events: readonly { readonly change: number; readonly at: string; readonly leaves: string; readonly eventId?: string }[];
}

export type Direction = "scaleUp" | "scaleDown";

export const NO_WINDOWS: WindowsView = { recommendations: [], stabilization: [], rates: [] };
