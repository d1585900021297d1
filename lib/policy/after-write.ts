import type { AutoscalerSpec } from "../model/spec.ts";
import type { Windows } from "../model/windows.ts";
import type { Change } from "./scale-events.ts";
import { afterHpaWrite, withHpaScale } from "./steps/hpa/after-write.ts";
import { afterNativeWrite, withNativeScale } from "./steps/tidemark/after-write.ts";
import { afterWatermarkWrite, withWatermarkScale } from "./steps/watermark/after-write.ts";
import type { WriteReport, Written } from "./write-report.ts";

/** The dialect's own consequences of an answered write. A write whose outcome is unknown counts as applied: a limit counts what may have happened. */
export const afterWrite = ({ spec, ...report }: WriteReport): Written => {
  switch (spec.dialect) {
    case "hpa":
      return afterHpaWrite(spec, report);
    case "watermark":
      return afterWatermarkWrite(report);
    case "tidemark":
      return afterNativeWrite(spec, report);
  }
};

/** The windows with a scale that was, or may have been, made; for one that a later sync settles. Twice changes nothing. */
export const withScale = (windows: Windows, spec: AutoscalerSpec, change: Change): Windows => {
  switch (spec.dialect) {
    case "hpa":
      return withHpaScale(windows, spec, change);
    case "watermark":
      return withWatermarkScale(windows, change);
    case "tidemark":
      return withNativeScale(windows, spec, change);
  }
};
