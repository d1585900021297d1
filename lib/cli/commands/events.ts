import type { EventQuery } from "../../service/service.ts";
import type { EventView } from "../../service/views/autoscaler-view.ts";
import { batches } from "../batches.ts";
import type { Printer, Session } from "../io.ts";
import { CSV_HEADER, EVENT_HEADERS, eventCsv, eventRow } from "../output/event-rows.ts";
import { lines, listWriter, separator, type Writer } from "../output/list-writers.ts";
import { Table } from "../output/text-table.ts";
import { pastMs } from "../time-options.ts";
import { usage } from "../usage-error.ts";

export interface EventsOptions {
  readonly all?: true;
  readonly since?: string;
  readonly namespace?: string;
  readonly cluster?: string;
  readonly output: "table" | "jsonl" | "json" | "yaml" | "csv";
}

/** Rows that are formatted and written together. */
const BATCH = 200;

/** Prints scale events, oldest first, with one batch in memory. */
export const events = async ({ service, nowMs }: Session, printer: Printer, name: string | undefined, options: EventsOptions): Promise<void> => {
  if (name === undefined && !options.all) throw usage("Cannot list events: give the name of an autoscaler, or --all");
  if (name !== undefined && options.all) throw usage(`Cannot list events: "${name}" and --all cannot be used together`);
  const query: EventQuery = {
    ...(name === undefined ? {} : { name }),
    ...(options.namespace === undefined ? {} : { namespace: options.namespace }),
    ...(options.cluster === undefined ? {} : { cluster: options.cluster }),
    ...(options.since === undefined ? {} : { sinceMs: pastMs("--since", options.since, nowMs) }),
  };
  const write = writerFor(options.output, nowMs, printer);
  for await (const batch of batches(service.events(query), BATCH)) if (!(await printer.print(write.batch(batch)))) return;
  await printer.print(write.end());
};

const writerFor = (format: EventsOptions["output"], nowMs: number, printer: Printer): Writer<EventView> => {
  if (format === "table") return tableWriter(nowMs, printer);
  return format === "csv" ? csvWriter() : listWriter(format);
};

const tableWriter = (nowMs: number, { paint }: Printer): Writer<EventView> => {
  const table = new Table(EVENT_HEADERS);
  const nothing = separator("No scale events\n", "");
  return {
    batch: (batch) => {
      nothing();
      return lines(table.lines(batch.map((event) => eventRow(event, nowMs, paint))));
    },
    end: nothing,
  };
};

const csvWriter = (): Writer<EventView> => {
  const header = separator(`${CSV_HEADER}\n`, "");
  return { batch: (batch) => header() + lines(batch.map(eventCsv)), end: header };
};
