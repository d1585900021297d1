import { joined, lines, type Printed, text, type Word } from "../../report/printed.ts";
import type { AutoscalerView } from "../../service/views/autoscaler-view.ts";
import type { Printer, Session } from "../io.ts";
import { autoscalerColumns, autoscalerHeaders } from "./autoscaler-rows.ts";
import { type DocumentFormat, documentText } from "./document-text.ts";
import { kubernetesObject, labelsOf } from "./kubernetes-object.ts";
import { Table } from "./text-table.ts";

type RowFormat = "table" | "wide" | "name";

export interface RowOptions {
  readonly output: RowFormat | DocumentFormat;
  readonly showLabels?: true;
  /** Each autoscaler comes with its event: in a first column, or around the document. */
  readonly outputWatchEvents?: true;
  /** False for --no-headers. */
  readonly headers?: boolean;
}

/** An autoscaler, and while it is watched what happened to it, in the words of the Kubernetes API. */
export interface Shown {
  readonly view: AutoscalerView;
  readonly event?: "ADDED" | "MODIFIED" | "DELETED";
}

export const isDocument = (format: RowFormat | DocumentFormat): format is DocumentFormat =>
  format !== "table" && format !== "wide" && format !== "name";

/** Prints autoscalers batch by batch: rows of one table, or each as a document. With `-o name` it is the path of each, which every command takes as a name. */
export const autoscalerPrinter = (
  { clock, ended }: Session,
  { print, paint }: Printer,
  { output, headers, showLabels, outputWatchEvents }: RowOptions,
): ((batch: readonly Shown[]) => Promise<boolean>) => {
  const withEvent = outputWatchEvents === true;
  if (isDocument(output)) return (batch) => print(documentsText(batch, output, withEvent));
  if (output === "name") return (batch) => print(lines(batch.map((shown) => joined([...eventCell(shown, withEvent), pathOf(shown.view)], "   "))));
  const wide = output === "wide";
  const header = [...(withEvent ? ["EVENT"] : []), ...autoscalerHeaders(wide), ...(showLabels ? ["LABELS"] : [])];
  const table = new Table(headers === false ? undefined : header);
  return (batch) => {
    const nowMs = clock();
    const row = (shown: Shown): readonly Word[] => [
      ...eventCell(shown, withEvent),
      ...autoscalerColumns(shown.view, nowMs, { paint, wide, isDeleted: shown.event === "DELETED", ended: ended === true }),
      ...(showLabels ? [labelsText(shown.view)] : []),
    ];
    return print(lines(table.lines(batch.map(row))));
  };
};

const eventCell = ({ event }: Shown, withEvent: boolean): readonly string[] => (withEvent && event !== undefined ? [event] : []);

const pathOf = ({ cluster, namespace, name }: AutoscalerView): string => `${cluster}/${namespace}/${name}`;

const documentsText = (batch: readonly Shown[], format: DocumentFormat, withEvent: boolean): Printed =>
  joined(
    batch.map(({ view, event }) => {
      const object = kubernetesObject(view);
      return text`${format === "yaml" ? text`---\n` : ""}${documentText(withEvent ? { type: event, object } : object, format)}`;
    }),
    "",
  );

/** As kubectl shows labels: "app=web,tier=front". */
const labelsText = (view: AutoscalerView): string =>
  Object.entries(labelsOf(view))
    .map(([key, value]) => `${key}=${value}`)
    .sort()
    .join(",") || "<none>";
