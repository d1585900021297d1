/** A calendar of dates that the fleet keeps. An entry of a schedule names it with `exceptFrom`. */
export interface CalendarView {
  readonly name: string;
  /** "2026-12-25", in order. */
  readonly dates: readonly string[];
}

export interface CalendarEdited extends CalendarView {
  /** False when nothing had to change. */
  readonly changed: boolean;
  /** Dates that the calendar did not have before, and that it has no longer. */
  readonly added: number;
  readonly removed: number;
}

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
