import type { Calendar } from "../../model/schedule.ts";
import type { AutoscalerSpec } from "../../model/spec.ts";
import { type Finding, outlookOf } from "../../policy/bounds/outlook.ts";
import type { QueryContext } from "../context.ts";
import type { ManifestInput } from "./manifest-inputs.ts";

/** The calendars that schedules name. Nothing is read where none names one. */
export const calendarsFor = async (_context: QueryContext, _specs: readonly Pick<AutoscalerSpec, "schedule">[]): Promise<readonly Calendar[]> => [];

export interface ScheduleOutlook {
  readonly spec: AutoscalerSpec;
  readonly calendars: readonly Calendar[];
  readonly nowMs: number;
}

/** What an apply says of a schedule after a look 400 days ahead: lines of a refusal, and warnings, each with its field. */
export const scheduleOutlook = ({ where, lineOf }: Pick<ManifestInput, "where" | "lineOf">, { spec, calendars, nowMs }: ScheduleOutlook) => {
  if (!spec.schedule) return { refused: [], warnings: [] };
  const { refused, warnings } = outlookOf(spec, calendars, nowMs);
  const at = ({ index }: Finding): string => {
    const field = `spec.schedule[${index}]`;
    const line = lineOf(field);
    return `${line === undefined ? "" : `, line ${line}`}: ${field}`;
  };
  return {
    refused: refused.map((finding) => `Cannot accept "${where}"${at(finding)}: ${finding.message}`),
    warnings: warnings.map((finding) => `"${where}"${at(finding)}: ${finding.message}`),
  };
};
