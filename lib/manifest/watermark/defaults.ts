import { milliOf, parseQuantity } from "../../model/quantity.ts";
import type { WatermarkManifestSpec } from "./shape.ts";

const DEFAULT_TOLERANCE = "100m";
const DEFAULT_UP_FACTOR = "50";
const DEFAULT_DOWN_FACTOR = "20";
const DEFAULT_UP_WINDOW_SECONDS = 60;
const DEFAULT_DOWN_WINDOW_SECONDS = 300;

/** Thousandths of a quantity, 0 when it is absent; the shape has made sure that it can be read. */
export const milli = (text: string | undefined): bigint => {
  const quantity = text === undefined ? undefined : parseQuantity(text);
  return quantity ? milliOf(quantity) : 0n;
};

/** A tolerance of 0 and windows of 0 cannot be said: they mean the default (watermark.md 1.2). */
export const defaulted = (spec: WatermarkManifestSpec): WatermarkManifestSpec => ({
  ...spec,
  minReplicas: spec.minReplicas ?? 1,
  algorithm: spec.algorithm || "absolute",
  tolerance: spec.tolerance === undefined || milli(spec.tolerance) === 0n ? DEFAULT_TOLERANCE : spec.tolerance,
  scaleUpLimitFactor: spec.scaleUpLimitFactor ?? DEFAULT_UP_FACTOR,
  scaleDownLimitFactor: spec.scaleDownLimitFactor ?? DEFAULT_DOWN_FACTOR,
  upscaleForbiddenWindowSeconds: spec.upscaleForbiddenWindowSeconds || DEFAULT_UP_WINDOW_SECONDS,
  downscaleForbiddenWindowSeconds: spec.downscaleForbiddenWindowSeconds || DEFAULT_DOWN_WINDOW_SECONDS,
  replicaScalingAbsoluteModulo: spec.replicaScalingAbsoluteModulo ?? 1,
});

/** True when the defaulting would change nothing. */
export const isDefaulted = (spec: WatermarkManifestSpec): boolean =>
  spec.minReplicas !== undefined &&
  spec.algorithm !== "" &&
  milli(spec.tolerance) !== 0n &&
  spec.scaleUpLimitFactor !== undefined &&
  spec.scaleDownLimitFactor !== undefined &&
  spec.upscaleForbiddenWindowSeconds !== 0 &&
  spec.downscaleForbiddenWindowSeconds !== 0 &&
  spec.replicaScalingAbsoluteModulo !== undefined;
