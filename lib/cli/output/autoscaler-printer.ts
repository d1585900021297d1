import { joined, lines, type Printed, text, type Word } from "../../report/printed.ts";
import { type TableRow, tableRowOf } from "../../service/views/row-view.ts";
import type { AutoscalerView } from "../../views/autoscaler.ts";
import type { Printer, Session } from "../io.ts";
import { autoscalerColumns, autoscalerHeaders } from "./autoscaler-rows.ts";
import { type DocumentFormat, documentText } from "./document-text.ts";
import { kubernetesObject } from "./kubernetes-object.ts";
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

/** What happened to an autoscaler while it is watched, in the words of the Kubernetes API. */
export type WatchEvent = "ADDED" | "MODIFIED" | "DELETED";

/** An autoscaler, and while it is watched what happened to it. A document needs the whole autoscaler, a table its row. */
export interface Shown<Form = AutoscalerView> {
  readonly view: Form;
  readonly event?: WatchEvent;
}

export const isDocument = (format: RowFormat | DocumentFormat): format is DocumentFormat =>
  format !== "table" && format !== "wide" && format !== "name";

/** Prints autoscalers batch by batch: rows of one table, or each as a document. */
export const autoscalerPrinter = (session: Session, printer: Printer, options: RowOptions): ((batch: readonly Shown[]) => Promise<boolean>) => {
  const { output, outputWatchEvents } = options;
  if (isDocument(output)) return (batch) => printer.print(documentsText(batch, output, outputWatchEvents === true));
  const print = rowPrinter(session, printer, { ...options, output });
  return (batch) => print(batch.map(({ view, ...shown }) => ({ ...shown, view: tableRowOf(view) })));
};

/** Prints rows batch by batch, as one table. With `-o name` it is the path of each, which every command takes as a name. */
export const rowPrinter = (
  { clock, ended }: Session,
  { print, paint }: Printer,
  { output, headers, showLabels, outputWatchEvents }: RowOptions & { readonly output: RowFormat },
): ((batch: readonly Shown<TableRow>[]) => Promise<boolean>) => {
  const withEvent = outputWatchEvents === true;
  if (output === "name") return (batch) => print(lines(batch.map((shown) => joined([...eventCell(shown, withEvent), pathOf(shown.view)], "   "))));
  const wide = output === "wide";
  const header = [...(withEvent ? ["EVENT"] : []), ...autoscalerHeaders(wide), ...(showLabels ? ["LABELS"] : [])];
  const table = new Table(headers === false ? undefined : header);
  return (batch) => {
    const nowMs = clock();
    const row = (shown: Shown<TableRow>): readonly Word[] => [
      ...eventCell(shown, withEvent),
      ...autoscalerColumns(shown.view, nowMs, { paint, wide, isDeleted: shown.event === "DELETED", ended: ended === true }),
      ...(showLabels ? [labelsText(shown.view)] : []),
    ];
    return print(lines(table.lines(batch.map(row))));
  };
};

const eventCell = ({ event }: Pick<Shown, "event">, withEvent: boolean): readonly string[] => (withEvent && event !== undefined ? [event] : []);

const pathOf = ({ cluster, namespace, name }: TableRow): string => `${cluster}/${namespace}/${name}`;

const documentsText = (batch: readonly Shown[], format: DocumentFormat, withEvent: boolean): Printed =>
  joined(
    batch.map(({ view, event }) => {
      const object = kubernetesObject(view);
      return text`${format === "yaml" ? text`---\n` : ""}${documentText(withEvent ? { type: event, object } : object, format)}`;
    }),
    "",
  );

/** As kubectl shows labels: "app=web,tier=front". */
const labelsText = ({ labels = {} }: TableRow): string =>
  Object.entries(labels)
    .map(([key, value]) => `${key}=${value}`)
    .sort()
    .join(",") || "<none>";
