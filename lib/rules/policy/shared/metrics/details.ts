import type { MetricOutcome, MetricPods } from "../../../model/decision.ts";
import type { Pod } from "../../../model/observation.ts";
import type { TargetRef } from "../../../model/spec-common.ts";
import { hasFinished, ofOtherRevision, ownership } from "../pods/owned.ts";
import type { CountedPods, Measured } from "./measurement.ts";
import { turnsOf } from "./turns.ts";

/**
 * What is behind the value of a metric. It costs more than the decision, so it is made for what is
 * stored and shown.
 */
export type Behind = Pick<Measured, "curve" | "assumed" | "counted">;

/** What one sync of the rules saw behind its metrics, in their order. */
export interface SeenBehind {
  readonly metrics: readonly (Behind | undefined)[];
  /** The pods that the selector of the target matches; absent where they were not read. */
  readonly pods?: readonly Pod[];
}

interface Around {
  readonly from: number;
  readonly target: Pick<TargetRef, "kind" | "name">;
  readonly nowMs: number;
}

/** The metrics of a decision with what is behind each. */
export const withDetails = (
  outcomes: readonly MetricOutcome[],
  { metrics, pods }: SeenBehind,
  around: Around,
): readonly MetricOutcome[] => {
  const listed = pods && listedPods(pods, around.target);
  return outcomes.map((outcome, at) => {
    const behind = metrics[at];
    if (outcome.kind === "failed" || !behind) return outcome;
    const turns =
      behind.curve && turnsOf(behind.curve(), { ...outcome, ...around }, outcome.target);
    const { assumed } = behind;
    return {
      ...outcome,
      ...(listed && { pods: { ...listed, ...countsOf(behind.counted?.(), around.nowMs) } }),
      ...(assumed && { assumed }),
      ...(turns && { turns }),
    };
  });
};

const listedPods = (pods: readonly Pod[], target: Around["target"]): MetricPods => {
  const isOwned = ownership(target);
  const owned = isOwned && pods.filter(isOwned);
  const finished = pods.filter(hasFinished).length;
  const otherRevision = owned ? ofOtherRevision(owned) : 0;
  return {
    matched: pods.length,
    ...(owned && { owned: owned.length }),
    ...(finished > 0 && { finished }),
    ...(otherRevision > 0 && { otherRevision }),
  };
};

/** Only what there is any of. */
const countsOf = (counted: CountedPods | undefined, nowMs: number): Partial<MetricPods> => {
  if (!counted) return {};
  const { unready, missing, stale = 0, leftOut, unlisted, oldestMs } = counted;
  return {
    counted: counted.counted,
    ...(unready > 0 && { unready }),
    ...(missing > 0 && { missing }),
    ...(stale > 0 && { stale }),
    ...(leftOut > 0 && { leftOut }),
    ...(unlisted > 0 && { unlisted }),
    ...(oldestMs !== undefined && {
      oldestSeconds: Math.max(0, Math.round((nowMs - oldestMs) / 1000)),
    }),
  };
};
