import type { Because } from "./decision.ts";

/** Another controller of a workload: an HPA, a ScaledObject or a WatermarkPodAutoscaler, with what its status says. */
export interface Rival {
  readonly kind: string;
  readonly name: string;
  /** The uid of the object; absent where only the HPA of a ScaledObject was listed, and in journals of earlier releases. */
  readonly uid?: string;
  /** The count that it wants; absent while it has not decided, or where the status is not of this sync. */
  readonly desiredReplicas?: number;
  readonly lastScaleMs?: number;
  /** The condition that says most about its count. */
  readonly because?: Because;
}
