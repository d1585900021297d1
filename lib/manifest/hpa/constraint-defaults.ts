export const CONSTRAINTS_PATH = "spec.constraints";

/** One direction with its defaults filled in. An absent rate is no limit, which 0 is not (proposals.md §3). */
export interface Constraint {
  readonly percent?: number;
  readonly pods?: number;
  readonly periodSeconds: number;
  /** Absent for scaleDown only: the cluster's downscale stabilization counts. */
  readonly delaySeconds?: number;
}

/** What the manifest gives for one direction. */
export type Given = Partial<Record<keyof Constraint, number>>;

const DEFAULT_PERIOD_SECONDS = 60;
export const DEFAULT_UP = { percent: 100, pods: 4, periodSeconds: DEFAULT_PERIOD_SECONDS, delaySeconds: 0 };
export const DEFAULT_DOWN = { periodSeconds: DEFAULT_PERIOD_SECONDS };
