import { DEFAULT_SETTINGS } from "../../../lib/rules/model/spec-common.ts";
import type { Behavior, ScalingRules } from "../../../lib/rules/model/spec-hpa.ts";
import type { RecommendationRun, ScaleChange } from "../../../lib/rules/model/windows.ts";
import {
  clamp,
  downLimit,
  type Limited,
  limitRate,
  upLimit,
} from "../../../lib/rules/policy/hpa/steps/limit.ts";
import { scalingLimited } from "../../../lib/rules/policy/hpa/steps/sentences.ts";
import { reportOf, windowsOf } from "../../../lib/rules/policy/hpa/steps/stabilize.ts";
import { type Change, withScaleEvent } from "../../../lib/rules/policy/shared/recorded-scales.ts";
import {
  type Stabilized,
  stabilizeBothWays,
  stabilizeDownward,
} from "../../../lib/rules/policy/shared/stabilization.ts";
import { NOON } from "../../noon.ts";
import { type Difference, differences } from "../differences.ts";
import type { VectorCase } from "../vector-file.ts";

interface NormalizeCase {
  readonly op: string;
  readonly current: number;
  readonly desired: number;
  readonly min: number;
  readonly max: number;
  readonly downscaleStabilizationSeconds?: number;
  readonly behavior?: { readonly scaleUp?: ScalingRules; readonly scaleDown?: ScalingRules };
  readonly records?: readonly { readonly replicas: number; readonly ageMs: number }[];
  readonly ups?: readonly Aged[];
  readonly downs?: readonly Aged[];
  readonly expect: { readonly records?: readonly AgedRecord[]; readonly [member: string]: unknown };
}

interface Aged {
  readonly change: number;
  readonly ageMs: number;
  readonly outdated?: boolean;
}

interface AgedRecord {
  readonly replicas: number;
  readonly ageMs: number;
}

/** One pure step between the proposal and the written count. */
export const runNormalize = (raw: VectorCase): readonly Difference[] => {
  const vector = { current: 0, desired: 0, min: 0, max: 0, ...raw } as unknown as NormalizeCase;
  const { records, ...expect } = vector.expect;
  const { runs, ...shown } = outcome(vector);
  return [
    ...differences(expect, shown),
    ...(records && runs ? recordDifferences(records, runs) : []),
  ];
};

const outcome = (
  vector: NormalizeCase,
): { readonly runs?: readonly RecommendationRun[]; readonly [member: string]: unknown } => {
  const { op, current, desired } = vector;
  const behavior = behaviorOf(vector);
  const events = eventsOf(vector);
  const bounds = { minReplicas: vector.min, maxReplicas: vector.max };
  switch (op) {
    case "stabilize": {
      const { count, recommendations } = downward(vector);
      return { value: count, runs: recommendations };
    }
    case "clamp":
      return shownLimit(clamp(current, desired, bounds));
    case "normalize": {
      const stabilized = downward(vector);
      return shownBoth(stabilized, clamp(current, stabilized.count, bounds));
    }
    case "stabilizeWithBehavior": {
      const { count, held, recommendations } = bothWays(vector, behavior);
      return {
        value: count,
        reason: count === desired ? vector.expect["reason"] : reportOf(held).reason,
        runs: recommendations,
      };
    }
    case "limitRate":
      return shownLimit(
        limitRate({ current, count: desired }, { ...bounds, behavior }, events, { nowMs: NOON }),
      );
    case "scaleUpLimit":
      return { value: upLimit(current, behavior.scaleUp, events, { nowMs: NOON }) };
    case "scaleDownLimit":
      return { value: downLimit(current, behavior.scaleDown, events, { nowMs: NOON }) };
    case "normalizeWithBehavior": {
      const stabilized = bothWays(vector, behavior);
      return shownBoth(
        stabilized,
        limitRate({ current, count: stabilized.count }, { ...bounds, behavior }, events, {
          nowMs: NOON,
        }),
      );
    }
    case "storeScaleEvent":
      return storedEvents(vector);
    default:
      throw new RangeError(`unknown op ${op}`);
  }
};

const NO_RULES: ScalingRules = { selectPolicy: "Max", policies: [] };
const behaviorOf = ({ behavior }: NormalizeCase): Behavior => ({
  scaleUp: NO_RULES,
  scaleDown: NO_RULES,
  ...behavior,
});
const settingsOf = ({ downscaleStabilizationSeconds = 0 }: NormalizeCase) => ({
  ...DEFAULT_SETTINGS,
  downscaleStabilizationMs: downscaleStabilizationSeconds * 1000,
});
const runsOf = ({ records = [] }: NormalizeCase): readonly RecommendationRun[] =>
  records.map(({ replicas, ageMs }) => ({ replicas, firstMs: NOON - ageMs, lastMs: NOON - ageMs }));
const changesOf = (aged: readonly Aged[] = []): readonly ScaleChange[] =>
  aged.map(({ ageMs, ...rest }) => ({ ...rest, atMs: NOON - ageMs }));
const eventsOf = ({ ups, downs }: NormalizeCase) => ({
  scaleUps: changesOf(ups),
  scaleDowns: changesOf(downs),
});

const downward = (vector: NormalizeCase): Stabilized =>
  stabilizeDownward(
    runsOf(vector),
    vector.desired,
    settingsOf(vector).downscaleStabilizationMs,
    NOON,
  );
const bothWays = (vector: NormalizeCase, behavior: Behavior): Stabilized =>
  stabilizeBothWays(
    runsOf(vector),
    { current: vector.current, count: vector.desired },
    windowsOf(behavior, settingsOf(vector)),
    NOON,
  );

const shownLimit = ({ count, reason }: Limited) => ({ value: count, reason });
const shownBoth = (stabilized: Stabilized, limited: Limited) => ({
  value: limited.count,
  conditions: [
    reportOf(stabilized.held),
    scalingLimited(limited.count !== stabilized.count, limited.reason),
  ].map(({ type, status, reason }) => ({
    type,
    status,
    reason,
  })),
  runs: stabilized.recommendations,
});

const storedEvents = (vector: NormalizeCase) => {
  const change: Change = { from: vector.current, to: vector.desired, atMs: NOON };
  const memory = { recommendations: null, ...eventsOf(vector) };
  const { scaleUps, scaleDowns } = withScaleEvent(
    memory,
    vector.behavior ? behaviorOf(vector) : undefined,
    change,
  );
  return { ups: scaleUps.map(aged), downs: scaleDowns.map(aged) };
};

const aged = ({ atMs, ...rest }: ScaleChange): Aged => ({ ...rest, ageMs: NOON - atMs });

const recordDifferences = (
  records: readonly AgedRecord[],
  runs: readonly RecommendationRun[],
): readonly Difference[] =>
  differences(
    records,
    runs.map(({ replicas, lastMs }) => ({ replicas, ageMs: NOON - lastMs })),
    "records",
  );
