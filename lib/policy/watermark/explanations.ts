import type { WatermarkSpec } from "../../model/spec-watermark.ts";
import { type Explanations, LARGEST_WINS } from "../explanations.ts";
import { marksText } from "../shared/metrics/plain-name.ts";

export const WATERMARK_EXPLANATIONS: Explanations<WatermarkSpec> = {
  ...LARGEST_WINS,
  publishesBands: true,
  targets: ({ metrics }) => metrics.map(({ source, name, ...marks }) => ({ type: source, name, target: marksText(marks) })),
  band: ({ toleranceMilli, converge, counts, tolerateZero }) => {
    const share = Number(toleranceMilli) / 1000;
    return {
      kind: "watermarks",
      up: share,
      down: share,
      widened: true,
      converges: converge !== "off",
      ignoresZero: counts === "ready" && !tolerateZero,
      needsEverySample: false,
    };
  },
};
