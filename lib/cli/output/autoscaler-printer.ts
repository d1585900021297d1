import type { AutoscalerView } from "../../service/views/autoscaler-view.ts";
import type { Printer, Session } from "../io.ts";
import { autoscalerColumns, autoscalerHeaders } from "./autoscaler-rows.ts";
import { type DocumentFormat, documentText } from "./document-text.ts";
import { kubernetesObject, labelsOf } from "./kubernetes-object.ts";
import { lines } from "./list-writers.ts";
import { Table } from "./text-table.ts";

type RowFormat = "table" | "wide" | "name";

export interface RowOptions {
  readonly output: RowFormat | DocumentFormat;
  readonly showLabels?: true;
  /** False for --no-headers. */
  readonly headers?: boolean;
}

export const isDocument = (format: RowFormat | DocumentFormat): format is DocumentFormat =>
  format !== "table" && format !== "wide" && format !== "name";

/** Prints autoscalers batch by batch: rows of one table, or each as a document. With `-o name` it is the path of each, which every command takes as a name. */
export const autoscalerPrinter = (
  { clock }: Session,
  { print, paint }: Printer,
  { output, headers, showLabels }: RowOptions,
): ((batch: readonly AutoscalerView[]) => Promise<boolean>) => {
  if (isDocument(output)) return (batch) => print(documentsText(batch, output));
  if (output === "name") return (batch) => print(lines(batch.map(({ cluster, namespace, name }) => `${cluster}/${namespace}/${name}`)));
  const wide = output === "wide";
  const table = new Table(headers === false ? undefined : [...autoscalerHeaders(wide), ...(showLabels ? ["LABELS"] : [])]);
  return (batch) => {
    const nowMs = clock();
    const row = (view: AutoscalerView): readonly string[] => [
      ...autoscalerColumns(view, nowMs, { paint, wide }),
      ...(showLabels ? [labelsText(view)] : []),
    ];
    return print(lines(table.lines(batch.map(row))));
  };
};

const documentsText = (views: readonly AutoscalerView[], format: DocumentFormat): string =>
  views.map((view) => `${format === "yaml" ? "---\n" : ""}${documentText(kubernetesObject(view), format)}`).join("");

/** As kubectl shows labels: "app=web,tier=front". */
const labelsText = (view: AutoscalerView): string =>
  Object.entries(labelsOf(view))
    .map(([key, value]) => `${key}=${value}`)
    .sort()
    .join(",") || "<none>";
