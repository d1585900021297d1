/**
 * Everything that one autoscaler remembers from one sync to the next. It lives in the table alone (docs/architecture.md, "What is stored"); the imitated controllers keep
 * the first half in memory and lose it, and the second half in the status of their object.
 */
export interface Windows {
  readonly memory: Memory;
  readonly status: Status;
}

export interface Memory {
  /** In the order of the controller's slots: a place that had left every window is used again (hpa.md 3.8). `null`: none was ever recorded, which hpa.md 2.4 step 3 tells from an empty list. */
  readonly recommendations: readonly RecommendationRun[] | null;
  readonly scaleUps: readonly ScaleChange[];
  readonly scaleDowns: readonly ScaleChange[];
  /** Selector that the target's scale had at the last sync, in the text it gave; absent before the first. Other autoscalers look for overlap with it (hpa.md 2.5). */
  readonly selector?: string;
}

/**
 * Equal recommendations of consecutive syncs, as one run: `replicas` was recommended at `firstMs`, at `lastMs`, and every `stepMs` between them.
 * A run decides exactly as the full list of its recommendations does, because a window that holds any of them holds the last.
 */
export interface RecommendationRun {
  readonly replicas: number;
  readonly firstMs: number;
  readonly lastMs: number;
  /** Spacing of the recommendations; absent where it is not known, or there is one alone. */
  readonly stepMs?: number;
  /** On the newest run, the longest stabilization window that it was recorded under: slots that had left it may have been used again (lib/policy/recommendations.ts). */
  readonly windowMs?: number;
}

/** Place of the run that was recommended last; -1 without any. Places are used again, so that it need not be the last of the list. */
export const newestRunAt = (runs: readonly RecommendationRun[]): number =>
  runs.reduce((newest, { lastMs }, at) => (lastMs >= (runs[newest]?.lastMs ?? Number.NEGATIVE_INFINITY) ? at : newest), -1);

/** The list with its newest run going on to `untilMs`: what a page tells that was not written again while the recommendation stayed as it was. */
export const extendedTo = (runs: readonly RecommendationRun[], untilMs: number): readonly RecommendationRun[] => {
  const at = newestRunAt(runs);
  const newest = runs[at];
  return newest && newest.lastMs < untilMs ? runs.with(at, { ...newest, lastMs: untilMs }) : runs;
};

/** A change of the count that counts against the per-period limits. */
export interface ScaleChange {
  /** Pods added or removed, not negative. */
  readonly change: number;
  /** From a clock reading after the answer of the PUT. */
  readonly atMs: number;
  /**
   * From when it counts for the limits of the other direction, to which it gives room: its earliest possible time, 0 for a change that may not have happened. Absent: `atMs`. So
   * a change whose time is not exact counts longest where it limits, and shortest where it allows.
   */
  readonly earliestMs?: number;
  /** Set once it fell out of the longest period of its direction; it still counts until its slot is used again (hpa.md 3.9). */
  readonly outdated?: boolean;
  /** Id of the stored scale event; recording the same id twice changes nothing. */
  readonly eventId?: string;
}

export interface Status {
  /** In order of first appearance, unless the dialect sorts them. */
  readonly conditions: readonly Condition[];
  readonly currentReplicas: number;
  readonly desiredReplicas: number;
  readonly lastScaleMs?: number;
  /** As autoscaling/v2 shows them, a slot per metric; `null` when metrics were not evaluated. */
  readonly currentMetrics: readonly MetricStatus[] | null;
}

export interface Condition {
  readonly type: string;
  readonly status: "True" | "False" | "Unknown";
  readonly reason: string;
  readonly message: string;
  /** Moves only when `status` changes. */
  readonly transitionMs: number;
}

/** JSON of one entry of `status.currentMetrics`, quantities in canonical text; `{ "type": "" }` for a metric that failed. */
export type MetricStatus = { readonly type: string; readonly [source: string]: unknown };

export const NEW_WINDOWS: Windows = {
  memory: { recommendations: null, scaleUps: [], scaleDowns: [] },
  status: { conditions: [], currentReplicas: 0, desiredReplicas: 0, currentMetrics: null },
};
