import { dayOf } from "./calendar-day.ts";

/** The JSON Schema uses the same pattern. */
export const RFC_3339 = /^\d{4}-\d{2}-\d{2}T([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d+)?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)$/;
const PARTS = /(\d+)-(\d+)-(\d+)T(\d+):(\d+):(\d+)(?:\.(\d+))?(?:Z|([+-])(\d+):(\d+))/;

/** The first and the last instant with a year of four digits. Others could be stored, but not printed again. */
export const EARLIEST_MS = -62_167_219_200_000;
export const LATEST_MS = 253_402_300_799_999;

/**
 * Milliseconds since 1970 of an RFC 3339 time; undefined for any other text. All times that people write are read here. A day that its month does not have is refused:
 * `Date.parse` would read the 30th of February as the 2nd of March.
 */
export const readInstant = (text: string): number | undefined => {
  const [, year, month, day, hour, minute, second, fraction = "", sign = "+", aheadHours = "0", aheadMinutes = "0"] = RFC_3339.test(text)
    ? (PARTS.exec(text) ?? [])
    : [];
  const days = dayOf(Number(year), Number(month), Number(day));
  if (days === undefined) return undefined;
  const minutes = (days * 24 + Number(hour)) * 60 + Number(minute);
  const ahead = Number(sign + aheadHours) * 60 + Number(sign + aheadMinutes);
  const atMs = ((minutes - ahead) * 60 + Number(second)) * 1_000 + Number(fraction.padEnd(3, "0").slice(0, 3));
  return atMs >= EARLIEST_MS && atMs <= LATEST_MS ? atMs : undefined;
};
