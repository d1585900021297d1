import { stabilizeBothWays } from "../hpa/stabilize.ts";
import { type NativeStep, type NativeSync, stepped } from "./sync.ts";

/** A window per direction over the counts that the steps before gave: never up past the lowest, never down past the highest of it (as hpa.md 3.8.3). */
export const stabilize: NativeStep = (sync) => {
  const { input, current, count } = sync;
  const upMs = input.spec.scaleUp.stabilizationWindowSeconds * 1000;
  const downMs = input.spec.scaleDown.stabilizationWindowSeconds * 1000;
  const runs = sync.recommendations ?? [];
  const { count: after, recommendations } = stabilizeBothWays(runs, current, count, { upMs, downMs }, input.nowMs);
  const next = { ...sync, recommendations };
  return after === count ? stepped(next, "stabilize", after) : held(next, after, count > current ? upMs : downMs);
};

const held = (sync: NativeSync, after: number, windowMs: number): NativeSync => {
  const up = sync.count > sync.current;
  const holding = (sync.recommendations ?? []).filter(({ replicas }) => (up ? replicas <= after : replicas >= after));
  const lastMs = Math.max(...holding.map((run) => run.lastMs));
  const message = up ? "a lower count was wanted inside the window" : "a higher count was wanted inside the window";
  const limit = { reason: up ? "ScaleUpStabilized" : "ScaleDownStabilized", value: after, message };
  return stepped(sync, "stabilize", after, Number.isFinite(lastMs) ? { ...limit, untilMs: lastMs + windowMs } : limit);
};
