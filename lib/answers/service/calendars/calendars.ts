import { type Day, dayText } from "../../../rules/model/time-text.ts";
import { TidemarkError } from "../../../rules/model/errors.ts";
import type { ClusterName } from "../../../rules/model/ids.ts";
import type { AutoscalerRecord, FleetRecord } from "../../../rules/model/records.ts";
import {
  ALL_CALENDAR_DATES_MAX,
  CALENDAR_DATES_MAX,
  CALENDAR_NAME,
  CALENDARS_MAX,
  type Calendar,
  readRange,
} from "../../../rules/model/schedule.ts";
import { listAutoscalers } from "../../../stack/store/records/autoscalers.ts";
import { getFleet, listClusters } from "../../../stack/store/records/clusters.ts";
import { CLUSTERS_AT_ONCE, eachInGroups } from "../../../stack/store/table/wait-for-all.ts";
import type { CalendarEdited, CalendarView } from "../../views/holds.ts";
import { readableSpec } from "../stored-spec.ts";
import { editFleet } from "../clusters/fleet.ts";
import type { QueryContext, ServiceContext } from "../context.ts";
import { invalid, unknown } from "../refusals.ts";

const viewOf = ({ name, days }: Calendar): CalendarView => ({ name, dates: days.map(dayText) });

export const calendars = async ({ tables }: QueryContext): Promise<readonly CalendarView[]> =>
  ((await getFleet(tables)).calendars ?? []).map(viewOf);

/**
 * Stores a calendar, or replaces the one of its name. Throws `service.invalid` with every fault,
 * `service.conflict`.
 */
export const putCalendar = async (
  context: ServiceContext,
  { name, dates }: CalendarView,
): Promise<CalendarEdited> => {
  const read = dates.map((text) => ({ text, days: daysOf(text) }));
  const days = [...new Set(read.flatMap((each) => each.days ?? []))].toSorted(
    (one, other) => one - other,
  );
  mustHaveNoFault(name, [
    ...(new RegExp(CALENDAR_NAME).test(name)
      ? []
      : ["the name must be small letters, digits and -, at most 63"]),
    ...read.flatMap((each) =>
      each.days
        ? []
        : [
            `"${each.text}" is no date; write one like 2026-12-25, or a range like 2026-12-24/2026-12-31`,
          ],
    ),
    ...(read.length === 0 ? ["it has no dates"] : []),
    ...(days.length > CALENDAR_DATES_MAX
      ? [`it has ${days.length} dates, and the limit is ${CALENDAR_DATES_MAX}; leave out past ones`]
      : []),
  ]);
  let before: readonly Day[] = [];
  const { changed } = await editFleet(context, "put-calendar", (record) => {
    const stored = record.calendars ?? [];
    before = stored.find((one) => one.name === name)?.days ?? [];
    if (before.join() === days.join()) return undefined;
    const others = stored.filter((one) => one.name !== name);
    mustHaveNoFault(name, roomFaults(others, days.length));
    return {
      ...record,
      calendars: [...others, { name, days }].toSorted((one, other) =>
        one.name < other.name ? -1 : 1,
      ),
    };
  });
  const missing = (ones: readonly Day[], others: readonly Day[]): number =>
    ones.filter((day) => !others.includes(day)).length;
  return {
    ...viewOf({ name, days }),
    changed,
    added: missing(days, before),
    removed: missing(before, days),
  };
};

/**
 * The days of a date or a range; undefined for any other text. Of a range that is too long only as
 * many as show it.
 */
const daysOf = (text: string): readonly Day[] | undefined => {
  const range = readRange(text);
  if (!range || range.last < range.first) return undefined;
  return Array.from(
    { length: Math.min(range.last - range.first, CALENDAR_DATES_MAX) + 1 },
    (_, after) => range.first + after,
  );
};

const roomFaults = (others: readonly Calendar[], more: number): readonly string[] => {
  const all = others.reduce((sum, { days }) => sum + days.length, more);
  return [
    ...(others.length >= CALENDARS_MAX
      ? [`the fleet has ${others.length} calendars, and the limit is ${CALENDARS_MAX}; delete one`]
      : []),
    ...(all > ALL_CALENDAR_DATES_MAX
      ? [
          `all calendars would have ${all} dates, and the limit is ${ALL_CALENDAR_DATES_MAX}, because each sync reads them; leave out past ones`,
        ]
      : []),
  ];
};

const mustHaveNoFault = (name: string, faults: readonly string[]): void => {
  if (faults.length > 0)
    throw invalid(`Cannot store calendar "${name}": ${faults.join("; ")}`, { name });
};

/**
 * Deletes a calendar. By force also one that schedules name: their autoscalers then hold. Throws
 * `service.unknown`, `service.in-use`, `service.conflict`.
 */
export const deleteCalendar = async (
  context: ServiceContext,
  name: string,
  force = false,
): Promise<void> => {
  const mustExist = ({ calendars: stored = [] }: FleetRecord): readonly Calendar[] => {
    if (stored.some((one) => one.name === name)) return stored;
    throw unknown(`Cannot find calendar "${name}": run tidemark calendar list`, { name });
  };
  mustExist(await getFleet(context.tables));
  if (!force) await mustBeUnused(context, name);
  await editFleet(context, "delete-calendar", (record) => {
    const left = mustExist(record).filter((one) => one.name !== name);
    const { calendars: _all, ...rest } = record;
    return left.length === 0 ? rest : { ...rest, calendars: left };
  });
};

const mustBeUnused = async (context: ServiceContext, name: string): Promise<void> => {
  const user = await firstUser(context, name);
  if (user === undefined) return;
  const words = `the schedule of "${user}" names it, and it would hold; change the schedule first, or give --force`;
  throw new TidemarkError("service.in-use", `Cannot delete calendar "${name}": ${words}`, { name });
};

/**
 * The first autoscaler whose schedule names the calendar. Those that cannot be read hold, and need
 * no calendar.
 */
const firstUser = async ({ tables }: ServiceContext, name: string): Promise<string | undefined> => {
  const clusters = (await Array.fromAsync(listClusters(tables))).flatMap((item) =>
    item.kind === "read" ? [item.record.name] : [],
  );
  const userIn = async (cluster: ClusterName): Promise<string | undefined> => {
    for await (const item of listAutoscalers(tables, cluster))
      if (item.kind === "read" && isUser(item.record, name))
        return `${cluster}/${item.record.namespace}/${item.record.name}`;
    return undefined;
  };
  for await (const user of eachInGroups(clusters, CLUSTERS_AT_ONCE, userIn))
    if (user !== undefined) return user;
  return undefined;
};

const isUser = (record: AutoscalerRecord, calendar: string): boolean => {
  if (!record.manifest.includes('"exceptFrom"')) return false;
  return readableSpec(record)?.schedule?.some(({ exceptFrom }) => exceptFrom === calendar) === true;
};
