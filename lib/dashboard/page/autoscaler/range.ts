import type { Route } from "../route.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from "../../../rules/model/time-text.ts";

/** The stretches that one press chooses. Each ends now and moves on. */
export const PRESETS = [
  { name: "10m", words: "10 min", ms: 10 * MINUTE_MS },
  { name: "1h", words: "1 h", ms: HOUR_MS },
  { name: "6h", words: "6 h", ms: 6 * HOUR_MS },
  { name: "1d", words: "24 h", ms: DAY_MS },
  { name: "7d", words: "7 d", ms: 7 * DAY_MS },
  { name: "30d", words: "30 d", ms: 30 * DAY_MS },
  { name: "396d", words: "13 mo", ms: 396 * DAY_MS },
] as const;

const DEFAULT = PRESETS[1];

/** What the charts show. A stretch that moves has no `untilMs`: it ends now. */
export type ShownRange =
  | { readonly name: string; readonly lengthMs: number }
  | { readonly sinceMs: number; readonly untilMs: number };

/** The shortest stretch that a drag may choose. */
export const SHORTEST_MS = 2 * MINUTE_MS;

/** The range of an address: `since` and `until`, or the name of a preset as `range`. */
export const rangeOf = ({
  parameters: { since, until, range },
}: Pick<Route, "parameters">): ShownRange => {
  const [sinceMs, untilMs] = [Date.parse(since ?? ""), Date.parse(until ?? "")];
  if (sinceMs < untilMs) return { sinceMs, untilMs };
  const { name, ms } = PRESETS.find((preset) => preset.name === range) ?? DEFAULT;
  return { name, lengthMs: ms };
};

export const stretchOf = (
  range: ShownRange,
  nowMs: number,
): { readonly sinceMs: number; readonly untilMs: number } =>
  "sinceMs" in range ? range : { sinceMs: nowMs - range.lengthMs, untilMs: nowMs };

/** Most points of a chart: more than one a pixel or two show nothing. */
const POINTS = 360;
/** From this length on the service reads samples of five minutes, and not each evaluation. */
const SAMPLED_FROM_MS = 6 * HOUR_MS;
const SAMPLE_MS = 5 * MINUTE_MS;

/** The step to ask for, in whole seconds. */
export const stepSecondsOf = (lengthMs: number): number => {
  const even = Math.ceil(lengthMs / POINTS / SECOND_MS);
  const shortest = lengthMs > SAMPLED_FROM_MS ? SAMPLE_MS / SECOND_MS : 1;
  return Math.max(even, shortest);
};

/** What is read and drawn first of a stretch whose evaluations are read one by one. */
const FIRST_PART_MS = 15 * MINUTE_MS;

/**
 * Where the part of a stretch begins that is read first, so that its newest points are drawn before
 * the others are read: a whole number of steps after its beginning. Undefined where all of it is
 * read at once.
 */
export const firstPartSinceMs = (
  { sinceMs, untilMs }: { readonly sinceMs: number; readonly untilMs: number },
  stepMs: number,
): number | undefined => {
  const lengthMs = untilMs - sinceMs;
  if (lengthMs <= 2 * FIRST_PART_MS || lengthMs > SAMPLED_FROM_MS) return undefined;
  return atSecond(sinceMs) + Math.floor((lengthMs - FIRST_PART_MS) / stepMs) * stepMs;
};

/** Parameters of the address that show this stretch. A preset that they have is gone back to. */
export const parametersOf = (sinceMs: number, untilMs: number) => ({
  since: addressInstant(sinceMs),
  until: addressInstant(untilMs),
});

/** Parameters of the address that let the stretch end now, and move on. */
export const MOVING = { since: undefined, until: undefined };

/** An instant of the address, to the second. */
export const addressInstant = (atMs: number): string =>
  `${new Date(atSecond(atMs)).toISOString().slice(0, -5)}Z`;

const atSecond = (atMs: number): number => Math.round(atMs / SECOND_MS) * SECOND_MS;
