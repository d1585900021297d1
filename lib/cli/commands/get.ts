import type { Filter, Service } from "../../service/service.ts";
import { toArray } from "../../service/to-array.ts";
import type { AutoscalerView } from "../../service/views/autoscaler-view.ts";
import { batches } from "../batches.ts";
import { forEachResource } from "../each-resource.ts";
import type { Printer, Session } from "../io.ts";
import { AUTOSCALER_HEADERS, autoscalerRow } from "../output/autoscaler-rows.ts";
import { documentText } from "../output/document-text.ts";
import { kindOf, kubernetesList, kubernetesObject } from "../output/kubernetes-object.ts";
import { lines } from "../output/list-writers.ts";
import { Table } from "../output/text-table.ts";
import { mustHaveKind, type Resource, type Selection } from "../selected-names.ts";

export interface GetOptions extends Filter {
  readonly output: "table" | "json" | "yaml";
}

/** Rows that are formatted and written together. */
const BATCH = 200;

/** Prints the autoscalers with these names, or the list. As a document, each is an object that can be applied again; several are a `List` of them. */
export const get = async (session: Session, printer: Printer, selection: Selection, options: GetOptions): Promise<void> => {
  const { resources } = selection;
  if (resources.length > 0) return getNamed(session, printer, resources, options);
  const views = listed(session.service, selection, options);
  if (options.output === "table") return printTable(session, printer, views, options);
  await printer.print(documentText(kubernetesList(await toArray(views)), options.output));
};

const getNamed = async (session: Session, printer: Printer, resources: readonly Resource[], { output, ...filter }: GetOptions): Promise<void> => {
  const views: AutoscalerView[] = [];
  const print = async (): Promise<void> => {
    const [first] = views;
    if (!first) return;
    if (output === "table") await printTable(session, printer, views, { output, ...filter });
    else await printer.print(documentText(resources.length === 1 ? kubernetesObject(first) : kubernetesList(views), output));
  };
  try {
    await forEachResource(resources, async ({ kind, ...query }) => {
      views.push(mustHaveKind(await session.service.get(query), kind));
    });
  } finally {
    await print();
  }
};

async function* listed(service: Service, { kind }: Selection, { cluster, namespace }: GetOptions): AsyncGenerator<AutoscalerView> {
  const filter = { ...(cluster !== undefined && { cluster }), ...(namespace !== undefined && { namespace }) };
  for await (const view of service.autoscalers(filter)) if (kind === undefined || kindOf(view) === kind) yield view;
}

const printTable = async (
  { nowMs }: Session,
  printer: Printer,
  views: AsyncIterable<AutoscalerView> | readonly AutoscalerView[],
  { namespace }: GetOptions,
): Promise<void> => {
  const table = new Table(AUTOSCALER_HEADERS);
  let empty = true;
  for await (const batch of batches(views, BATCH)) {
    empty = false;
    if (!(await printer.print(lines(table.lines(batch.map((view) => autoscalerRow(view, nowMs, printer.paint))))))) return;
  }
  if (empty) await printer.print(`No autoscalers${namespace === undefined ? "" : ` in namespace "${namespace}"`}\n`);
};
