import type { AutoscalerSpec } from "../model/spec.ts";
import type { Windows } from "../model/windows.ts";
import { askDialect } from "./dialects.ts";
import type { Change } from "./shared/recorded-scales.ts";
import type { WriteReport, Written } from "./shared/write-report.ts";

/** The dialect's own consequences of an answered write. A write whose outcome is unknown counts as applied: a limit counts what may have happened. */
export const afterWrite = ({ spec, ...report }: WriteReport): Written => askDialect(spec, (dialect, own) => dialect.afterWrite(own, report));

/** The windows with a scale that was, or may have been, made; for a scale that a later sync settles. Twice changes nothing. */
export const withScale = (windows: Windows, spec: AutoscalerSpec, change: Change): Windows =>
  askDialect(spec, (dialect, own) => dialect.withScale(own, windows, change));
