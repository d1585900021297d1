import { warning, withCondition } from "../../shared/steps.ts";
import { failedGetScale, SUCCEEDED_GET_SCALE } from "./sentences.ts";
import type { HpaStep } from "./sync.ts";

/** hpa.md 2.4 steps 1 to 3: a scale that cannot be read ends the sync; else the list of recommendations begins with the count that was found. */
export const readScale: HpaStep = (sync) => {
  const { scale } = sync.input.observation;
  if (scale.kind === "failed") {
    const { message } = scale.failure;
    const report = failedGetScale(message);
    return {
      ...sync,
      conditions: withCondition(sync, report),
      events: [warning("FailedGetScale", message)],
      ending: { kind: "unreadable", because: { reason: report.reason, message: report.message } },
    };
  }
  const current = scale.specReplicas;
  return {
    ...sync,
    conditions: withCondition(sync, SUCCEEDED_GET_SCALE),
    current,
    statusReplicas: scale.statusReplicas,
    count: current,
  };
};

/** hpa.md 2.4 step 3: only a list that does not exist is seeded, an empty one is not. */
export const seed: HpaStep = (sync) => {
  if (sync.recommendations !== null) return sync;
  const { nowMs } = sync.input;
  return { ...sync, recommendations: [{ replicas: sync.current, firstMs: nowMs, lastMs: nowMs }] };
};
