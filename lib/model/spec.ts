import type { HpaSpec } from "./spec-hpa.ts";
import type { NativeSpec } from "./spec-native.ts";
import type { WatermarkSpec } from "./spec-watermark.ts";

/**
 * The spec of an autoscaler, after its manifest was validated, defaulted and converted (lib/manifest). The dialect names the rules that decide it.
 */
export type AutoscalerSpec = HpaSpec | WatermarkSpec | NativeSpec;

export type DialectName = AutoscalerSpec["dialect"];
