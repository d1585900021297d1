import { dayText } from "../../model/calendar-day.ts";
import type { Calendar, ScheduleEntry } from "../../model/schedule.ts";
import type { AutoscalerSpec } from "../../model/spec.ts";
import { localDay } from "../../model/time-zone.ts";
import { type Finding, outlookOf } from "../../policy/bounds/outlook.ts";
import type { ManifestInput } from "./manifest-inputs.ts";

export const namesCalendar = ({ schedule = [] }: Pick<AutoscalerSpec, "schedule">): boolean =>
  schedule.some(({ exceptFrom }) => exceptFrom !== undefined);

interface Known {
  readonly calendars: readonly Calendar[];
  readonly nowMs: number;
}

/** What an apply says of a schedule after a look 400 days ahead: lines of a refusal, and warnings, each with its field. */
export const scheduleOutlook = ({ where, lineOf }: Pick<ManifestInput, "where" | "lineOf">, spec: AutoscalerSpec, { calendars, nowMs }: Known) => {
  if (!spec.schedule) return { refused: [], warnings: [] };
  const { refused, warnings } = outlookOf(spec, calendars, nowMs);
  const at = (field: string): string => {
    const line = lineOf(field);
    return `${line === undefined ? "" : `, line ${line}`}: ${field}`;
  };
  const atEntry = ({ index, message }: Finding): string => `${at(`spec.schedule[${index}]`)}: ${message}`;
  const atCalendar = ({ index, message }: Finding): string => `${at(`spec.schedule[${index}].exceptFrom`)}: ${message}`;
  const [unknown, ended] = [unknownCalendars(spec.schedule, calendars), endedCalendars(spec.schedule, { calendars, nowMs })];
  return {
    refused: [...unknown.map(atCalendar), ...refused.map(atEntry)].map((words) => `Cannot accept "${where}"${words}`),
    warnings: [...ended.map(atCalendar), ...warnings.map(atEntry)].map((words) => `"${where}"${words}`),
  };
};

/** A name without a calendar is a slip of the pen more often than a calendar to come. */
const unknownCalendars = (schedule: readonly ScheduleEntry[], calendars: readonly Calendar[]): readonly Finding[] =>
  schedule.flatMap(({ exceptFrom }, index) => {
    if (exceptFrom === undefined || calendars.some(({ name }) => name === exceptFrom)) return [];
    const names = calendars.map(({ name }) => name).join(", ");
    const known = names === "" ? "the fleet has none" : `the fleet has ${names}`;
    const message = `there is no calendar "${exceptFrom}", and ${known}; correct the name, or run tidemark calendar put ${exceptFrom} -f FILE first`;
    return [{ index, message }];
  });

/** A calendar whose dates are all past excepts nothing any more, and nobody looks at a calendar that once worked. */
const endedCalendars = (schedule: readonly ScheduleEntry[], { calendars, nowMs }: Known): readonly Finding[] =>
  schedule.flatMap(({ exceptFrom, timeZone, suspended }, index) => {
    const last = calendars.find(({ name }) => name === exceptFrom)?.days.at(-1);
    if (suspended || last === undefined || last >= localDay(timeZone, nowMs)) return [];
    return [{ index, message: `the last date of calendar "${exceptFrom}" is ${dayText(last)}, which is past; put later dates` }];
  });
