import type { SpecKind } from "../../model/spec-kinds.ts";

/** The object of a cluster that something is told about. */
export interface ToldObject {
  readonly of: SpecKind;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  /** As the LIST has it. */
  readonly resourceVersion: string;
}

/** Something that is told to the people of a cluster and that nothing depends on. */
export type Telling =
  | { readonly kind: "status"; readonly about: ToldObject; readonly status: Readonly<Record<string, unknown>> }
  | { readonly kind: "event"; readonly about: ToldObject; readonly event: ToldEvent };

export interface ToldEvent {
  /** Its name is made from it. */
  readonly id: string;
  /** Another text for each time that it happened; the same when it is told again. */
  readonly occurrence: string;
  readonly type: string;
  readonly reason: string;
  readonly note: string;
  readonly atMs: number;
}

export interface TellLimits {
  /** Wall time for all of them together. */
  readonly budgetMs: number;
  /** Most requests. */
  readonly callsMax: number;
}

/** What became of the tellings. `left`: no time, no room, or no right. */
export interface Told {
  readonly written: number;
  readonly failed: number;
  readonly left: number;
}
