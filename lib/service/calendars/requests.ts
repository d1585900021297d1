import type { CalendarEdited, CalendarView } from "../../views/holds.ts";

export interface CalendarQueries {
  /** The calendars of the fleet, in order of name. */
  calendars(): Promise<readonly CalendarView[]>;
}

export interface CalendarCommands {
  /** Stores a calendar, or replaces the one of its name. Dates may be ranges, "2026-12-24/2026-12-31". Throws `service.invalid` with every fault. */
  putCalendar(calendar: CalendarView): Promise<CalendarEdited>;
  /** Deletes a calendar. Throws `service.unknown`, and `service.in-use` where a schedule names it, unless `force` is true. */
  deleteCalendar(name: string, force?: boolean): Promise<void>;
}
