import type { AutoscalerQuery } from "../../service/service.ts";
import type { Printer, Session } from "../io.ts";
import { describeSheet } from "../output/describe-sheet.ts";
import { documentText } from "../output/document-text.ts";
import { explainSheet } from "../output/explain-sheet.ts";
import { kubernetesObject } from "../output/kubernetes-object.ts";
import { pastMs } from "../time-options.ts";

export interface SheetOptions {
  readonly output: "text" | "json" | "yaml";
}

export const describe = async ({ service, nowMs }: Session, printer: Printer, query: AutoscalerQuery, { output }: SheetOptions): Promise<void> => {
  const view = await service.describe(query);
  await printer.print(output === "text" ? describeSheet(view, nowMs, printer.paint) : documentText(kubernetesObject(view), output));
};

export interface ExplainOptions extends SheetOptions {
  readonly at?: string;
}

export const explain = async (
  { service, nowMs }: Session,
  printer: Printer,
  query: AutoscalerQuery,
  { output, at }: ExplainOptions,
): Promise<void> => {
  const explanation = await service.explain(query, at === undefined ? undefined : pastMs("--at", at, nowMs));
  await printer.print(output === "text" ? explainSheet(explanation, nowMs, printer.paint) : documentText(explanation, output));
};
