import type { AutoscalerQuery } from "../../service/service.ts";
import type { Description } from "../../service/views/autoscaler-view.ts";
import { forEachResource } from "../each-resource.ts";
import type { Printer, Session } from "../io.ts";
import { describeSheet } from "../output/describe-sheet.ts";
import { type DocumentFormat, documentText } from "../output/document-text.ts";
import { explainSheet } from "../output/explain-sheet.ts";
import { kubernetesList, kubernetesObject } from "../output/kubernetes-object.ts";
import { mustHaveKind, type Resource } from "../selected-names.ts";
import { pastMs } from "../time-options.ts";

export interface SheetOptions {
  readonly output: "text" | DocumentFormat;
}

/** Prints a sheet for each autoscaler, with an empty line between two; or one document, a `List` where there are several names. */
export const describe = async (
  { service, nowMs }: Session,
  printer: Printer,
  resources: readonly Resource[],
  { output }: SheetOptions,
): Promise<void> => {
  const views: Description[] = [];
  await forEachResource(resources, async ({ kind, ...query }) => {
    const view = mustHaveKind(await service.describe(query), kind);
    if (output === "text") await printer.print(`${views.length > 0 ? "\n" : ""}${describeSheet(view, nowMs, printer.paint)}`);
    views.push(view);
  });
  if (output === "text") return;
  const [first] = views;
  await printer.print(documentText(first && resources.length === 1 ? kubernetesObject(first) : kubernetesList(views), output));
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
  const explanation = await service.explain(query, at === undefined ? undefined : pastMs("--at", at, nowMs, printer.note));
  await printer.print(output === "text" ? explainSheet(explanation, nowMs, printer.paint) : documentText(explanation, output));
};
