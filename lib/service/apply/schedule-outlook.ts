import type { AutoscalerSpec } from "../../model/spec.ts";
import { type Finding, outlookOf } from "../../policy/bounds/outlook.ts";
import type { ManifestInput } from "./manifest-inputs.ts";

/** What an apply says of a schedule after a look 400 days ahead: lines of a refusal, and warnings, each with its field. */
export const scheduleOutlook = ({ where, lineOf }: Pick<ManifestInput, "where" | "lineOf">, spec: AutoscalerSpec, nowMs: number) => {
  if (!spec.schedule) return { refused: [], warnings: [] };
  const { refused, warnings } = outlookOf(spec, [], nowMs);
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
