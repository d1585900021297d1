import type { NativeSpec } from "../../../model/spec-native.ts";
import { type StabilizationHold, type StabilizationWindows, stabilizeBothWays } from "../../shared/stabilization.ts";
import { stepped } from "../../shared/steps.ts";
import type { NativeStep, NativeSync } from "./sync.ts";

export const windowsOf = ({ scaleUp, scaleDown }: Pick<NativeSpec, "scaleUp" | "scaleDown">): StabilizationWindows => ({
  upMs: scaleUp.stabilizationWindowSeconds * 1000,
  downMs: scaleDown.stabilizationWindowSeconds * 1000,
});

/** A window per direction over the counts that the steps before gave: never up past the lowest, never down past the highest of it (as hpa.md 3.8.3). */
export const stabilize: NativeStep = (sync) => {
  const { input, current, count } = sync;
  const { recommendations, held } = stabilizeBothWays(sync.recommendations, { current, count }, windowsOf(input.spec), input.nowMs);
  const next = { ...sync, recommendations };
  return held ? holding(next, held) : stepped(next, "stabilize", count);
};

const holding = (sync: NativeSync, { direction, replicas, untilMs }: StabilizationHold): NativeSync => {
  const up = direction === "up";
  const message = up ? "a lower count was wanted inside the window" : "a higher count was wanted inside the window";
  return stepped(sync, "stabilize", replicas, { reason: up ? "ScaleUpStabilized" : "ScaleDownStabilized", value: replicas, message, untilMs });
};
