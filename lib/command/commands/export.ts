import { createWriteStream } from "node:fs";
import { mkdir, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { block, lines, type Printed, text } from "../../stack/report/printed.ts";
import { wholeHistory } from "../../answers/service/history/history.ts";
import type { Filter } from "../../answers/service/service.ts";
import { batches, printedJson } from "../output/documents.ts";
import type { Printer, Session } from "../io.ts";
import { listedRows } from "../select/listed-autoscalers.ts";
import { csvLine } from "../output/text-table.ts";
import { CSV_HEADER, eventCsv } from "../output/event-rows.ts";
import { filterOf, type ScopeOptions } from "../options/scope-options.ts";
import { lengthMs, rangeMs } from "../options/time-options.ts";
import { usage } from "../usage-error.ts";
import { openMetricsText } from "../../stack/report/open-metrics.ts";
import { labelNames } from "../../answers/service/series/autoscaler-series.ts";
import { chosenOf } from "./changes.ts";

const EXPORTED = ["events", "changes", "history"] as const;
type Exported = (typeof EXPORTED)[number];

export interface ExportOptions extends ScopeOptions {
  readonly since: string;
  readonly until?: string;
  readonly step: string;
  readonly only?: string;
  readonly format: "csv" | "jsonl";
  readonly output: string;
}

/** Reads `--only events,changes`, before anything is opened. */
export const exportedOf = ({ only }: Pick<ExportOptions, "only">): readonly Exported[] => {
  const names = only?.split(",").map((name) => name.trim());
  const unknown = names?.find((name) => !EXPORTED.some((known) => known === name));
  if (unknown !== undefined)
    throw usage(`Cannot export "${unknown}": give some of ${EXPORTED.join(", ")}`);
  return EXPORTED.filter((known) => names === undefined || names.includes(known));
};

interface Rows {
  readonly header: Printed;
  readonly rows: AsyncIterable<unknown>;
  readonly csv: (row: never) => Printed;
}

/**
 * Writes events, edits and history into files of a folder, one file each, batch by batch, so that
 * memory stays constant. A file gets its name when it is whole: one that was cut off has the ending
 * `.part`, and is written anew by the next call. A file that exists is refused, and nothing is
 * overwritten.
 */
export const exportAll = async (
  session: Session,
  printer: Printer,
  filter: Filter,
  options: ExportOptions,
): Promise<void> => {
  const { nowMs } = session;
  const range = rangeMs(options, nowMs, printer.note);
  const stretch = { sinceMs: range.sinceMs ?? 0, untilMs: range.untilMs ?? nowMs };
  const stepMs = lengthMs("--step", options.step);
  await mkdir(options.output, { recursive: true });
  for (const name of exportedOf(options)) {
    const file = join(options.output, `${name}.${options.format}`);
    const written = await writeRows(
      file,
      rowsOf(name, session, { filter, stretch, stepMs }),
      options.format,
      (count) => printer.progress(text`${name}: ${count}`),
    );
    printer.progress();
    await printer.print(text`${file}: ${written} ${name === "history" ? "points" : name}\n`);
  }
};

interface Wanted {
  readonly filter: Filter;
  readonly stretch: { readonly sinceMs: number; readonly untilMs: number };
  readonly stepMs: number;
}

const writeRows = async (
  file: string,
  { header, rows, csv }: Rows,
  format: "csv" | "jsonl",
  report: (count: number) => void,
): Promise<number> => {
  let count = 0;
  const part = `${file}.part`;
  // The file is made first and exclusively, so that two exports never write one, and none
  // overwrites what a person has.
  await writeFile(file, "", { flag: "wx" }).catch((cause: NodeJS.ErrnoException) => {
    throw cause.code === "EEXIST"
      ? usage(
          `Cannot write "${file}": it exists already; give another folder, or move the file away`,
        )
      : cause;
  });
  try {
    // What an earlier export left there, or a link to a file elsewhere: only the name is removed.
    await rm(part, { force: true });
    await pipeline(
      async function* () {
        if (format === "csv") yield lines([header]).written();
        for await (const batch of batches(rows)) {
          count += batch.length;
          report(count);
          yield lines(
            batch.map((row) => (format === "csv" ? csv(row as never) : printedJson(row))),
          ).written();
        }
      },
      createWriteStream(part, { flags: "wx" }),
    );
    await rename(part, file);
  } catch (error) {
    // The empty file only held the name.
    await rm(file, { force: true });
    throw error;
  }
  return count;
};

const rowsOf = (name: Exported, session: Session, wanted: Wanted): Rows => {
  const { service } = session;
  const { filter, stretch } = wanted;
  switch (name) {
    case "events":
      return { header: CSV_HEADER, rows: service.events({ ...filter, ...stretch }), csv: eventCsv };
    case "changes":
      return {
        header: csvLine(CHANGE_COLUMNS),
        rows: chosenOf(
          service.changes({ ...filter, sinceMs: stretch.sinceMs }),
          undefined,
          stretch.untilMs,
        ),
        csv: csvOf(CHANGE_COLUMNS),
      };
    case "history":
      return {
        header: csvLine(POINT_COLUMNS),
        rows: points(session, wanted),
        csv: csvOf(POINT_COLUMNS),
      };
  }
};

const CHANGE_COLUMNS = [
  "id",
  "at",
  "by",
  "scope",
  "cluster",
  "namespace",
  "name",
  "verb",
  "generation",
  "fields",
];
const POINT_COLUMNS = [
  ...["cluster", "namespace", "name", "at"],
  ...[
    "current",
    "wanted",
    "desired",
    "ready",
    "min",
    "max",
    "generation",
    "load",
    "held",
    "reason",
    "metrics",
  ],
];

/** Lists are JSON in their cell. */
const csvOf =
  (columns: readonly string[]) =>
  (row: Readonly<Record<string, string | number | readonly unknown[] | undefined>>): Printed =>
    csvLine(
      columns.map((column) =>
        Array.isArray(row[column])
          ? JSON.stringify(row[column])
          : (row[column] as string | number | undefined),
      ),
    );

/** The points of every autoscaler, one after the other. */
async function* points(
  { service }: Session,
  { filter, stretch, stepMs }: Wanted,
): AsyncGenerator<unknown> {
  for await (const { cluster, namespace, name } of listedRows(service, undefined, filter)) {
    const history = await wholeHistory(service, { cluster, namespace, name, ...stretch, stepMs });
    for (const point of history.points) yield { cluster, namespace, name, ...point };
  }
}

export interface SeriesOptions extends ScopeOptions {
  /** Label names, separated by blanks or commas. */
  readonly labels?: string;
}

/** Prints every series as OpenMetrics text, the same that a scraper reads. */
export const series = async (
  { service }: Session,
  printer: Printer,
  options: SeriesOptions,
): Promise<void> => {
  await printer.print(
    block(
      openMetricsText(
        await service.series({ ...filterOf(options), labels: labelNames(options.labels) }),
      ),
    ),
  );
};
