import { explained } from "../../shared/steps.ts";
import { outOfBounds, choose } from "./bounds.ts";
import { combine } from "./combine.ts";
import { PERIOD } from "./conclude.ts";
import { eventNote } from "./sentences.ts";
import { noted, type WatermarkStep, type WatermarkSync } from "./sync.ts";

/** What all metrics ask for, or the recommender. */
export const propose: WatermarkStep = (sync) => {
  const { spec, namespace, observation, nowMs } = sync.input;
  const { scale } = sync;
  const { counted, notes } = combine(sync.sources({ spec, namespace, scale, observation, nowMs }));
  const measured = noted(sync, ...notes);
  if (counted.kind === "failed") return withoutMetrics(measured, counted.message);
  const wanted = Math.max(counted.value.replicas, 0);
  return {
    ...explained(measured, { step: "propose", before: scale.specReplicas, after: wanted }),
    combined: counted.value,
    wanted,
  };
};

/**
 * The original forgets min and max while a metric is unavailable; the bounds are known without it,
 * so they are kept (safe: a bound is never a guess).
 */
const withoutMetrics = (sync: WatermarkSync, message: string): WatermarkSync => {
  const { scale, deviations, input } = sync;
  const { status } = input.windows;
  const reported = noted(sync, eventNote("Warning", "FailedComputeMetricsReplicas", message));
  const verdict = deviations.boundsWithoutMetrics ? outOfBounds(scale, input.spec) : undefined;
  if (verdict)
    return {
      ...reported,
      ending: { kind: "chosen", verdict, currentMetrics: status.currentMetrics },
    };
  return {
    ...reported,
    ending: {
      kind: "stopped",
      because: { reason: "FailedComputeMetricsReplicas", message },
      failed: true,
      dueAgainSeconds: PERIOD,
      from: scale.specReplicas,
      status: { ...status, currentReplicas: scale.statusReplicas },
    },
  };
};

/** Zero and [min, max] have the last word. */
export const chooseCount: WatermarkStep = (sync) => {
  const { combined, wanted, normalised, gate, scale, deviations, input } = sync;
  const verdict = choose({
    combined,
    wanted,
    normalised,
    gate,
    scale,
    spec: input.spec,
    deviations,
  });
  const currentMetrics = verdict.overridden
    ? input.windows.status.currentMetrics
    : combined.statuses;
  return {
    ...explained(sync, {
      step: "bounds",
      before: gate.kind === "open" ? normalised : scale.specReplicas,
      after: verdict.to,
    }),
    ending: { kind: "chosen", verdict, currentMetrics },
  };
};
