import { dayOf } from "../../lib/rules/model/time-text.ts";

/**
 * Zones with every kind of change: half an hour, around Ramadan, two hours, a day that is missing,
 * none, offsets of 45 minutes. With the first day of the sweep.
 */
export const SWEPT: readonly (readonly [
  zone: string,
  first: readonly [year: number, month: number, day: number],
])[] = [
  ["Australia/Lord_Howe", [2026, 1, 1]],
  ["Pacific/Apia", [2011, 1, 1]],
  ["Africa/Casablanca", [2026, 1, 1]],
  ["Antarctica/Troll", [2026, 1, 1]],
  ["America/New_York", [2026, 1, 1]],
  ["Europe/Berlin", [2026, 1, 1]],
  ["Asia/Kathmandu", [2026, 1, 1]],
  ["Pacific/Chatham", [2026, 1, 1]],
  ["America/St_Johns", [2026, 1, 1]],
  ["America/Sao_Paulo", [2017, 6, 1]],
  ["Asia/Beirut", [2022, 12, 1]],
  ["Asia/Gaza", [2026, 1, 1]],
  ["Africa/Cairo", [2026, 1, 1]],
  ["Asia/Tehran", [2021, 12, 1]],
  ["Europe/Moscow", [2010, 6, 1]],
  ["Pacific/Kiritimati", [1994, 6, 1]],
  ["Etc/UTC", [2026, 1, 1]],
];

export const DAY_MINUTES = 1_440;
/** 17 months. */
export const SWEPT_DAYS = 518;
/** The local clock may be this much ahead of UTC, or behind. */
const FARTHEST = 16 * 60;

export const firstDayOf = ([year, month, day]: readonly [number, number, number]): number => {
  const found = dayOf(year, month, day);
  if (found === undefined) throw new RangeError("no such day");
  return found;
};

/**
 * The local date and clock, in minutes, read with another format than the code under test reads.
 */
const localMinutes = (zone: string): ((utcMinute: number) => number) => {
  const format = new Intl.DateTimeFormat("en-US", {
    timeZone: zone,
    hourCycle: "h23",
    year: "numeric",
    month: "2-digit",
    day: "2-digit",
    hour: "2-digit",
    minute: "2-digit",
  });
  return (utcMinute) => {
    const [month = 0, day = 0, year = 0, hour = 0, minute = 0] = (
      format.format(utcMinute * 60_000).match(/\d+/g) ?? []
    ).map(Number);
    return Date.UTC(year, month - 1, day, hour, minute) / 60_000;
  };
};

/**
 * The first minute of UTC at which the local date and clock are at each wall time of these days or
 * past it, by looking at every minute in turn. `stepMinutes` is the distance of the wall times.
 */
export const scanned = (
  zone: string,
  {
    from,
    days,
    stepMinutes,
  }: { readonly from: number; readonly days: number; readonly stepMinutes: number },
) => {
  const local = localMinutes(zone);
  const first = new Map<number, number>();
  const [start, end] = [from * DAY_MINUTES, (from + days) * DAY_MINUTES];
  let next = start;
  for (let minute = start - FARTHEST; next < end; minute++) {
    const now = local(minute);
    for (; next <= now && next < end; next += stepMinutes) first.set(next, minute);
  }
  return first;
};
