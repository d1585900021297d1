import { InvalidArgumentError } from "commander";
import { LATEST_MS, readDuration } from "../../rules/model/time-text.ts";
import { readEverydayTime, readExactTime } from "../../stack/report/instant-text.ts";

const MAX_SPEED = 1_000_000;

/** Reads an option and refuses a second one, of which one would have no effect. */
export const once =
  <Value>(read: (text: string) => Value) =>
  (text: string, before: Value | undefined): Value => {
    if (before !== undefined) throw new InvalidArgumentError("It was given twice.");
    return read(text);
  };

export const givenName = (name: string): string => {
  if (name === "") throw new InvalidArgumentError("Wanted a name.");
  return name;
};

export const collect = (file: string, before: readonly string[] | undefined): readonly string[] => [
  ...(before ?? []),
  givenName(file),
];

export const collectMetric = (
  given: string,
  before: readonly string[] | undefined,
): readonly string[] => {
  const [name = "", file = ""] = divided(given);
  if (name === "" || file === "") throw new InvalidArgumentError("Wanted NAME=FILE.");
  if (before?.some((other) => divided(other)[0] === name))
    throw new InvalidArgumentError(`It was given twice for "${name}".`);
  return [...(before ?? []), given];
};

/** The name of the metric and its file. */
export const divided = (given: string): readonly [string, string] => {
  const at = given.indexOf("=");
  return at === -1 ? ["", ""] : [given.slice(0, at), given.slice(at + 1)];
};

export const wholeNumber = (digits: string): number => {
  if (!/^\d{1,9}$/.test(digits)) throw new InvalidArgumentError("Wanted a whole number.");
  return Number(digits);
};

/**
 * A time as every command takes it, by the clock of this machine. In whole seconds: due times of
 * syncs are.
 */
export const instant = (given: string): number => {
  const nowMs = Math.floor(Date.now() / 1_000) * 1_000;
  const atMs = readExactTime(given, nowMs, "past") ?? readEverydayTime(given, nowMs, "past");
  if (atMs === undefined || atMs < 0 || atMs > LATEST_MS || atMs % 1_000 !== 0)
    throw new InvalidArgumentError(
      'Wanted a time in whole seconds: "2026-03-27T06:00:00Z", "2026-03-27 06:00", "monday 09:00", or a duration before now.',
    );
  return atMs;
};

/** An endpoint may ask for a query, which is printed nowhere. */
export const httpUrl =
  (example: string, mayHaveQuery = false) =>
  (address: string): string => {
    const { protocol, username, password, search, hash } = URL.canParse(address)
      ? new URL(address)
      : {};
    const isHttp = protocol === "http:" || protocol === "https:";
    if (!isHttp || username || password || hash || (search && !mayHaveQuery))
      throw new InvalidArgumentError(
        `Wanted a URL without user${mayHaveQuery ? " and password" : ", password and query"}, such as ${example}.`,
      );
    return address;
  };

const MAX_PORT = 65_535;

export const portNumber = (given: string): number => {
  const port = wholeNumber(given);
  if (port > MAX_PORT) throw new InvalidArgumentError(`Wanted a port, at most ${MAX_PORT}.`);
  return port;
};

export const upTo =
  (most: number) =>
  (given: string): number => {
    const value = wholeNumber(given);
    if (value < 1 || value > most)
      throw new InvalidArgumentError(`Wanted a number from 1 to ${most}.`);
    return value;
  };

export const positive = (given: string): number => {
  const value = Number(given);
  if (!(value > 0 && value <= MAX_SPEED))
    throw new InvalidArgumentError(`Wanted a number above 0, at most ${MAX_SPEED}.`);
  return value;
};

/** A hundred years, so that the end is still a valid date. */
const MAX_DURATION_MS = 36_525 * 86_400_000;

export const duration = (given: string): number => {
  const value = readDuration(given);
  if (value === undefined || value <= 0)
    throw new InvalidArgumentError("Wanted a duration like 90s, 1m30s, 40m or 2h.");
  if (value > MAX_DURATION_MS) throw new InvalidArgumentError("Wanted at most 36525d.");
  return Math.round(value);
};
