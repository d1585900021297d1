import { withLocalTimes } from "../../report/instant-text.ts";
import { lines, type Printed, text } from "../../report/printed.ts";
import type { Filter } from "../../service/service.ts";
import { wholeShadow, verdictOf } from "../../service/shadow/join-shadow.ts";
import type { ShadowStretch, ShadowView } from "../../views/over-time.ts";
import type { Printer, Session } from "../io.ts";
import { listedRows } from "../select/listed-autoscalers.ts";
import { csvLine, Table } from "../output/text-table.ts";
import { documentText } from "../output/document-text.ts";
import { listOf } from "../output/kubernetes-object.ts";
import { SHADOW_HEADERS, shadowRow, shadowSheet, verdictsLine } from "../output/shadow-sheet.ts";
import { queryFor, type Resource } from "../select/selected-names.ts";
import { rangeMs } from "../options/time-options.ts";

export interface ShadowOptions {
  readonly since: string;
  readonly until?: string;
  readonly output: "text" | "json" | "csv";
}

/** Prints the comparison of one autoscaler, or a line for each that is in the state shadow. */
export const shadow = async (session: Session, printer: Printer, of: Resource | Filter, options: ShadowOptions): Promise<void> => {
  const { service, nowMs } = session;
  const stretch = rangeMs(options, nowMs, printer.note);
  if ("name" in of) {
    const view = await wholeShadow(service, { ...(await queryFor(service, of)), ...stretch });
    await printer.print(
      options.output === "json" ? documentText(judged(view), "json") : textOf([view], options.output, () => shadowSheet(withLocalTimes(view))),
    );
    return;
  }
  const views: ShadowView[] = [];
  for await (const { cluster, namespace, name: each, state } of listedRows(service, undefined, of)) {
    if (state === "shadow") views.push(await wholeShadow(service, { cluster, namespace, name: each, ...stretch }));
  }
  await printer.print(textOf(views, options.output, () => tableOf(views)));
};

const textOf = (views: readonly ShadowView[], format: ShadowOptions["output"], sheet: () => Printed): Printed => {
  if (format === "json") return documentText(listOf(views.map(judged)), "json");
  return format === "csv" ? lines([CSV_HEADER, ...views.flatMap((view) => view.stretches.map((stretch) => csvRow(view, stretch)))]) : sheet();
};

const judged = (view: ShadowView) => ({ ...view, ...verdictOf(view) });

const tableOf = (views: readonly ShadowView[]): Printed =>
  views.length === 0
    ? text`No autoscaler is in the state shadow\n`
    : lines([...new Table(SHADOW_HEADERS).lines(views.map(shadowRow)), "", verdictsLine(views)]);

const CSV_COLUMNS = ["at", "until", "syncs", "current", "own", "rival", "difference", "reason", "message", "rivalReason", "rivalMessage"] as const;
const CSV_HEADER = ["cluster", "namespace", "name", ...CSV_COLUMNS].join(",");

const csvRow = ({ cluster, namespace, name }: ShadowView, stretch: ShadowStretch): Printed =>
  csvLine([cluster, namespace, name, ...CSV_COLUMNS.map((column) => String(stretch[column] ?? ""))]);
