import { clockText, type Day, dayText, MINUTE_MS, DAY_MS } from "./time-text.ts";
import { nearestName } from "./nearest-name.ts";

/*
 * The only place that reads the zone data of the runtime (ICU, as `Intl` has it). It asks the
 * offset of a zone at an instant that it is given, and never the present time: like arithmetic, the
 * answer depends only on its arguments. So rules may ask it. The version of the data is in the line
 * of each sync (lib/stack/sync), because old data is wrong without an error.
 */

const OFFSET = /GMT(?:([+-])(\d{2}):(\d{2})(?::(\d{2}))?)?$/;

const offsetIn = (format: Intl.DateTimeFormat, atMs: number): number => {
  const [, sign, hours = "0", minutes = "0", seconds = "0"] =
    OFFSET.exec(format.format(atMs)) ?? [];
  const ahead = ((Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds)) * 1000;
  return sign === "-" ? -ahead : ahead;
};

/**
 * The offsets at both ends of a day of UTC, and where the second one begins. No zone has changed
 * its offset twice within three days since 1970.
 */
interface DayOffsets {
  readonly first: number;
  readonly last: number;
  /** The first instant with the offset `last`; the begin of the day where nothing changes. */
  readonly changedMs: number;
}

interface Zone {
  readonly format: Intl.DateTimeFormat;
  readonly days: Map<number, DayOffsets>;
}

/** Days that are remembered of one zone: ten years. */
const DAYS_MAX = 3_660;
const ZONES = new Map<string, Zone>();

const zoneOf = (name: string): Zone => {
  const known = ZONES.get(name);
  if (known) return known;
  const zone = {
    format: new Intl.DateTimeFormat("en", { timeZone: name, timeZoneName: "longOffset" }),
    days: new Map<number, DayOffsets>(),
  };
  ZONES.set(name, zone);
  return zone;
};

const offsetsOn = (zone: Zone, day: number): DayOffsets => {
  const known = zone.days.get(day);
  if (known) return known;
  if (zone.days.size >= DAYS_MAX) zone.days.clear();
  const first = offsetIn(zone.format, day * DAY_MS);
  const last = offsetIn(zone.format, (day + 1) * DAY_MS);
  const offsets = {
    first,
    last,
    changedMs: first === last ? day * DAY_MS : changeIn(zone.format, day, first),
  };
  zone.days.set(day, offsets);
  return offsets;
};

/** Offsets change at whole seconds. */
const changeIn = (format: Intl.DateTimeFormat, day: number, first: number): number => {
  let [before, after] = [(day * DAY_MS) / 1000, ((day + 1) * DAY_MS) / 1000];
  while (after - before > 1) {
    const middle = Math.floor((before + after) / 2);
    if (offsetIn(format, middle * 1000) === first) before = middle;
    else after = middle;
  }
  return after * 1000;
};

/** How far the local clock of a zone is ahead of UTC, in milliseconds. */
export const offsetAt = (zone: string, atMs: number): number => {
  const { first, last, changedMs } = offsetsOn(zoneOf(zone), Math.floor(atMs / DAY_MS));
  return atMs < changedMs ? first : last;
};

/** A change of the clock of a zone, with the offsets before and after it in milliseconds. */
export interface ClockChange {
  readonly atMs: number;
  readonly beforeMs: number;
  readonly afterMs: number;
}

/** The changes of the clock of a zone within a stretch of time, in order. */
export const clockChanges = (
  zone: string,
  { fromMs, untilMs }: { readonly fromMs: number; readonly untilMs: number },
): readonly ClockChange[] => {
  const data = zoneOf(zone);
  const changes: ClockChange[] = [];
  for (let day = Math.floor(fromMs / DAY_MS); day * DAY_MS < untilMs; day++) {
    const { first, last, changedMs } = offsetsOn(data, day);
    if (first !== last && changedMs > fromMs && changedMs < untilMs)
      changes.push({ atMs: changedMs, beforeMs: first, afterMs: last });
  }
  return changes;
};

/** More than any zone is ahead of UTC or behind it. */
const FARTHEST_MS = 16 * 60 * MINUTE_MS;

/*
 *  gap    01:59 → 03:00    02:30 is the instant of 03:00
 *  fold   02:59 → 02:00    02:30 is the first of its two instants
 */

/**
 * The first instant at which the local date and clock are at `day` and `minutes` or past them. It
 * never moves back for a later wall time, so that windows never invert, and one that ends where the
 * next one begins leaves no gap and no overlap (docs/pod-autoscaler.md, "Schedules"). `minutes`
 * count from midnight, up to 1440.
 */
export const firstInstantAt = (zone: string, day: Day, minutes: number): number => {
  const wallMs = day * DAY_MS + minutes * MINUTE_MS;
  const data = zoneOf(zone);
  const untilMs = wallMs + FARTHEST_MS;
  for (
    let utcDay = Math.floor((wallMs - FARTHEST_MS) / DAY_MS);
    utcDay * DAY_MS <= untilMs;
    utcDay++
  ) {
    const { first, last, changedMs } = offsetsOn(data, utcDay);
    const before = Math.max(utcDay * DAY_MS, wallMs - first);
    if (before < changedMs) return before;
    const after = Math.max(changedMs, wallMs - last);
    if (after < (utcDay + 1) * DAY_MS) return after;
  }
  throw new RangeError(`zone "${zone}" has no instant at ${dayText(day)} ${clockText(minutes)}`);
};

/** The local day of an instant. */
export const localDay = (zone: string, atMs: number): Day =>
  Math.floor((atMs + offsetAt(zone, atMs)) / DAY_MS);

/** "2026-11-24 08:00", and seconds where there are any. */
export const localText = (zone: string, atMs: number): string => {
  const wallMs = atMs + offsetAt(zone, atMs);
  const day = Math.floor(wallMs / DAY_MS);
  const seconds = Math.floor((wallMs - day * DAY_MS) / 1000);
  const shown = seconds % 60 === 0 ? "" : `:${String(seconds % 60).padStart(2, "0")}`;
  return `${dayText(day)} ${clockText(Math.floor(seconds / 60))}${shown}`;
};

/** An area with a place: "Europe/Berlin", "America/Argentina/Salta". */
export const ZONE_NAME = "^[A-Z][A-Za-z_]*(/[A-Za-z0-9_+-]+)+$";
const AREA_NAME = new RegExp(ZONE_NAME);
const FIXED = /^Etc\/(GMT[+-]?\d+|Greenwich)$/;

/**
 * Why a name is no zone for the schedules of people, and what to write; undefined where it is one.
 * Offsets and abbreviations are refused: they do not follow the clock of a place.
 */
export const zoneProblem = (
  name: string,
): { readonly detail: string; readonly fix: string } | undefined => {
  if (name === "UTC" || name === "GMT" || name === "Z")
    return { detail: "must be the name of an area", fix: "write Etc/UTC" };
  if (!AREA_NAME.test(name) || FIXED.test(name)) {
    return {
      detail: "must be the name of an area, not an offset or an abbreviation",
      fix: "write one such as Europe/Berlin, or Etc/UTC",
    };
  }
  const canonical = canonicalName(name);
  if (
    canonical !== undefined &&
    (canonical === name || canonical.toLowerCase() !== name.toLowerCase())
  )
    return undefined;
  const near = canonical ?? nearestName(name, Intl.supportedValuesOf("timeZone"));
  return {
    detail: "is not in the zone data of this runtime",
    fix: near === undefined ? "write one such as Europe/Berlin" : `write ${near}`,
  };
};

/**
 * The name that the zone data has, which may be an older one of the same zone: "Asia/Calcutta" for
 * "Asia/Kolkata". Undefined for a name that it does not have.
 */
const canonicalName = (name: string): string | undefined => {
  try {
    return new Intl.DateTimeFormat("en", { timeZone: name }).resolvedOptions().timeZone;
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
};
