import { localText } from "../../rules/model/time-zone.ts";
import { CHANGES_AHEAD_MAX } from "../../rules/model/schedule.ts";
import type { BoundsChangeView } from "../../answers/views/schedule.ts";
import {
  boundsNowText,
  boundsChangeText,
  missingCalendarText,
} from "../../answers/words/schedule-words.ts";
import { instantText } from "../../stack/report/instant-text.ts";
import { lines, text } from "../../stack/report/printed.ts";
import type { Printer, Session } from "../io.ts";
import { type DocumentFormat, documentText } from "../output/documents.ts";
import { aligned } from "../output/text-table.ts";
import { queryFor, type NamedAutoscalerOfKind } from "../select/selected-names.ts";
import { futureMs } from "../options/time-options.ts";
import { usage } from "../usage-error.ts";

export interface ScheduleOptions {
  readonly next: string;
  readonly at?: string;
  readonly output: "table" | DocumentFormat;
}

/** Refuses a number that is none, before anything is opened. */
export const changesWanted = ({ next }: Pick<ScheduleOptions, "next">): number => {
  const most = Number(next);
  if (Number.isInteger(most) && most >= 1 && most <= CHANGES_AHEAD_MAX) return most;
  throw usage(`Cannot use --next "${next}": give a whole number from 1 to ${CHANGES_AHEAD_MAX}`);
};

/**
 * Prints the bounds of an autoscaler at an instant, and the changes that its schedule makes after
 * it.
 */
export const printSchedule = async (
  { service, nowMs }: Session,
  printer: Printer,
  resource: NamedAutoscalerOfKind,
  options: ScheduleOptions,
): Promise<void> => {
  const fromMs =
    options.at === undefined ? nowMs : futureMs("--at", options.at, nowMs, printer.note);
  const view = await service.schedule({
    ...(await queryFor(service, resource)),
    fromMs,
    most: changesWanted(options),
  });
  for (const { name } of view.missingCalendars)
    printer.report(text`warning: ${missingCalendarText(name)}`);
  if (options.output !== "table") {
    await printer.print(documentText(view, options.output));
    return;
  }
  const head = text`At ${instantText(fromMs)}: ${boundsNowText(view)}`;
  const table =
    view.changes.length === 0
      ? [text`No change within 400 days`]
      : aligned([["LOCAL TIME", "TIME", "MIN", "MAX", "WHAT"], ...view.changes.map(rowOf)]);
  await printer.print(lines([head, ...table]));
};

const rowOf = (change: BoundsChangeView): readonly string[] => {
  const { at, local, timeZone, min, max } = change;
  return [
    `${local} ${timeZone}`,
    instantText(Date.parse(at)),
    String(min.replicas),
    String(max.replicas),
    boundsChangeText(change, (until) => localText(timeZone, Date.parse(until))),
  ];
};
