import type { OverrideEdited, OverrideSetView, OverrideView } from "../../views/holds.ts";

/** Which overrides: those that meet an autoscaler, a namespace, a cluster, or any part of the fleet. */
export interface OverrideQuery {
  readonly cluster?: string;
  readonly namespace?: string;
  readonly name?: string;
}

/** Where a list of overrides goes on. */
export type OverrideCursor = Pick<OverrideView, "cluster" | "namespace" | "name" | "id">;

/** An override for one autoscaler (`name`), a namespace of a cluster, a cluster, or the fleet. */
export interface NewOverride extends OverrideQuery, OverrideSetView {
  /** True: for every autoscaler of every cluster. */
  readonly fleet?: boolean;
  /** The default is now. */
  readonly fromMs?: number;
  /** Only a hold may be without an end. Bounds last at most 30 days. */
  readonly untilMs?: number;
  /** One line of 1 to 500 characters. */
  readonly reason: string;
  /** Goes before overrides of narrower places. */
  readonly force?: boolean;
  /** Checks everything, says whom it meets, and stores nothing. */
  readonly dryRun?: boolean;
}

export interface OverrideEdit {
  readonly id: string;
  /** Looks only in this cluster. */
  readonly cluster?: string;
}

export interface OverrideQueries {
  /** The overrides that meet a part of the fleet, also overrides that are ahead or expired: first the fleet's, then cluster by cluster. */
  overrides(query: OverrideQuery, after?: OverrideCursor): AsyncIterable<OverrideView>;
}

export interface OverrideCommands {
  /** Sets bounds or a hold for some time, over schedule and manifest. Throws `service.invalid` with every fault. */
  setOverride(wanted: NewOverride): Promise<OverrideEdited>;
  /** Gives an override another end. */
  extendOverride(edit: OverrideEdit & { readonly untilMs: number }): Promise<OverrideEdited>;
  /** Ends an override now. */
  clearOverride(edit: OverrideEdit): Promise<OverrideEdited>;
}
