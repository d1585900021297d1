import type { Filter } from "../../service/service.ts";
import { toArray } from "../../service/to-array.ts";
import { batches } from "../batches.ts";
import type { Printer, Session } from "../io.ts";
import { AUTOSCALER_HEADERS, autoscalerRow } from "../output/autoscaler-rows.ts";
import { documentText } from "../output/document-text.ts";
import { kubernetesList, kubernetesObject } from "../output/kubernetes-object.ts";
import { Table } from "../output/text-table.ts";

export interface GetOptions extends Filter {
  readonly output: "table" | "json" | "yaml";
}

/** Rows that are formatted and written together. */
const BATCH = 200;

/** Prints one autoscaler, or the list. As a document, each is an object that can be applied again; a list is a `List` of them. */
export const get = async (session: Session, printer: Printer, name: string | undefined, { output, ...filter }: GetOptions): Promise<void> => {
  const { service, nowMs } = session;
  if (name !== undefined) {
    const view = await service.get({ ...filter, name });
    await printer.print(
      output === "table"
        ? rows(new Table(AUTOSCALER_HEADERS).lines([autoscalerRow(view, nowMs, printer.paint)]))
        : documentText(kubernetesObject(view), output),
    );
    return;
  }
  if (output !== "table") {
    await printer.print(documentText(kubernetesList(await toArray(service.autoscalers(filter))), output));
    return;
  }
  const table = new Table(AUTOSCALER_HEADERS);
  let empty = true;
  for await (const batch of batches(service.autoscalers(filter), BATCH)) {
    empty = false;
    if (!(await printer.print(rows(table.lines(batch.map((view) => autoscalerRow(view, nowMs, printer.paint))))))) return;
  }
  if (empty) await printer.print(`No autoscalers${filter.namespace === undefined ? "" : ` in namespace "${filter.namespace}"`}\n`);
};

const rows = (lines: readonly string[]): string => lines.map((line) => `${line}\n`).join("");
