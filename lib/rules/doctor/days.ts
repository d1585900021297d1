import type { Sample } from "../model/scale-records.ts";
import { DAY_MS, utcText } from "../model/time-text.ts";
import { lasted, type Patient } from "./patient.ts";

/** Samples are further apart where the cluster could not be read, or nothing was synced. */
const GAP_MS = 30 * 60_000;

/**
 * Since when something has been so in each sample up to the newest one; undefined where it is not
 * so now. A gap ends it: on doubt it lasts shorter.
 */
export const lastsSince = (
  days: readonly Sample[],
  isSo: (sample: Sample) => boolean,
): number | undefined => {
  let sinceMs: number | undefined;
  for (const sample of days.toReversed()) {
    if (!isSo(sample) || (sinceMs !== undefined && sinceMs - sample.atMs > GAP_MS)) break;
    sinceMs = sample.atMs;
  }
  return sinceMs;
};

/**
 * "for 3 d 4 h, since 2026-02-26T08:00:00Z". Of what was so in the first sample already, and began
 * before what is looked at, only "at least" is known.
 */
export const lastsText = (
  { createdMs, nowMs, days = [] }: Pick<Patient, "createdMs" | "nowMs" | "days">,
  sinceMs: number,
): string => {
  const beganBefore = sinceMs === days[0]?.atMs && sinceMs - createdMs > GAP_MS;
  const time = `${lasted(nowMs - sinceMs)}, since ${utcText(sinceMs)}`;
  return beganBefore ? `at least ${time} or before` : time;
};

/** True where the samples begin and end far enough apart to say something of so many days. */
export const coverDays = (days: readonly Sample[], count: number): boolean => {
  const [first, last] = [days[0], days.at(-1)];
  // The newest hours are not in samples yet, and the first may begin some minutes late.
  return (
    first !== undefined && last !== undefined && last.atMs - first.atMs >= (count - 0.5) * DAY_MS
  );
};

/** The largest of what the samples have; undefined where none has it. */
export const highestOf = (
  days: readonly Sample[],
  of: (sample: Sample) => number | undefined,
): number | undefined => {
  const values = days.map(of).filter((value) => value !== undefined);
  return values.length === 0 ? undefined : values.reduce((most, one) => Math.max(most, one));
};
