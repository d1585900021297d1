import type { EventQuery } from "../../service/service.ts";
import type { EventView } from "../../service/views.ts";
import { batches } from "../batches.ts";
import type { Printer, Session } from "../io.ts";
import { documentText } from "../output/document.ts";
import { CSV_HEADER, EVENT_HEADERS, eventCsv, eventRow } from "../output/event-rows.ts";
import { Table } from "../output/table.ts";
import { pastMs } from "../since.ts";
import { usage } from "../usage.ts";

export interface EventsOptions {
  readonly all?: true;
  readonly since?: string;
  readonly namespace?: string;
  readonly cluster?: string;
  readonly output: "table" | "jsonl" | "json" | "yaml" | "csv";
}

/** Rows that share one reckoning of column widths and one write. */
const BATCH = 200;

/** Prints scale events, oldest first; whatever the number, one batch of them is in memory. */
export const events = async ({ service, nowMs }: Session, printer: Printer, name: string | undefined, options: EventsOptions): Promise<void> => {
  if (name === undefined && !options.all) throw usage("Cannot list events: give the NAME of an autoscaler, or --all");
  if (name !== undefined && options.all) throw usage(`Cannot list events: "${name}" and --all exclude each other`);
  const query: EventQuery = {
    ...(name === undefined ? {} : { name }),
    ...(options.namespace === undefined ? {} : { namespace: options.namespace }),
    ...(options.cluster === undefined ? {} : { cluster: options.cluster }),
    ...(options.since === undefined ? {} : { sinceMs: pastMs("--since", options.since, nowMs) }),
  };
  const write = WRITERS[options.output](nowMs, printer);
  for await (const batch of batches(service.events(query), BATCH)) if (!(await printer.print(write.batch(batch)))) return;
  await printer.print(write.end());
};

interface Writer {
  batch(events: readonly EventView[]): string;
  end(): string;
}

type WriterOf = (nowMs: number, printer: Printer) => Writer;

const lines = (all: readonly string[]): string => all.map((line) => `${line}\n`).join("");

/** What stands before the first item and before every other one. */
const separator = (first: string, next: string): (() => string) => {
  let before = first;
  return () => {
    const taken = before;
    before = next;
    return taken;
  };
};

const WRITERS: Readonly<Record<EventsOptions["output"], WriterOf>> = {
  table: (nowMs, { paint }) => {
    const table = new Table(EVENT_HEADERS);
    const nothing = separator("No scale events\n", "");
    return {
      batch: (batch) => {
        nothing();
        return lines(table.lines(batch.map((event) => eventRow(event, nowMs, paint))));
      },
      end: nothing,
    };
  },
  jsonl: () => ({ batch: (batch) => lines(batch.map((event) => JSON.stringify(event))), end: () => "" }),
  json: () => {
    const before = separator("[\n", ",\n");
    return {
      batch: (batch) => batch.map((event) => `${before()}${JSON.stringify(event)}`).join(""),
      end: () => (before() === "[\n" ? "[]\n" : "\n]\n"),
    };
  },
  yaml: () => {
    const nothing = separator("[]\n", "");
    return {
      batch: (batch) => {
        nothing();
        return documentText(batch, "yaml");
      },
      end: nothing,
    };
  },
  csv: () => {
    const header = separator(`${CSV_HEADER}\n`, "");
    return { batch: (batch) => header() + lines(batch.map(eventCsv)), end: header };
  },
};
