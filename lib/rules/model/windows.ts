import type { SlowAnswer } from "./metric-source.ts";
import type { BoundSource, EffectiveBounds } from "./override.ts";

/**
 * Everything that is stored for one autoscaler between two syncs. Only the table holds it
 * (docs/architecture.md, "What is stored"). The imitated controllers keep the first half in memory,
 * where a restart loses it, and the second half in the status of their object.
 */
export interface Windows {
  readonly memory: Memory;
  readonly status: Status;
}

export interface Memory {
  /**
   * In the order of the controller's slots: a slot that has left every window is reused (hpa.md
   * 3.8). `null` means that none was ever recorded, which differs from an empty list (hpa.md 2.4
   * step 3).
   */
  readonly recommendations: readonly RecommendationRun[] | null;
  readonly scaleUps: readonly ScaleChange[];
  readonly scaleDowns: readonly ScaleChange[];
  /**
   * Selector text of the target's scale at the last sync; absent before the first. Other
   * autoscalers check their selectors against it (hpa.md 2.5).
   */
  readonly selector?: string;
  /**
   * Last answers of registered sources to metrics that are not asked in each sync (`everySeconds`).
   */
  readonly answers?: readonly KeptAnswer[];
}

/** The answer to a question that is not due yet. */
export interface KeptAnswer {
  /** A number for the question, so that an edited query finds no answer to the old one. */
  readonly id: number;
  readonly askedMs: number;
  /** Thousandths in decimal text, as windows are JSON. Absent for an answer without a value. */
  readonly milli?: string;
  readonly sampleMs?: number;
  /**
   * Present where the answer was slow. Pages do not hold it: an environment that begins learns it
   * with the next answer.
   */
  readonly slow?: SlowAnswer;
}

/**
 * Equal recommendations of consecutive syncs, as one run: `replicas` was recommended at `firstMs`,
 * at `lastMs`, and every `stepMs` between them. A run decides exactly as the full list of its
 * recommendations does, because a window that contains any of them contains the last.
 */
export interface RecommendationRun {
  readonly replicas: number;
  readonly firstMs: number;
  readonly lastMs: number;
  /** Time between the recommendations; absent where it is not known, or there is only one. */
  readonly stepMs?: number;
  /**
   * On the newest run: the longest stabilization window when it was recorded. Slots that had left
   * this window may be reused (lib/rules/policy/shared/recommendations.ts).
   */
  readonly windowMs?: number;
}

/**
 * Index of the run that was recommended last; -1 in an empty list. It need not be the last of the
 * list, because slots are reused.
 */
export const newestRunAt = (runs: readonly RecommendationRun[]): number => {
  let at = -1;
  let newestMs = Number.NEGATIVE_INFINITY;
  for (let one = 0; one < runs.length; one++) {
    const lastMs = runs[one]?.lastMs ?? Number.NaN;
    if (!(lastMs >= newestMs)) continue;
    newestMs = lastMs;
    at = one;
  }
  return at;
};

/**
 * The list with its newest run extended to `untilMs`: a page is not written again while the
 * recommendation stays the same.
 */
export const extendedTo = (
  runs: readonly RecommendationRun[],
  untilMs: number,
): readonly RecommendationRun[] => {
  const at = newestRunAt(runs);
  const newest = runs[at];
  return newest && newest.lastMs < untilMs ? runs.with(at, { ...newest, lastMs: untilMs }) : runs;
};

/** A change of the count, for the limits on changes in a period. */
export interface ScaleChange {
  /** Pods added or removed, not negative. */
  readonly change: number;
  /** A clock reading after the answer of the PUT. */
  readonly atMs: number;
  /**
   * The earliest possible time of the change; 0 for one that may not have happened. Absent means
   * `atMs`. Limits of the other direction, to which the change gives room, count it from here. So a
   * change whose time is not exact counts longest where it limits, and shortest where it gives
   * room.
   */
  readonly earliestMs?: number;
  /**
   * True once it is older than the longest period of its direction. It still counts until its slot
   * is reused (hpa.md 3.9).
   */
  readonly outdated?: boolean;
  /** Id of the stored scale event. Recording the same id twice changes nothing. */
  readonly eventId?: string;
}

/**
 * The count that a sync left of a workload. Another count in the next sync was set outside
 * Tidemark.
 */
export interface SeenCount {
  readonly replicas: number;
  /** The end of the workload's uid: another workload has a count of its own. */
  readonly of: string;
  /**
   * The last completed sync whose count this is, where later ones could not compare: a scale was
   * under way. Absent where it is the newest one.
   */
  readonly sinceMs?: number;
}

/**
 * Changes of the count by others that came soon after each other, and by whom the newest was.
 */
export interface OutsideSeries {
  readonly changes: number;
  readonly firstMs: number;
  readonly lastMs: number;
  /** The field manager, where the cluster says it. */
  readonly by?: string;
}

export interface Status {
  /** In the order in which they were first set, unless the dialect sorts them. */
  readonly conditions: readonly Condition[];
  readonly currentReplicas: number;
  readonly desiredReplicas: number;
  readonly lastScaleMs?: number;
  /** In the form of autoscaling/v2, one for each metric; `null` when metrics were not evaluated. */
  readonly currentMetrics: readonly MetricStatus[] | null;
}

export interface Condition {
  readonly type: string;
  readonly status: "True" | "False" | "Unknown";
  readonly reason: string;
  readonly message: string;
  /** Changes only when `status` changes. */
  readonly transitionMs: number;
}

/**
 * JSON of one entry of `status.currentMetrics`, with quantities in canonical text; `{ "type": "" }`
 * for a failed metric.
 */
export type MetricStatus = { readonly type: string; readonly [source: string]: unknown };

export const NEW_WINDOWS: Windows = {
  memory: { recommendations: null, scaleUps: [], scaleDowns: [] },
  status: { conditions: [], currentReplicas: 0, desiredReplicas: 0, currentMetrics: null },
};

/** Bounds with where they come from. A bound without a source is the manifest's. */
export interface BoundsInForce
  extends Partial<Pick<EffectiveBounds, "paused" | "holds" | "forecast">> {
  readonly min: number;
  readonly max: number;
  readonly minBy?: BoundSource;
  readonly maxBy?: BoundSource;
}

/** What was in force and seen in one sync, for charts. Absent where nothing was evaluated. */
export interface InForce {
  readonly bounds?: BoundsInForce;
  /** Pods that were ready. */
  readonly ready?: number;
  /** Generation of the autoscaler. */
  readonly generation?: number;
}
