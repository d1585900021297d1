import type { WatermarkSpec } from "../../model/spec-watermark.ts";
import type { Dialect } from "../dialect.ts";
import { decideWatermark } from "./decide.ts";
import { WATERMARK_EXPLANATIONS } from "./explanations.ts";
import { recommenderQuestion, watermarkQuestions } from "./questions.ts";
import { afterWatermarkWrite, withWatermarkScale } from "./steps/after-write.ts";
import { watermarkWindows } from "./windows.ts";

/** `datadoghq.com/v1alpha1 WatermarkPodAutoscaler` (watermark.md), and the multi-threshold document on External metrics alone (proposals.md §5). */
export const WATERMARK: Dialect<WatermarkSpec> = {
  name: "watermark",
  keeps: () => ({ recommendations: false, scaleEvents: false, ownZero: false }),
  questions: watermarkQuestions,
  asksMonitor: ({ lifecycleControl }) => lifecycleControl.kind === "on",
  recommenderQuestion,
  decide: decideWatermark,
  afterWrite: (_spec, report) => afterWatermarkWrite(report),
  withScale: (_spec, windows, change) => withWatermarkScale(windows, change),
  whyNotAgain: () => "the count is decided anew by the next sync",
  windows: watermarkWindows,
  explains: WATERMARK_EXPLANATIONS,
};
