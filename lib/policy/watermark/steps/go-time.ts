const SECOND_MS = 1_000;
const MINUTE_SECONDS = 60;
const HOUR_SECONDS = 3_600;
const DAY_SECONDS = 86_400;

/** Days of four hundred years, after which the calendar repeats itself. */
const ERA_DAYS = 146_097;
const ERA_YEARS = 400;
/** From 1 March of the year 0, where years end with their leap day, to 1 January 1970. */
const DAYS_BEFORE_EPOCH = 719_468;

const two = (part: number): string => String(part).padStart(2, "0");

/** A time as the original prints it: "2026-01-02 03:04:05 +0000 UTC". Worked out here: a formatter of the platform takes longer than the rest of a decision. */
export const goTime = (timeMs: number): string => {
  const seconds = Math.floor(timeMs / SECOND_MS);
  const days = Math.floor(seconds / DAY_SECONDS);
  const ofDay = seconds - days * DAY_SECONDS;
  const clock = [ofDay / HOUR_SECONDS, (ofDay / MINUTE_SECONDS) % MINUTE_SECONDS, ofDay % MINUTE_SECONDS].map((part) => two(Math.floor(part)));
  return `${dateOf(days)} ${clock.join(":")} +0000 UTC`;
};

/** Years are counted from March, so that the days before a month follow from its number alone: 153 days every five months. */
const dateOf = (days: number): string => {
  const sinceMarch = days + DAYS_BEFORE_EPOCH;
  const era = Math.floor(sinceMarch / ERA_DAYS);
  const ofEra = sinceMarch - era * ERA_DAYS;
  const yearOfEra = Math.floor((ofEra - Math.floor(ofEra / 1_460) + Math.floor(ofEra / 36_524) - Math.floor(ofEra / 146_096)) / 365);
  const ofYear = ofEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const fromMarch = Math.floor((5 * ofYear + 2) / 153);
  const day = ofYear - Math.floor((153 * fromMarch + 2) / 5) + 1;
  const month = fromMarch < 10 ? fromMarch + 3 : fromMarch - 9;
  const year = yearOfEra + era * ERA_YEARS + (month <= 2 ? 1 : 0);
  return `${String(year).padStart(4, "0")}-${two(month)}-${two(day)}`;
};
