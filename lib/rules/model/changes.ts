import type { AutoscalerRef } from "./ids.ts";

/** The edits of overrides: set, given another end, taken away. */
export type OverrideVerb = "override" | "extend" | "clear";

/** The edits of calendars of the fleet. */
export type CalendarVerb = "put-calendar" | "delete-calendar";

/** An edit by a person. It took effect if the autoscaler has the generation that it names. */
export interface ChangeRecord extends AutoscalerRef {
  /** `<uid>:<new generation>`. */
  readonly id: string;
  readonly atMs: number;
  readonly by: string;
  /** The grant that allowed it; absent where none was needed. */
  readonly grant?: string;
  readonly verb:
    | "apply"
    | "delete"
    | "handback"
    | "pause"
    | "resume"
    | "takeover"
    | "takeover-failed"
    | OverrideVerb;
  /**
   * The generation before the edit, 0 for a new autoscaler. The chain of these tells the edits that
   * took effect from those that did not.
   */
  readonly baseGeneration?: number;
  readonly before?: string;
  readonly after?: string;
  /**
   * Of a takeover or handback: the object of the other controller as JSON, so that it can be made
   * again.
   */
  readonly rival?: string;
}

/**
 * An edit of a cluster, of the fleet or of what a partition stores. It is stored before it is made;
 * it took effect if `before` of the next edit is its `after`.
 */
export interface ScopeChangeRecord {
  /** Calculated from the other fields. */
  readonly id: string;
  readonly scope: "access" | "cluster" | "fleet" | "partition" | "source" | "wake";
  /** For a partition: "<cluster>/<partition>". */
  readonly name: string;
  /** The version of the record after the edit; for a partition, the epoch of the edit. */
  readonly version: number;
  readonly atMs: number;
  readonly by: string;
  /** The grant that allowed it; absent where none was needed. */
  readonly grant?: string;
  readonly verb:
    | "add"
    | "replace"
    | "pause"
    | "resume"
    | "remove"
    | "freeze"
    | "thaw"
    | "adopt"
    | "move"
    | "grant"
    | "revoke"
    | "require"
    | "register"
    | "unregister"
    | "reset-windows"
    | "reset-intent"
    | "reset-time"
    | OverrideVerb
    | CalendarVerb;
  /** The record as JSON; absent before its creation and after its deletion. */
  readonly before?: string;
  readonly after?: string;
}
