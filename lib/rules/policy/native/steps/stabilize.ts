import { integer } from "../../../fields/field-types.ts";
import type { NativeSpec } from "../../../model/spec-native.ts";
import {
  type StabilizationHold,
  type StabilizationWindows,
  stabilizeBothWays,
} from "../../shared/stabilization.ts";
import { stepped } from "../../shared/steps.ts";
import { stabilizationStates } from "../../shared/window-states.ts";
import type { NativeStep, NativeSync, StepWindow } from "./sync.ts";
import { DAY_SECONDS } from "../../../model/time-text.ts";

declare module "../../../model/spec-native.ts" {
  interface NativeRules {
    readonly stabilizationWindowSeconds: number;
  }
}

const MEANINGS = {
  up: "The count stays at or below the lowest proposal of this time.",
  down: "The count stays at or above the highest proposal of this time.",
} as const;
/** As in autoscaling/v2. */
const DEFAULTS = { up: 0, down: 300 } as const;

export const stabilizeFields = (way: "up" | "down") => ({
  stabilizationWindowSeconds: integer(MEANINGS[way], {
    default: Number(DEFAULTS[way]),
    least: 0,
    most: DAY_SECONDS,
  }),
});

const windowsOf = ({
  scaleUp,
  scaleDown,
}: Pick<NativeSpec, "scaleUp" | "scaleDown">): StabilizationWindows => ({
  upMs: scaleUp.stabilizationWindowSeconds * 1000,
  downMs: scaleDown.stabilizationWindowSeconds * 1000,
});

/**
 * A window per direction over the counts that the steps before gave: never up past the lowest,
 * never down past the highest of it (as hpa.md 3.8.3).
 */
export const stabilize: NativeStep = (sync) => {
  const { input, current, count } = sync;
  const { recommendations, held } = stabilizeBothWays(
    sync.recommendations,
    { current, count },
    windowsOf(input.spec),
    input.nowMs,
  );
  const next = { ...sync, recommendations };
  return held ? holding(next, held) : stepped(next, "stabilize", count);
};

const holding = (
  sync: NativeSync,
  { direction, replicas, untilMs }: StabilizationHold,
): NativeSync => {
  const up = direction === "up";
  const message = up
    ? "a lower count was wanted inside the window"
    : "a higher count was wanted inside the window";
  return stepped(sync, "stabilize", replicas, {
    reason: up ? "ScaleUpStabilized" : "ScaleDownStabilized",
    value: replicas,
    message,
    untilMs,
  });
};

export const STABILIZE_WINDOW: StepWindow = {
  states: (spec, { memory }, { nowMs, count }) => {
    const lengths = windowsOf(spec);
    const held: Parameters<typeof stabilizationStates>[3] = (runs, counts) =>
      stabilizeBothWays(runs, counts, lengths, nowMs).held;
    return {
      recommendations: memory.recommendations ?? [],
      stabilization: stabilizationStates(lengths, memory, count, held),
    };
  },
};
