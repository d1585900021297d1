import type { Evaluation } from "../../model/records.ts";
import { type Json, READY, type StatusContext, timeText } from "./object-conditions.ts";

/**
 * The status of a WatermarkPodAutoscaler, in the fields of its own definition (watermark.md 1.5), so that the columns of `kubectl get wpa` stay. Its definition refuses a field that it does
 * not have, and older ones lack the last three: these are only written where the object has them.
 */
export const watermarkStatus = (
  { status }: Evaluation,
  conditions: readonly Json[],
  { generation, listed, scales, lastCondition }: StatusContext,
): Json => {
  const last = lastCondition ?? conditions.find(({ type }) => type === READY);
  const counted = listed["scalingEventsCount"];
  return {
    observedGeneration: generation,
    currentReplicas: status?.currentReplicas ?? 0,
    desiredReplicas: status?.desiredReplicas ?? 0,
    ...(status?.lastScaleMs !== undefined && { lastScaleTime: timeText(status.lastScaleMs) }),
    ...(status?.currentMetrics && { currentMetrics: status.currentMetrics }),
    conditions,
    ...(typeof counted === "number" && { scalingEventsCount: counted + scales }),
    ...("lastConditionType" in listed && { lastConditionType: last?.type }),
    ...("lastConditionState" in listed && { lastConditionState: last?.status }),
  };
};
