import { milliOf, parseQuantity } from "../../model/quantity.ts";
import type { WatermarkSpec } from "../../model/spec-watermark.ts";
import type { WatermarkManifestSpec } from "./shape.ts";

/** Defaults of the Watermark Pod Autoscaler (watermark.md 1.2) and the multi-threshold form. */
export const DEFAULTS = {
  tolerance: "100m",
  scaleUpLimitFactor: "50",
  scaleDownLimitFactor: "20",
  upscaleForbiddenWindowSeconds: 60,
  downscaleForbiddenWindowSeconds: 300,
} as const;

/** The thousandths of a quantity, 0 when it is absent. The shape has checked the text. */
export const milli = (text: string | undefined): bigint => {
  const quantity = text === undefined ? undefined : parseQuantity(text);
  return quantity ? milliOf(quantity) : 0n;
};

/** A spec with all defaults. */
export type Defaulted = WatermarkManifestSpec & { readonly upscaleForbiddenWindowSeconds: number; readonly downscaleForbiddenWindowSeconds: number };

/**
 * In a WatermarkPodAutoscaler a tolerance of 0 and windows of 0 mean the default (watermark.md 1.2). In the multi-threshold form an absent field takes the
 * default, and 0 means 0: a window of 0 s forbids nothing (proposals.md §5).
 */
export const defaulted = (spec: WatermarkManifestSpec, counts: WatermarkSpec["counts"] = "ready"): Defaulted => {
  const zeroIsAbsent = counts === "ready";
  const seconds = (written: number | undefined, otherwise: number): number =>
    written === undefined || (written === 0 && zeroIsAbsent) ? otherwise : written;
  return {
    ...spec,
    minReplicas: spec.minReplicas ?? 1,
    algorithm: spec.algorithm || "absolute",
    tolerance: spec.tolerance === undefined || (zeroIsAbsent && milli(spec.tolerance) === 0n) ? DEFAULTS.tolerance : spec.tolerance,
    scaleUpLimitFactor: spec.scaleUpLimitFactor ?? DEFAULTS.scaleUpLimitFactor,
    scaleDownLimitFactor: spec.scaleDownLimitFactor ?? DEFAULTS.scaleDownLimitFactor,
    upscaleForbiddenWindowSeconds: seconds(spec.upscaleForbiddenWindowSeconds, DEFAULTS.upscaleForbiddenWindowSeconds),
    downscaleForbiddenWindowSeconds: seconds(spec.downscaleForbiddenWindowSeconds, DEFAULTS.downscaleForbiddenWindowSeconds),
    replicaScalingAbsoluteModulo: spec.replicaScalingAbsoluteModulo ?? 1,
  };
};

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
