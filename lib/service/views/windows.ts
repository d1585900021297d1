import type { NativePolicy } from "../../model/spec-native.ts";

export interface WindowsView {
  /** Why nothing is known of them: then the autoscaler stands still, and the rest is empty. */
  readonly problem?: string;
  /** Runs of equal recommendations, oldest first. */
  readonly recommendations: readonly { readonly replicas: number; readonly first: string; readonly last: string }[];
  readonly stabilization: readonly StabilizationView[];
  readonly rates: readonly RateView[];
  /** Windows that any scale closes, for dialects that have them. */
  readonly forbidden?: readonly ForbiddenView[];
  /** What must last before it counts. */
  readonly timers?: readonly TimerView[];
  readonly flap?: FlapView;
  /** Of the manifest; absent once it has passed. */
  readonly pausedUntil?: string;
}

export interface ForbiddenView {
  readonly direction: Direction;
  readonly windowSeconds: number;
  /** When it opens again; absent while it is open. */
  readonly until?: string;
}

export interface TimerView {
  /** What is timed: "Scale up sustain". */
  readonly name: string;
  readonly seconds: number;
  /** Since when it lasts and when that is long enough; absent while there is nothing to time. */
  readonly since?: string;
  readonly until?: string;
}

export interface FlapView {
  readonly reversals: number;
  readonly periodSeconds: number;
  /** Made inside the period. */
  readonly made: number;
  /** When there is room for a scale down; absent while there is. */
  readonly until?: string;
}

export interface StabilizationView {
  readonly direction: Direction;
  readonly windowSeconds: number;
  /** The recommendation inside the window that holds the count back, and when it leaves; absent while nothing is held. */
  readonly held?: { readonly replicas: number; readonly until: string };
}

export interface RateView {
  readonly direction: Direction;
  readonly type: NativePolicy["type"];
  readonly value: number;
  readonly periodSeconds: number;
  /** Given where only the changes of the rate's own direction count. */
  readonly countedChanges?: "SameDirection";
  /** Pods added and removed inside the period, by the scale events below. */
  readonly added: number;
  readonly removed: number;
  readonly events: readonly { readonly change: number; readonly at: string; readonly leaves: string; readonly eventId?: string }[];
}

export type Direction = "scaleUp" | "scaleDown";

export const NO_WINDOWS: WindowsView = { recommendations: [], stabilization: [], rates: [] };
