import type { Hold, StepOutcome } from "../rules/model/decision.ts";
import type { AutoscalerSpec } from "../rules/model/spec.ts";
import { extendedTo, newestRunAt, type Windows } from "../rules/model/windows.ts";
import { repeatsHolds } from "../rules/policy/dialects.ts";
import type { ReplayedTime } from "./replayed-time.ts";

/** Limits that hold a count until the time that they name, or for as long as the bounds stay. */
const ENDS_AS_NAMED: ReadonlySet<string> = new Set([
  ...["ScaleUpStabilized", "ScaleDownStabilized", "NotSustained"],
  ...["TooManyReplicas", "TooFewReplicas"],
]);

/**
 * A count that is held while nothing that a sync observes changes. The next sync would decide the
 * same again, and its windows would differ by the time of the newest recommendation alone, as they
 * do in production, where such windows are not stored again (`extendedTo`).
 */
export class LastingHold {
  readonly reason: string;
  readonly bounds: { readonly min: number; readonly max: number };
  readonly #windows: Windows;
  readonly #atMs: number;
  readonly #untilMs: number;
  #lastMs: number;

  constructor(
    { because, steps, windows }: Hold,
    bounds: { readonly min: number; readonly max: number },
    nowMs: number,
  ) {
    this.reason = because.reason;
    this.bounds = bounds;
    this.#windows = windows;
    this.#atMs = nowMs;
    this.#lastMs = nowMs;
    let untilMs = Number.POSITIVE_INFINITY;
    for (const { limit } of steps) untilMs = Math.min(untilMs, limit?.untilMs ?? untilMs);
    this.#untilMs = untilMs;
  }

  /** Whether the sync of now decides the same; it is counted then. */
  goesOn(nowMs: number, time: ReplayedTime): boolean {
    if (nowMs >= this.#untilMs || !time.observesAsAt(this.#atMs)) return false;
    this.#lastMs = nowMs;
    return true;
  }

  /** As the syncs of the hold would have left them. */
  windows(): Windows {
    const { memory } = this.#windows;
    if (memory.recommendations === null) return this.#windows;
    const recommendations = extendedTo(memory.recommendations, this.#lastMs);
    return { ...this.#windows, memory: { ...memory, recommendations } };
  }
}

/**
 * Whether a hold is one that goes on. On doubt it is not: a missing metric, a limit that counts
 * scales, or a recommendation that is not yet one of a row in step with the syncs.
 */
export const holdLasts = (
  spec: AutoscalerSpec,
  { failed, metrics, steps, windows }: Hold,
  nowMs: number,
  periodMs: number,
): boolean =>
  !failed &&
  metrics.every(({ kind }) => kind === "measured") &&
  steps.every(endsAsNamed) &&
  windows.memory.answers === undefined &&
  isInStep(windows, nowMs, periodMs) &&
  repeatsHolds(spec);

const endsAsNamed = ({ limit }: StepOutcome): boolean =>
  limit === undefined || ENDS_AS_NAMED.has(limit.reason);

const isInStep = (
  { memory: { recommendations } }: Windows,
  nowMs: number,
  periodMs: number,
): boolean => {
  if (recommendations === null) return true;
  const newest = recommendations[newestRunAt(recommendations)];
  return newest?.lastMs === nowMs && newest.stepMs === periodMs;
};
