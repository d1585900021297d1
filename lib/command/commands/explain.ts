import { withLocalTimes } from "../../stack/report/instant-text.ts";
import type { Printer, Session } from "../io.ts";
import { documentText } from "../output/documents.ts";
import { explainSheet } from "../output/explain-sheet.ts";
import { queryFor, type NamedAutoscalerOfKind } from "../select/selected-names.ts";
import { pastEndMs } from "../options/time-options.ts";
import type { SheetOptions } from "../options/command-options.ts";

export interface ExplainOptions extends SheetOptions {
  readonly at?: string;
}

export const explain = async (
  { service, nowMs }: Session,
  printer: Printer,
  resource: NamedAutoscalerOfKind,
  { output, at }: ExplainOptions,
): Promise<void> => {
  const query = await queryFor(service, resource);
  const explanation = await service.explain(
    query,
    at === undefined ? undefined : pastEndMs("--at", at, nowMs, printer.note),
  );
  await printer.print(
    output === "text"
      ? explainSheet(withLocalTimes(explanation), nowMs, printer.paint)
      : documentText(explanation, output),
  );
};
