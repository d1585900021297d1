const MINUTE_MS = 60_000;

/** Minutes that the time zone of this process is ahead of UTC at an instant. `TZ`, and `--utc` of a command, choose the zone. */
const aheadMinutes = (ms: number): number => -new Date(ms).getTimezoneOffset();

const localIso = (ms: number): string => new Date(ms + aheadMinutes(ms) * MINUTE_MS).toISOString();

const twoDigits = (value: number): string => String(value).padStart(2, "0");

const offsetText = (minutes: number): string => {
  if (minutes === 0) return "Z";
  const size = Math.abs(minutes);
  return `${minutes < 0 ? "-" : "+"}${twoDigits(Math.floor(size / 60))}:${twoDigits(size % 60)}`;
};

/** An instant as every text for people says it, and as every option reads it: `2026-01-05T14:03:16+01:00`, or with `Z` where the time zone is UTC. Documents say it in UTC with milliseconds. */
export const instantText = (ms: number): string => `${localIso(ms).slice(0, 19)}${offsetText(aheadMinutes(ms))}`;

/** The same without what a reader of now knows: `14:03:16` on the same day, `2026-01-04T14:03:16` on another one. Options that take a time read both. */
export const shortInstantText = (ms: number, nowMs: number): string => {
  const text = localIso(ms);
  return text.slice(0, 10) === localIso(nowMs).slice(0, 10) ? text.slice(11, 19) : text.slice(0, 19);
};

/** An instant on the axis of a drawing: `14:03`, or `01-05 14:03` where the axis is longer than a day. */
export const axisText = (ms: number, { withDay }: { readonly withDay: boolean }): string =>
  localIso(ms)
    .slice(withDay ? 5 : 11, 16)
    .replace("T", " ");

const UTC_INSTANT = /\b\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?Z/g;

const inText = (text: string): string =>
  text.replace(UTC_INSTANT, (instant) => {
    const ms = Date.parse(instant);
    return Number.isNaN(ms) ? instant : instantText(ms);
  });

/** A text, or a document that a text for people is made of, with every UTC instant as `instantText` says it, also inside its sentences. */
export const withLocalTimes = <Value>(value: Value): Value => localised(value) as Value;

const localised = (value: unknown): unknown => {
  if (typeof value === "string") return inText(value);
  if (Array.isArray(value)) return value.map(localised);
  // What is printed already is no plain object, and stays.
  if (typeof value !== "object" || value === null || Object.getPrototypeOf(value) !== Object.prototype) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, localised(each)]));
};

/** Runs work in the time zone UTC, as `TZ=UTC` before a command does: what is printed and what is read. The zone of the process is restored. */
export const inUtc = async <Result>(work: () => Promise<Result>): Promise<Result> => {
  const before = process.env["TZ"];
  process.env["TZ"] = "UTC";
  try {
    return await work();
  } finally {
    if (before === undefined) delete process.env["TZ"];
    else process.env["TZ"] = before;
  }
};
