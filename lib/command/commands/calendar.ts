import { textOfFile, textOfStream } from "../../embedded/host/text-file.ts";
import { readDates } from "../../rules/manifest/calendars/dates-file.ts";
import { type Day, dayText, DAY_MS } from "../../rules/model/time-text.ts";
import { lines, text } from "../../stack/report/printed.ts";
import type { CalendarView } from "../../answers/views/holds.ts";
import type { Io, Printer, Session } from "../io.ts";
import { type DocumentFormat, documentText } from "../output/documents.ts";
import { Table } from "../output/text-table.ts";

/** A calendar of public holidays of many years has some 100 KB. */
const FILE_BYTES_MAX = 4_000_000;

/**
 * The text of `-f`. It is read before the data folder is opened: the writer of the pipe may be a
 * command on the same folder.
 */
export const readCalendarFile = async (file: string, stdin: Io["stdin"]): Promise<string> =>
  file === "-"
    ? textOfStream("standard input", stdin, FILE_BYTES_MAX)
    : textOfFile(file, FILE_BYTES_MAX);

/** Windows that began a week ago may last, so that dates of the last month are kept. */
const DAYS_KEPT = 31;

export const put = async (
  { service, nowMs }: Session,
  printer: Printer,
  name: string,
  { file, written }: { readonly file: string; readonly written: string },
): Promise<void> => {
  const today = Math.floor(nowMs / DAY_MS);
  const { days, repeatsUntil } = readDates(file, written, today);
  const kept = [...new Set(days)]
    .filter((day) => day >= today - DAYS_KEPT)
    .toSorted((one, other) => one - other);
  if (kept.length < days.length && kept.length > 0)
    printer.note(text`dates before ${dayText(today - DAYS_KEPT)} are left out`);
  if (kept.length === 0 && days.length > 0)
    printer.report(text`warning: all dates of "${file}" are past`);
  const { dates, changed, added, removed } = await service.putCalendar({
    name,
    dates: (kept.length > 0 ? kept : days).map(dayText),
  });
  const from = `${dates.length} ${dates.length === 1 ? "date" : "dates"}`;
  await printer.print(
    changed
      ? text`Calendar ${name} stored: ${from} from ${dates[0] ?? ""} to ${dates.at(-1) ?? ""} (${added} new, ${removed} gone)\n`
      : text`Calendar ${name} has these ${from} already\n`,
  );
  if (repeatsUntil !== undefined)
    printer.note(
      text`events that repeat without an end are written out to ${dayText(repeatsUntil)}; put the file again before then`,
    );
};

export const list = async (
  { service, nowMs }: Session,
  printer: Printer,
  output: "table" | "dates" | DocumentFormat,
): Promise<void> => {
  const calendars = await service.calendars();
  const today = Math.floor(nowMs / DAY_MS);
  if (output !== "table" && output !== "dates")
    await printer.print(documentText(calendars, output));
  else if (calendars.length === 0) await printer.print(text`No calendars\n`);
  else if (output === "dates")
    await printer.print(
      lines(calendars.flatMap(({ name, dates }) => dates.map((date) => text`${date} # ${name}`))),
    );
  else
    await printer.print(
      lines(
        new Table(["NAME", "DATES", "NEXT", "LAST"]).lines(
          calendars.map((calendar) => rowOf(calendar, today)),
        ),
      ),
    );
};

const rowOf = ({ name, dates }: CalendarView, today: Day): readonly string[] => [
  name,
  String(dates.length),
  dates.find((date) => date >= dayText(today)) ?? "none: all are past",
  dates.at(-1) ?? "",
];

export const remove = async (
  { service }: Session,
  printer: Printer,
  name: string,
  { force }: { readonly force?: true },
): Promise<void> => {
  await service.deleteCalendar(name, force);
  await printer.print(text`Calendar ${name} deleted\n`);
};
