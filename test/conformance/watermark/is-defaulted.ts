import { milli, type WatermarkManifestSpec } from "../../../lib/rules/manifest/watermark/shape.ts";

/** True when a WatermarkPodAutoscaler already has all defaults. */
export const isDefaulted = (spec: WatermarkManifestSpec): boolean =>
  spec.minReplicas !== undefined &&
  spec.algorithm !== "" &&
  milli(spec.tolerance) !== 0n &&
  spec.scaleUpLimitFactor !== undefined &&
  spec.scaleDownLimitFactor !== undefined &&
  (spec.upscaleForbiddenWindowSeconds ?? 0) !== 0 &&
  (spec.downscaleForbiddenWindowSeconds ?? 0) !== 0 &&
  spec.replicaScalingAbsoluteModulo !== undefined;
