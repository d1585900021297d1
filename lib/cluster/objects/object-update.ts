import type { SpecKind } from "../../model/spec-kinds.ts";

/** The object whose status is written, or that an Event is about. */
export interface UpdatedObject {
  readonly of: SpecKind;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  /** As the LIST has it. */
  readonly resourceVersion: string;
}

/** What is written back to a cluster for people to read. No decision depends on it. */
export type ObjectUpdate =
  | {
      readonly kind: "status";
      readonly about: UpdatedObject;
      readonly status: Readonly<Record<string, unknown>>;
      /** Fields of the status that the definition of an earlier release does not have. */
      readonly newer?: readonly string[];
    }
  | { readonly kind: "event"; readonly about: UpdatedObject; readonly event: NewEvent };

export interface NewEvent {
  /** Its name is made from it. */
  readonly id: string;
  /** Another text for each time that it happened; the same text when it is sent again. */
  readonly occurrence: string;
  readonly type: string;
  readonly reason: string;
  readonly note: string;
  readonly atMs: number;
}

export interface WriteBackLimits {
  /** Wall time of all updates together. */
  readonly budgetMs: number;
  /** Most requests. */
  readonly callsMax: number;
}

/** How many updates were written, failed, or were left out for want of time, room or rights. */
export interface WriteBackCounts {
  readonly written: number;
  readonly failed: number;
  readonly left: number;
}
