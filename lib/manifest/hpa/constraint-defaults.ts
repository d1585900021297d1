export const CONSTRAINTS_PATH = "spec.constraints";

/** One direction with its defaults. An absent rate means no limit, unlike 0 (proposals.md §3). */
export interface Constraint {
  readonly percent?: number;
  readonly pods?: number;
  readonly periodSeconds: number;
  /** Absent only for scaleDown, where the cluster's downscale stabilization counts. */
  readonly delaySeconds?: number;
}

/** The values in the manifest for one direction. */
export type GivenConstraint = Partial<Record<keyof Constraint, number>>;

const DEFAULT_PERIOD_SECONDS = 60;
export const DEFAULT_UP = { percent: 100, pods: 4, periodSeconds: DEFAULT_PERIOD_SECONDS, delaySeconds: 0 };
export const DEFAULT_DOWN = { periodSeconds: DEFAULT_PERIOD_SECONDS };
