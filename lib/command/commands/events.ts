import { joined, lines, type Printed } from "../../stack/report/printed.ts";
import type { EventQuery } from "../../answers/service/service.ts";
import type { EventCount, EventView } from "../../answers/views/event.ts";
import {
  batches,
  EMPTY,
  listWriter,
  printList,
  separator,
  type Writer,
} from "../output/documents.ts";
import {
  clustersMatching,
  queryForPast,
  type NamedAutoscalerOfKind,
} from "../select/selected-names.ts";
import {
  type Printer,
  type Session,
  type CommandSurroundings,
  watch,
  type Watching,
} from "../io.ts";
import type { TemplateFormat } from "../jsonpath/format.ts";
import { csvLine, Table } from "../output/text-table.ts";
import {
  COUNT_FIELDS,
  CSV_HEADER,
  countCells,
  EVENT_HEADERS,
  eventCsv,
  eventRow,
  WIDE_EVENT_HEADERS,
  wideEventRow,
} from "../output/event-rows.ts";
import { whyLines } from "../output/explain-sheet.ts";
import { checkListed, filterOf, type PastOptions } from "../options/scope-options.ts";
import { rangeMs } from "../options/time-options.ts";
import { usage } from "../usage-error.ts";

export interface EventsOptions extends PastOptions {
  readonly watch?: true;
  /** False for --no-headers. */
  readonly headers?: boolean;
  /** Below each event its metrics and what limited its size. */
  readonly why?: true;
  /** Counts in place of events. */
  readonly by?: "month";
  readonly output:
    | "table"
    | "wide"
    | "jsonl"
    | "json"
    | "yaml"
    | "csv"
    | "cloudevents"
    | TemplateFormat;
}

const WATCHED_FORMATS: ReadonlySet<string> = new Set([
  "table",
  "wide",
  "jsonl",
  "csv",
  "cloudevents",
]);

/** Refuses options that contradict each other, before anything is opened. */
export const checkOptions = (
  resource: NamedAutoscalerOfKind | undefined,
  options: EventsOptions,
): void => {
  const { until, output } = options;
  checkListed("events", resource?.name, options);
  if (options.by !== undefined) checkCounts(options.by, options);
  if (options.watch) checkWatch(until, output);
  if (options.why && output !== "table" && output !== "wide")
    throw usage(
      `Cannot use --why with --output "${output}": documents have metrics and steps anyway`,
    );
};

const checkCounts = (by: string, { watch: isWatched, why, output }: EventsOptions): void => {
  const other = isWatched
    ? "--watch"
    : why
      ? "--why"
      : output === "wide" || output === "cloudevents"
        ? `--output ${output}`
        : undefined;
  if (other !== undefined)
    throw usage(`Cannot use --by ${by} with ${other}: it prints counts and no event`);
};

const checkWatch = (until: string | undefined, output: string): void => {
  if (until !== undefined)
    throw usage(`Cannot use --watch and --until "${until}" together: the list goes on`);
  if (!WATCHED_FORMATS.has(output))
    throw usage(
      `Cannot use --watch with --output "${output}": the list has no end; give table, wide, jsonl, csv or cloudevents`,
    );
};

/**
 * Prints scale events, oldest first, with one batch in memory; with `--watch` also those that come,
 * until Ctrl-C.
 */
export const events = async (
  session: Session,
  { printer, io }: CommandSurroundings<Watching>,
  resource: NamedAutoscalerOfKind | undefined,
  options: EventsOptions,
): Promise<void> => {
  const { service, nowMs } = session;
  const query: EventQuery = {
    ...(resource === undefined ? filterOf(options) : await queryForPast(service, resource)),
    ...rangeMs(options, nowMs, printer.note),
  };
  const chosen =
    options.clusters === undefined ? undefined : await clustersMatching(service, options.clusters);
  const { output, headers } = options;
  const printAll = async <Item>(items: AsyncIterable<Item>, write: Writer<Item>): Promise<void> => {
    const isEmpty = await printList(printer, items, write);
    if (isEmpty && output === "table") printer.report("No scale events");
  };
  if (options.by !== undefined)
    return printAll(inClusters(service.eventCounts(query), chosen), countWriter(output, headers));
  const list = (from: EventQuery) => inClusters(service.events(from), chosen);
  const write =
    output === "cloudevents" ? await cloudEventWriter() : writerFor(options, session, printer);
  if (!options.watch) return printAll(list(query), write);
  const unprinted = unprintedEvents();
  await watch(io, async (isFirst) => {
    const backMs = Math.max(query.sinceMs ?? 0, session.clock() - LOOK_BACK_MS);
    const unseen = unprinted(list(isFirst ? query : { ...query, sinceMs: backMs }), backMs);
    for await (const batch of batches(unseen))
      if (!(await printer.print(write.batch(batch)))) return false;
    return true;
  });
};

/** How many events each autoscaler had in each month. */
const countWriter = (output: EventsOptions["output"], headers?: boolean): Writer<EventCount> => {
  if (output === "csv")
    return csvWriter(csvLine(COUNT_FIELDS), (count) => csvLine(countCells(count)), headers);
  if (output !== "table" && output !== "wide" && output !== "cloudevents")
    return listWriter(output);
  const table = new Table(
    headers === false ? undefined : COUNT_FIELDS.map((field) => field.toUpperCase()),
  );
  return { batch: (batch) => lines(table.lines(batch.map(countCells))) };
};

async function* inClusters<Of extends { readonly cluster: string }>(
  all: AsyncIterable<Of>,
  chosen: ReadonlySet<string> | undefined,
): AsyncGenerator<Of> {
  for await (const event of all) if (chosen === undefined || chosen.has(event.cluster)) yield event;
}

/**
 * An event is stored when its outcome is known, which can be minutes after its decision when a sync
 * died. Each look goes back as far.
 */
const LOOK_BACK_MS = 600_000;

/**
 * Passes on what the list before did not have. Events older than the next look will reach need not
 * be remembered.
 */
const unprintedEvents = () => {
  let printed: ReadonlySet<string> = new Set();
  return async function* (
    all: AsyncIterable<EventView>,
    backMs: number,
  ): AsyncGenerator<EventView> {
    const seen = new Set<string>();
    for await (const event of all) {
      if (Date.parse(event.at) >= backMs) seen.add(event.id);
      if (!printed.has(event.id)) yield event;
    }
    printed = seen;
  };
};

/** One event in the JSON of CloudEvents a line, as a bus gets it. */
const cloudEventWriter = async (): Promise<Writer<EventView>> => {
  const { scaleEventOf } = await import("../../answers/cloud-events/scale.ts");
  const { batch } = listWriter("jsonl");
  return { batch: (views) => batch(views.map((view) => scaleEventOf(view))) };
};

const writerFor = (
  options: EventsOptions,
  session: Session,
  printer: Printer,
): Writer<EventView> => {
  const { output, headers } = options;
  if (output === "table" || output === "wide") return tableWriter(session, printer, options);
  if (output === "cloudevents")
    throw new RangeError("events in the form of CloudEvents have a writer of their own");
  return output === "csv" ? csvWriter(CSV_HEADER, eventCsv, headers) : listWriter(output);
};

const tableWriter = (
  { clock }: Session,
  { paint }: Printer,
  { output, headers, why }: EventsOptions,
): Writer<EventView> => {
  const [names, rowOf] =
    output === "wide" ? [WIDE_EVENT_HEADERS, wideEventRow] : [EVENT_HEADERS, eventRow];
  const table = new Table(headers === false ? undefined : names);
  return {
    batch: (batch) => {
      const nowMs = clock();
      const rows = table.lines(batch.map((event) => rowOf(event, nowMs, paint)));
      if (!why) return lines(rows);
      // The first batch begins with the header.
      const before = rows.length - batch.length;
      return lines([
        ...rows.slice(0, before),
        ...batch.flatMap((event, at) => [rows[before + at] ?? "", ...whyLines(event, paint)]),
      ]);
    },
  };
};

const csvWriter = <Item>(
  columns: Printed,
  lineOf: (item: Item) => Printed,
  headers?: boolean,
): Writer<Item> => {
  const header = separator(headers === false ? EMPTY : lines([columns]), EMPTY);
  return { batch: (batch) => joined([header(), lines(batch.map(lineOf))]), end: header };
};
